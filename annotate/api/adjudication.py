from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body, expected_revision, text_parameter
from annotate.selectors.adjudication import one_verdict, queue, verdict_payload
from annotate.services.adjudication import decide, verdict_as_dict


class DisputesView(ProjectAPIView):
    """The units that wait for a reviewer."""

    actions = {"GET": "adjudication.read"}
    params = Pages.params | {"criterion"}

    @shape.describes(shape.DisputePage, params=[*shape.PAGE, OpenApiParameter("criterion")])
    def get(self, request: Request, slug: str) -> Response:
        pages = Pages()
        rows = pages.paginate_queryset(queue(self.project, text_parameter(request, "criterion")), request)
        return pages.get_paginated_response(
            [{**verdict_as_dict(row), "sample_id": row.sample.external_id} for row in rows or []]
        )


class DisputeView(ProjectAPIView):
    """One unit with its labels side by side; PUT decides it (If-Match: the revision that was seen)."""

    actions = {"GET": "adjudication.read", "PUT": "adjudication.decide"}

    @shape.describes(shape.Dispute)
    def get(self, request: Request, slug: str, verdict_id: int) -> Response:
        return Response(verdict_payload(one_verdict(self.project, verdict_id)))

    @shape.describes(shape.Verdict, request=shape.Decision, params=[shape.IF_MATCH])
    def put(self, request: Request, slug: str, verdict_id: int) -> Response:
        data = body(request, {"value", "reason"}, required={"value", "reason"})
        verdict = decide(
            reviewer=self.user,
            project=self.project,
            verdict_id=verdict_id,
            value=data["value"],
            reason=data["reason"],
            expected_revision=expected_revision(request),
        )
        return Response(verdict_as_dict(verdict))
