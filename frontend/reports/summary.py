"""What stands around the first screen of a report (frontend.reports.first_screen) in its file, its PDF and where it is
shared: its head, and what to do next, for readers who can't do it here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from frontend.reports.first_screen import FirstScreen
from frontend.reports.page import screen_of
from frontend.reports.report_steps import Step
from judges.certificates.decision_read import Looked
from judges.models import AlignmentReport

_MOST_STEPS = 2


def summary_context(report: AlignmentReport, looked: Looked | None = None) -> dict[str, Any]:
    """looked: decisions on the test set, by which a judge is ruled once it was looked at."""
    result, screen = report.result, screen_of(report, looked=looked)
    return {
        "title": result["criterion"]["name"],
        "project": result["project"]["name"],
        "prompt": result["criterion"]["prompt"],
        "rests": _rests(result),
        # A report that is not kept (manage.py align) has neither.
        "made": "" if report.created_at is None else date_format(report.created_at, "DATE_FORMAT"),
        "number": report.number,
        "fingerprint": report.fingerprint,
        "screen": screen,
        "steps": list(_steps(result, screen))[:_MOST_STEPS],
    }


def _steps(result: Mapping[str, Any], screen: FirstScreen) -> Iterator[Step]:
    """Each leads to its judge's part of the file."""
    if not result["agreement"]["ratings"] or screen.best is None:
        return
    alone, best = screen.alone, screen.best
    if alone is not None:
        given = {"judge": alone.title, "share": alone.alone}
        if alone.holds:
            yield Step(_("Let %(judge)s decide its %(share)s of units") % given, alone.url)
        elif not alone.ended:
            yield Step(_("Certify the test evaluation of %(judge)s") % given, alone.url)
    decision, given, more = best.decision, {"judge": best.title}, best.said["more"]
    if more is not None:
        said = ngettext("Label %(n)s more sample", "Label %(n)s more samples", more)
        yield Step(said % {"n": f"{more:,}"}, best.url)
    elif decision["code"] == "with_a_person" and decision["is_provisional"]:
        yield Step(_("Evaluate %(judge)s on the test set") % given, best.url)
    elif decision["code"] in ("cannot_tell", "not_for_use", "ended"):
        yield Step(_("See why %(judge)s may not be used") % given, best.url)


def _rests(result: Mapping[str, Any]) -> str:
    """Samples, units and annotators behind the figures."""
    samples, units = result["planning"]["samples"], result["reference"]["units"]
    annotators = len(result["annotators"]["people"]) + result["annotators"]["left_out"]
    return " · ".join(
        [
            ngettext("%(n)s sample", "%(n)s samples", samples) % {"n": f"{samples:,}"},
            ngettext("%(n)s unit", "%(n)s units", units) % {"n": f"{units:,}"},
            ngettext("%(n)s annotator", "%(n)s annotators", annotators) % {"n": f"{annotators:,}"},
        ]
    )
