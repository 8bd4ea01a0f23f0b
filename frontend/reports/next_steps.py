"""What to do next about a judge: at most three steps, each a link that does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.models import Criterion
from frontend.base.pages import ProjectPage
from frontend.reports.in_words import in_words
from frontend.reports.parts import judge_url
from frontend.reports.remark_words import hours_in_words
from judges.certificates.decision_read import PERMITTING, Ruling

_MOST = 3
# Why nothing is known of the declared figure: how labels came.
_UNKNOWN_DRAW = {"no_known_chance", "none_drawn_on_test"}


def next_steps(
    page: ProjectPage,
    criterion: Criterion,
    row: Mapping[str, Any],
    ruling: Ruling | None,
    looks: Mapping[str, Any],
    anchor: str,
) -> list[dict[str, Any]]:
    """The `next_steps` of `reports/decision.html`. row: the judge's of a report's result. looks: as
    frontend.reports.looks.looks_section. anchor: where on the page its disagreements are."""
    steps = _steps(page, criterion, row, ruling, looks)
    read = [_step(_("Read where it disagrees with annotators"), f"#{anchor}")] if row["disagreements"] else []
    # A judge that errs more than it did is mended before it is evaluated again.
    has_drifted = ruling is not None and ruling.ended_code == "drift"
    return list(islice(chain(read, steps) if has_drifted else chain(steps, read), _MOST))


def _steps(
    page: ProjectPage, criterion: Criterion, row: Mapping[str, Any], ruling: Ruling | None, looks: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    decision = row["decision"] if ruling is None else ruling.decision
    is_open, to_certify = decision["verdict"] == "cannot_tell", ruling is not None and ruling.certificate is None
    if ruling is not None and to_certify and not is_open:
        yield _certify(page, criterion, ruling, looks)
    if ruling is not None and ruling.ended:
        yield _step(_("Evaluate on the test set again"), looks["look_url"] if looks["may_look"] else "")
    elif ruling is not None and ruling.certificate is not None and decision["verdict"] == "alone_in_region":
        url = judge_url(page, criterion.key, row["judge"], row["dimension"], "report-triage")
        yield _step(_("See what is left for human review"), url)
    yield from _what_is_missing(page, criterion, decision)
    opposing = {one["code"]: one for one in decision["against"]}
    if "units_open" in opposing:
        url = f"{page.url('adjudicate')}?{urlencode({'criterion': criterion.key})}"
        yield _step(_("Adjudicate the disputed units"), url, in_words(opposing["units_open"]))
    if ruling is None and decision["verdict"] in PERMITTING:
        yield _step(_("Evaluate on the test set"), looks["look_url"] if looks["may_look"] else "")
    if ruling is not None and to_certify and is_open:
        yield _certify(page, criterion, ruling, looks)


def _certify(page: ProjectPage, criterion: Criterion, ruling: Ruling, looks: Mapping[str, Any]) -> dict[str, Any]:
    given = {"n": ruling.look}
    if not looks["may_certify"]:
        return _step(_("Ask an admin to certify test evaluation %(n)s") % given)
    look = looks["latest"]["look"]
    why = _("The quality gate, automatic verdicts and triage go by it.")
    return {
        **_step(_("Certify test evaluation %(n)s") % given, page.url("report-certify", criterion.key), why),
        "look": look.pk,
    }


def _what_is_missing(page: ProjectPage, criterion: Criterion, decision: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """To settle what can't be told yet."""
    if decision["verdict"] != "cannot_tell":
        return
    reason = decision["reason"]
    why = reason.get("why")
    if reason["code"] == "coverage_low":
        yield _step(_("Score the remaining units"), page.url("judges"))
    elif isinstance(why, Mapping) and why["code"] in _UNKNOWN_DRAW:
        yield _step(_("Say how the labels came"), page.url("report-labels", criterion.key))
    more, hours = decision["more"], decision["hours"]
    if more is not None:
        label = ngettext("Label about %(n)s more sample", "Label about %(n)s more samples", more) % {"n": f"{more:,}"}
        time = "" if hours is None else hours_in_words(hours)
        yield _step(label, page.url("report-planner", criterion.key), time)


def _step(text: str, url: str = "", why: str = "") -> dict[str, Any]:
    return {"text": text, "url": url, "why": why}
