"""A report as one HTML file that needs nothing else: no server, no network, no script. And its summary as a PDF."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.module_loading import import_string
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import JSONRenderer, StaticHTMLRenderer
from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.schema import answers
from frontend.reports.annotators import annotators_context
from frontend.reports.judge import judge_context
from frontend.reports.page import report_context
from frontend.reports.summary import summary_context
from judges.certificates.decision_read import Looked, looked_decisions
from judges.models import AlignmentReport
from judges.reports.read import one_report, require_shown

_CSS = Path(__file__).parent / "static" / "reports"
_SCALES = Path(__file__).parents[1] / "base" / "static" / "base" / "scales.css"


def report_html(report: AlignmentReport) -> str:
    """The summary first, all else folded below it. In the reader's language."""
    looked = looked_decisions(report.project)
    summary = summary_context(report, looked)
    # As in the table of judges.
    places = [int(judge.url.rpartition("-")[2]) - 1 for judge in summary["screen"].judges]
    context = {
        **report_context(report, looked=looked),
        "summary": summary,
        "steps": summary["steps"],
        "judges": [judge_context(report, place, looked=looked) for place in places],
        "annotators": annotators_context(report),
        **file_css(),
    }
    return render_to_string("reports/report_file.html", context)


@cache
def file_css(*more: Path) -> dict[str, str]:
    """The page's own rules and those of the report, which the web page links, then `more`; and their hash: they are the
    one thing in the file that may do anything, as a server's header does not go with it."""
    files = [_SCALES, *(_CSS / name for name in ("report-file.css", "report.css", "first-screen.css")), *more]
    css = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return {"css": css, "css_hash": f"sha256-{b64encode(sha256(css.encode()).digest()).decode()}"}


def report_pdf(report: AlignmentReport) -> bytes:
    """The summary on one page."""
    # What draws it takes a moment to load.
    draw: Callable[[AlignmentReport, Looked], bytes] = import_string("frontend.reports.pdf.report_pdf")
    return draw(report, looked_decisions(report.project))


class ReportFileView(ProjectAPIView):
    actions = {"GET": "reports.read"}
    renderer_classes = [JSONRenderer, StaticHTMLRenderer]

    @answers(OpenApiTypes.STR, status=(200, "text/html"), conflict=True)
    def get(self, request: Request, slug: str, number: int) -> HttpResponse:
        """One report as a single HTML file.

        With its plots; it needs nothing else to be read, and comes as an attachment. Refused (409) for a report that an
        earlier version of Touchstone made.
        """
        report = one_report(self.project, number, reader=self.user)
        require_shown(report)
        name = f"{slug}-{report.criterion.key}-report-{number}.html"
        return HttpResponse(report_html(report), headers={"Content-Disposition": f'attachment; filename="{name}"'})
