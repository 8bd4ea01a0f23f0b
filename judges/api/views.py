"""Agreement, alignment and frozen reports by API."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer, StaticHTMLRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import Pages, ProjectAPIView, body, text_parameter
from annotate.selectors.lookup import criterion_named
from annotate.selectors.projects import one_criterion
from judges.selectors.reports import one_report, report_as_dict, report_state, report_summary, reports_of
from judges.services.report_file import report_html
from judges.services.report_requests import request_report


class AgreementView(ProjectAPIView):
    """How well people agree with each other on a criterion, as `manage.py agreement` prints it."""

    actions = {"GET": "reports.read"}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, key: str) -> Response:
        # Here and below, not above: the statistics take a second to load, which every start would pay.
        from annotate.selectors.agreement import agreement

        return Response(agreement(one_criterion(self.project, key)))


class AlignmentView(ProjectAPIView):
    """How well judges agree with people on a criterion, as `manage.py align` prints it."""

    actions = {"GET": "reports.read"}
    params = frozenset({"judge"})

    @extend_schema(
        parameters=[OpenApiParameter("judge", str, description="this judge only")], responses=OpenApiTypes.OBJECT
    )
    def get(self, request: Request, slug: str, key: str) -> Response:
        from judges.selectors.alignment import align

        return Response(align(one_criterion(self.project, key), text_parameter(request, "judge") or None))


class ReportStateView(ProjectAPIView):
    """The latest report of a criterion: its number, whether data changed since, and whether a new one is on its way."""

    actions = {"GET": "reports.read"}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, key: str) -> Response:
        state = report_state(one_criterion(self.project, key))
        return Response(
            {
                "number": state.report.number if state.report else None,
                "is_out_of_date": state.is_out_of_date,
                "is_pending": state.is_pending,
            }
        )


class ReportsView(ProjectAPIView):
    """The project's frozen reports, newest first; POST has the worker freeze one."""

    actions = {"GET": "reports.read", "POST": "reports.freeze"}
    params = Pages.params | {"criterion"}

    @extend_schema(
        parameters=[OpenApiParameter("criterion", str, description="reports of this criterion only")],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        reports = reports_of(self.project)
        if key := text_parameter(request, "criterion"):
            reports = reports.filter(criterion__key=key)
        pages = Pages()
        rows = pages.paginate_queryset(reports, request)
        return pages.get_paginated_response([report_summary(row) for row in rows or []])

    @extend_schema(
        request=inline_serializer("ReportRequest", {"criterion": serializers.CharField()}),
        responses={202: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request, slug: str) -> Response:
        key = body(request, {"criterion"}, required={"criterion"})["criterion"]
        requested = request_report(criterion=criterion_named(self.project, str(key)), user=self.user)
        return Response({"requested": requested}, status=202)


class ReportView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, number: int) -> Response:
        return Response(report_as_dict(one_report(self.project, number)))


class ReportFileView(ProjectAPIView):
    """The report as one HTML file that needs nothing else."""

    actions = {"GET": "reports.read"}
    renderer_classes = [JSONRenderer, StaticHTMLRenderer]

    @extend_schema(responses={(200, "text/html"): OpenApiTypes.STR})
    def get(self, request: Request, slug: str, number: int) -> HttpResponse:
        report = one_report(self.project, number)
        name = f"{slug}-{report.criterion.key}-report-{number}.html"
        return HttpResponse(report_html(report), headers={"Content-Disposition": f'attachment; filename="{name}"'})
