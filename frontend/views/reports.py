"""Alignment reports: how people agree on a criterion, and how judges are held against them."""

from __future__ import annotations

import json
from collections.abc import Callable

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from annotate.selectors.projects import current_criteria, one_criterion
from frontend.views.base import ProjectPage, project_view
from frontend.views.report_parts import ask_for_report, links, report_part
from judges.models import AlignmentReport
from judges.selectors.report_page import report_context
from judges.selectors.reports import one_report, report_as_dict, report_state, reports_of
from judges.services.report_file import report_html


def _json(report: AlignmentReport) -> str:
    return json.dumps(report_as_dict(report), ensure_ascii=False, indent=2)


# Ending of the file's name -> its type, and what makes it.
DOWNLOADS: dict[str, tuple[str, Callable[[AlignmentReport], str]]] = {
    "html": ("text/html; charset=utf-8", report_html),
    "json": ("application/json", _json),
}


@project_view("reports", get="reports.read")
def reports(page: ProjectPage) -> HttpResponse:
    """Every criterion with its latest report."""
    latest = reports_of(page.project).order_by("criterion_id", "-number").distinct("criterion_id")
    by_criterion = {report.criterion_id: report for report in latest}
    rows = [
        {"criterion": criterion, "report": by_criterion.get(criterion.pk)}
        for criterion in current_criteria(page.project)
    ]
    return page.render("frontend/reports.html", {"rows": rows})


@project_view("reports", get="reports.read", post="reports.freeze")
def report(page: ProjectPage, key: str) -> HttpResponse:
    """The latest report. A POST asks for a new one; a first visit asks for the first."""
    if page.request.method == "POST":
        ask_for_report(page, one_criterion(page.project, key))
        return page.redirect("report", key)
    return report_part(
        page, key, "report", "frontend/report.html", lambda report: report_context(report, links(page, key))
    )


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
    """A frozen report as one HTML file that needs nothing else, or as JSON."""
    found = one_report(page.project, number)
    if found.criterion.key != key or form not in DOWNLOADS:
        raise Http404(_("There is no such report."))
    kind, content = DOWNLOADS[form]
    name = f"{page.project.slug}-{key}-report-{number}.{form}"
    return HttpResponse(
        content(found), content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
