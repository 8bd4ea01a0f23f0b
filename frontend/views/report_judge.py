"""One judge of a report: everything there is to know about it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from frontend.views.base import ProjectPage, project_view
from frontend.views.report_looks import looks_section
from frontend.views.report_parts import chosen_judge, links, report_part, switcher
from judges.models import AlignmentReport
from judges.selectors.judge_page import judge_context
from judges.selectors.report_page import frame_context


@project_view("reports", get="reports.read")
def judge(page: ProjectPage, key: str) -> HttpResponse:
    """Of the latest report the judge that the address names (`?judge=…&measures=…`), else the first."""

    def context(report: AlignmentReport) -> dict[str, Any]:
        place, to = chosen_judge(page, report), links(page, key)
        common = {**frame_context(report), "switcher": switcher(page, key, "report-judge", report, place)}
        if place is None:
            return {**common, "judge": None}
        row = report.result["judges"][place]
        looks = looks_section(page, report.criterion, row["judge"], row["dimension"])
        return {**common, "judge": judge_context(report, place, to), "looks": looks}

    return report_part(page, key, "report-judge", "frontend/report_judge.html", context)
