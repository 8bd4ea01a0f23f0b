from __future__ import annotations

from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ProjectAPIView, body, expected_revision
from annotate.selectors.adjudication import one_verdict, queue, verdict_payload
from annotate.services.adjudication import decide, verdict_as_dict


class DisputesView(ProjectAPIView):
    """The units that wait for a reviewer."""

    actions = {"GET": "adjudication.read"}

    def get(self, request: Request, slug: str) -> Response:
        pages = LimitOffsetPagination()
        rows = pages.paginate_queryset(queue(self.project, request.query_params.get("criterion")), request)
        return pages.get_paginated_response(
            [{**verdict_as_dict(row), "sample_id": row.sample.external_id} for row in rows or []]
        )


class DisputeView(ProjectAPIView):
    """One unit with its labels side by side; PUT decides it (If-Match: the revision that was seen)."""

    actions = {"GET": "adjudication.read", "PUT": "adjudication.decide"}

    def get(self, request: Request, slug: str, verdict_id: int) -> Response:
        return Response(verdict_payload(one_verdict(self.project, verdict_id)))

    def put(self, request: Request, slug: str, verdict_id: int) -> Response:
        data = body(request, {"value", "reason"}, required={"value", "reason"})
        verdict = decide(
            reviewer=request.user,
            project=self.project,
            verdict_id=verdict_id,
            value=data["value"],
            reason=data["reason"],
            expected_revision=expected_revision(request),
        )
        return Response(verdict_as_dict(verdict))
