"""One judge of a report: everything there is to know about it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from frontend.views.base import ProjectPage, project_view
from frontend.views.report_parts import chosen_judge, links, report_part, switcher
from judges.models import AlignmentReport
from judges.selectors.judge_page import judge_context
from judges.selectors.report_page import frame_context


@project_view("reports", get="reports.read")
def judge(page: ProjectPage, key: str) -> HttpResponse:
    """Of the latest report the judge that the address names (`?judge=…&measures=…`), else the first."""

    def context(report: AlignmentReport) -> dict[str, Any]:
        place, to = chosen_judge(page, report), links(page, key)
        shown = None if place is None else judge_context(report, place, to)
        others = switcher(page, key, "report-judge", report, place)
        return {**frame_context(report), "judge": shown, "switcher": others}

    return report_part(page, key, "report-judge", "frontend/report_judge.html", context)
