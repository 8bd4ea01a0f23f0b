"""What the pages of one criterion's report share: its state, its navigation, and a message while it is being made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.core.errors import Refusal
from annotate.core.units import unit_anchor
from annotate.models import Criterion
from annotate.verdicts.queue_sql import SINGLE
from frontend.base.pages import ProjectPage
from frontend.reports.asked import asked_criterion
from frontend.reports.first_screen import FirstScreen
from frontend.reports.shown import Links
from judges.models import AlignmentReport
from judges.reports.read import Labels, report_state
from judges.reports.requests import request_report

# Name of the URL, and its label.
PARTS = (
    ("report", gettext_noop("Report")),
    ("report-judge", gettext_noop("Judge")),
    ("report-annotators", gettext_noop("Annotators")),
    ("report-compare", gettext_noop("Compare")),
    ("report-triage", gettext_noop("Triage")),
    ("report-planner", gettext_noop("Planner")),
)

# Parts whose figures hang on which labels count; all others are of settled units.
_WITH_LABELS = frozenset({"report", "report-judge", "report-compare"})


def report_part(
    page: ProjectPage,
    key: str,
    part: str,
    template: str,
    context_of: Callable[[AlignmentReport], dict[str, Any]],
    *,
    status: int = 200,
    criterion: Criterion | None = None,
) -> HttpResponse:
    """One page of the latest report, or, where there is none yet, the way to one. `context_of` gives the page's own
    context; Http404 from it is passed on. criterion: an earlier version, whose report is only shown."""
    current = asked_criterion(page.project, key)
    criterion = criterion or current
    labels: Labels = labels_shown(page) if part in _WITH_LABELS else "settled"
    is_current, later = criterion == current, page.comes_later(page.project.samples.order_by("pk"))
    state = report_state(criterion, labels, reader=page.user, looks=is_current and not later)
    is_unseen = is_current and state.is_out_of_date is None and not state.is_pending
    context: dict[str, Any] = {
        "criterion": criterion,
        "state": state,
        "report": state.report,
        "help_url": reverse("statistics-help"),
        "parts": [
            {"label": _(label), "url": _with_labels(page, page.url(name, key), {}, name), "current": name == part}
            for name, label in PARTS
        ]
        if is_current
        else [],
        "looking": _looking(page, key, labels) if is_unseen else None,
        "newer_version": None if is_current else current.version,
        "labels": labels,
        "annotators_url": page.url("report-annotators", key) if is_current else "",
        "switch": {
            "all": _switched(page, "all"),
            "settled": _switched(page, None),
            "review": f"{page.url('adjudicate')}?{urlencode({'state': SINGLE, 'criterion': key})}",
            "elsewhere": page.url("export") if page.may("project.change") else "",
        },
    }
    if state.report is not None:
        context |= context_of(state.report)
    return page.render(template, context, status=status)


def _looking(page: ProjectPage, key: str, labels: Labels) -> dict[str, str]:
    """Addresses that say whether anything has changed since: of this page, and of that part of it alone."""
    query = page.request.GET.copy()
    query["figures"] = "1"
    asked = {"figures": "1", **({"labels": labels} if labels == "all" else {})}
    return {
        "page": f"{page.request.path}?{query.urlencode()}",
        "part": f"{page.url('report-status', key)}?{urlencode(asked)}",
    }


def labels_shown(page: ProjectPage) -> Labels:
    """What the address compares judges with: what people settled, or all that they labelled (`?labels=all`)."""
    return "all" if page.request.GET.get("labels") == "all" else "settled"


def _switched(page: ProjectPage, labels: Labels | None) -> str:
    """This page with other labels."""
    query = page.request.GET.copy()
    query.pop("labels", None)
    if labels is not None:
        query["labels"] = labels
    return f"{page.request.path}?{query.urlencode()}" if query else page.request.path


def _with_labels(page: ProjectPage, url: str, query: Mapping[str, Any], part: str = "report") -> str:
    """The address of a part, or of what leads back to one, which shows the same labels as this page."""
    if labels_shown(page) == "all" and part in _WITH_LABELS:
        query = {**query, "labels": "all"}
    return f"{url}?{urlencode(query)}" if query else url


def links(page: ProjectPage, key: str) -> Links:
    return Links(
        sample=lambda sample, unit: f"{page.url('sample', sample)}#{unit_anchor(unit)}",
        judge=lambda judge, dimension: judge_url(page, key, judge, dimension),
        disagreement=lambda judge, at: disagreement_url(page, key, judge, at),
    )


def judge_url(page: ProjectPage, key: str, judge: str, dimension: str, part: str = "report-judge") -> str:
    return _with_labels(page, page.url(part, key), {"judge": judge, "measures": dimension}, part)


def mistakes_url(page: ProjectPage, key: str, judge_id: int, dimension: str, **more: Any) -> str:
    """Where one reads what the judge gets wrong, in words."""
    return f"{page.url('judge-mistakes', judge_id, key)}?{urlencode({'measures': dimension, **more})}"


def switcher(page: ProjectPage, key: str, part: str, screen: FirstScreen, place: int | None) -> list[dict[str, Any]]:
    """From one judge of the report to the others, on pages of one judge, in the order of the first screen."""
    return [
        {
            "title": judge.title,
            "url": judge_url(page, key, judge.row["judge"], judge.row["dimension"], part),
            "current": judge.place == place,
        }
        for judge in screen.judges
    ]


def disagreement_url(page: ProjectPage, key: str, judge: Mapping[str, Any], at: int) -> str:
    """The sample, with the way to the disagreements before and after it (frontend.data.samples)."""
    row = judge["disagreements"][at]
    query = {"criterion": key, "judge": judge["judge"], "measures": judge["dimension"], "disagreement": at + 1}
    return f"{_with_labels(page, page.url('sample', row['sample']), query)}#{unit_anchor(row['unit'])}"


def ask_for_report(page: ProjectPage, criterion: Criterion) -> bool:
    """Whether one is on its way; if not, the page says why."""
    try:
        request_report(criterion=criterion, user=page.user, labels=labels_shown(page))
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return False
    return True


def chosen_judge(page: ProjectPage, report: AlignmentReport, screen: FirstScreen) -> int | None:
    """The place of the judge that the address names (`?judge=…&measures=…`); when it names none, of the one that may
    decide alone, else of the best.

    None when the report has no judges. Http404 for a judge that it doesn't have.
    """
    wanted, measures = page.request.GET.get("judge"), page.request.GET.get("measures")
    if wanted is None:
        first = screen.alone or next(iter(screen.judges), None)
        return None if first is None else first.place
    for place, row in enumerate(report.result["judges"]):
        if row["judge"] == wanted and measures in (None, row["dimension"]):
            return place
    raise Http404(_("This report has no such judge."))
