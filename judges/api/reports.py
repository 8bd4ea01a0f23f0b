"""Agreement, alignment and frozen reports by API."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body, text_parameter
from annotate.projects.lookup import criterion_named
from annotate.projects.read import one_criterion
from annotate.verdicts.evidence_read import agreement
from judges.api import shapes
from judges.reports.evidence import alignment_to_look_at
from judges.reports.read import one_report, report_as_dict, report_state, report_summary, reports_of
from judges.reports.reproduction import bundle
from judges.reports.requests import request_report


class AgreementView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @shape.describes(OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """How well people agree with each other on a criterion.

        As `manage.py agreement` prints it: percent, kappa, alpha and AC1, each with its interval, or with the reason
        why it is undefined (docs/statistics.md).
        """
        return Response(agreement(one_criterion(self.project, key)))


class AlignmentView(ProjectAPIView):
    actions = {"GET": "reports.read"}
    params = frozenset({"judge"})

    @shape.describes(OpenApiTypes.OBJECT, params=[OpenApiParameter("judge", description="The name of one judge.")])
    def get(self, request: Request, slug: str, key: str) -> Response:
        """How well judges agree with people on a criterion.

        As `manage.py align` prints it: every judge, or the one named, at the threshold that is best on the dev half of
        the samples, measured there by cross-fitting (docs/statistics.md).
        """
        criterion = one_criterion(self.project, key)
        return Response(alignment_to_look_at(criterion, text_parameter(request, "judge") or None))


class ReportStateView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @shape.describes(OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """The latest report of a criterion, and whether it is out of date.

        `number` is null when there is none. `is_out_of_date`: something it rests on changed since. `is_pending`: a new
        one is on its way.
        """
        state = report_state(one_criterion(self.project, key))
        return Response(
            {
                "number": state.report.number if state.report else None,
                "is_out_of_date": state.is_out_of_date,
                "is_pending": state.is_pending,
            }
        )


class ReportsView(ProjectAPIView):
    actions = {"GET": "reports.read", "POST": "reports.freeze"}
    params = Pages.params | {"criterion"}

    @shape.describes(
        OpenApiTypes.OBJECT, params=[*shape.PAGE, OpenApiParameter("criterion", description="Key of a criterion.")]
    )
    def get(self, request: Request, slug: str) -> Response:
        """The project's frozen reports, newest first, page by page.

        Without their figures, which each report has.
        """
        reports = reports_of(self.project)
        if key := text_parameter(request, "criterion"):
            reports = reports.filter(criterion__key=key)
        pages = Pages()
        rows = pages.paginate_queryset(reports, request)
        return pages.get_paginated_response([report_summary(row) for row in rows or []])

    @shape.describes(
        OpenApiTypes.OBJECT,
        request=shapes.ReportRequest,
        status=202,
        also={503: OpenApiResponse(shape.Error, "The worker can't be reached just now.")},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Has the worker freeze a report on the data as they are now.

        `requested` is false when one is on its way already. When nothing changed since the last report, that one stays
        the latest.
        """
        key = body(request, {"criterion"}, required={"criterion"})["criterion"]
        requested = request_report(criterion=criterion_named(self.project, str(key)), user=self.user)
        return Response({"requested": requested}, status=202)


class ReportView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @shape.describes(OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """One report with all its figures.

        Parameters, the fingerprint of the data, and every estimate. A report never changes.
        """
        return Response(report_as_dict(one_report(self.project, number)))


class ReportBundleView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @shape.describes(OpenApiTypes.BINARY, status=(200, "application/zip"))
    def get(self, request: Request, slug: str, number: int) -> HttpResponse:
        """Everything that a report rests on, to work it out again.

        A ZIP with the report, its evidence, the ratings as a table, and a script that recomputes every figure.
        """
        report = one_report(self.project, number)
        name = f"{slug}-{report.criterion.key}-report-{number}.zip"
        return HttpResponse(
            bundle(report),
            content_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )
