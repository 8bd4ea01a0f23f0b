"""Two judges of a report side by side, or two versions of one."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from frontend.views.base import ProjectPage, project_view
from frontend.views.report_parts import links, report_part
from judges.models import AlignmentReport
from judges.selectors.compare_page import compare_context
from judges.selectors.report_page import frame_context


@project_view("reports", get="reports.read")
def compare(page: ProjectPage, key: str) -> HttpResponse:
    """Of the latest report the two that the address names (`?first=…&second=…`), else the first pair there is."""

    def context(report: AlignmentReport) -> dict[str, Any]:
        first, second = (page.request.GET.get(name) for name in ("first", "second"))
        try:
            shown = compare_context(report, links(page, key), first, second)
        except LookupError as error:
            raise Http404(_("This report has no such judge.")) from error
        return {**frame_context(report), "compared": shown}

    return report_part(page, key, "report-compare", "frontend/report_compare.html", context)
