"""Alignment reports: how people agree on a criterion, and how judges are held against them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.batches.criterion_change_read import versions_of
from annotate.models import Criterion
from annotate.projects.read import current_criteria, one_criterion
from frontend.views.base import ProjectPage, project_view
from frontend.views.report_parts import ask_for_report, judge_url, links, report_part
from judges.models import AlignmentReport
from judges.selectors.report_page import report_context
from judges.selectors.reports import Overview, is_shown, one_report, overview, report_as_dict, report_state
from judges.selectors.shown import shown
from judges.services.report_file import report_html


def _json(report: AlignmentReport) -> str:
    return json.dumps(report_as_dict(report), ensure_ascii=False, indent=2)


def _zip(report: AlignmentReport) -> bytes:
    # Here, not above: the statistics take a second to load, and most pages never count anything.
    from judges.services.reproduction import bundle

    return bundle(report)


# Ending of the file's name -> its type, and what makes it.
DOWNLOADS: dict[str, tuple[str, Callable[[AlignmentReport], str | bytes]]] = {
    "html": ("text/html; charset=utf-8", report_html),
    "json": ("application/json", _json),
    "zip": ("application/zip", _zip),
}


@project_view("reports", get="reports.read", post="reports.freeze")
def reports(page: ProjectPage) -> HttpResponse:
    """All judges on all criteria, as their latest reports have them. A POST asks for every report that is missing or
    out of date."""
    if page.request.method == "POST":
        _bring_up_to_date(page)
        return page.redirect("reports")
    latest = overview(page.project)
    rows = [
        {"criterion": criterion, "report": None if found is None else _in_short(page, criterion.key, found)}
        for criterion in current_criteria(page.project)
        for found in (latest.get(criterion.pk),)
    ]
    return page.render("frontend/reports.html", {"rows": rows, "help_url": reverse("statistics-help")})


def _bring_up_to_date(page: ProjectPage) -> None:
    states = [(criterion, report_state(criterion)) for criterion in current_criteria(page.project)]
    old = [criterion for criterion, state in states if state.report is None or state.is_out_of_date]
    asked = sum(ask_for_report(page, criterion) for criterion in old)
    if asked:
        text = ngettext("%(n)s report is being made.", "%(n)s reports are being made.", asked) % {"n": asked}
        messages.success(page.request, text + " " + _("Load this page again in a few seconds."))
    elif not old:
        messages.info(page.request, _("Every report is up to date."))


def _in_short(page: ProjectPage, key: str, found: Overview) -> dict[str, Any]:
    judges = [
        {**row, "kappa": shown(row["kappa"]), "url": judge_url(page, key, row["judge"], row["dimension"])}
        for row in found.judges
    ]
    return {
        "number": found.number,
        "created_at": found.created_at,
        "people": shown(found.people),
        "judges": judges,
        "forest": found.forest,
    }


@project_view("reports", get="reports.read", post="reports.freeze")
def report(page: ProjectPage, key: str) -> HttpResponse:
    """The latest report. A POST asks for a new one; a first visit asks for the first."""
    if page.request.method == "POST":
        ask_for_report(page, one_criterion(page.project, key))
        return page.redirect("report", key)
    return report_part(
        page,
        key,
        "report",
        "frontend/report.html",
        lambda report: report_context(report, links(page, key)),
        criterion=_earlier(page, key),
    )


def _earlier(page: ProjectPage, key: str) -> Criterion | None:
    """The version that the address names (`?version=1`), if there is a report on it that pages can show."""
    number = page.request.GET.get("version")
    if number is None:
        return None
    found = next((one for one in versions_of(page.project, key) if str(one.version) == number), None)
    if found is None or (not found.is_current and report_state(found).report is None):
        raise Http404(_("There is no such report."))
    return found


@project_view("reports", get="reports.read")
def status(page: ProjectPage, key: str) -> HttpResponse:
    """What a browser asks for while a report is being made; once it is there, the whole page is asked for."""
    criterion = one_criterion(page.project, key)
    state = report_state(criterion)
    context = {"criterion": criterion, "state": state, "report": state.report}
    reply = page.render("frontend/partials/report_status.html", context)
    if not state.is_pending:
        reply["HX-Refresh"] = "true"
    return reply


@project_view("reports", get="reports.read")
def download(page: ProjectPage, key: str, number: int, form: str) -> HttpResponse:
    """A frozen report as one HTML file that needs nothing else, as JSON, or with all it rests on and the script that
    works every figure out again."""
    found = one_report(page.project, number)
    if found.criterion.key != key or form not in DOWNLOADS:
        raise Http404(_("There is no such report."))
    if form != "json" and not is_shown(found):
        messages.error(
            page.request, _("An earlier version of Touchstone made that report; it can still be had as JSON.")
        )
        return page.redirect("report", key)
    kind, content = DOWNLOADS[form]
    name = f"{page.project.slug}-{key}-report-{number}.{form}"
    return HttpResponse(
        content(found), content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
