from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body, expected_revision, text_parameter
from annotate.selectors.adjudication import one_verdict, queue, verdict_payload
from annotate.services.adjudication import decide, verdict_as_dict


class DisputesView(ProjectAPIView):
    actions = {"GET": "adjudication.read"}
    params = Pages.params | {"criterion"}

    @shape.describes(
        shape.DisputePage, params=[*shape.PAGE, OpenApiParameter("criterion", description="Key of a criterion.")]
    )
    def get(self, request: Request, slug: str) -> Response:
        """The units that wait for a reviewer, those of one sample together.

        Disputed ones, and decided ones whose labels changed since (reopened).
        """
        pages = Pages()
        rows = pages.paginate_queryset(queue(self.project, text_parameter(request, "criterion")), request)
        return pages.get_paginated_response(
            [{**verdict_as_dict(row), "sample_id": row.sample.external_id} for row in rows or []]
        )


class DisputeView(ProjectAPIView):
    actions = {"GET": "adjudication.read", "PUT": "adjudication.decide"}

    @shape.describes(shape.Dispute)
    def get(self, request: Request, slug: str, verdict_id: int) -> Response:
        """One unit with its labels side by side.

        People are lettered instead of named. `changed` marks a label that is not the one that was counted any more.
        """
        return Response(verdict_payload(one_verdict(self.project, verdict_id)))

    @shape.describes(shape.Verdict, request=shape.Decision, params=[shape.IF_MATCH])
    def put(self, request: Request, slug: str, verdict_id: int) -> Response:
        """Decides a unit.

        Value and reason become the verdict, which stays until a reviewer decides again. `If-Match` carries the revision
        that you saw; 412 when the unit was decided or labelled anew since. Repeating the same decision changes nothing.
        """
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
