"""The people of a report: how each one labels, and how that sits with the others."""

from __future__ import annotations

from django.http import HttpResponse

from frontend.views.base import ProjectPage, project_view
from frontend.views.report_parts import report_part
from judges.selectors.annotators_page import annotators_context, people_matrix
from judges.selectors.report_page import frame_context


@project_view("reports", get="reports.read")
def annotators(page: ProjectPage, key: str) -> HttpResponse:
    """For reviewers and admins: annotators may not compare themselves with each other while they label."""
    return report_part(
        page,
        key,
        "report-annotators",
        "frontend/report_annotators.html",
        lambda report: {
            **frame_context(report),
            "annotators": annotators_context(report),
            "matrix": people_matrix(report),
        },
    )
