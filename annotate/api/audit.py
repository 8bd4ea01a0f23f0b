"""The trail over the API."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, text_parameter, whole_number
from annotate.selectors.audit import PAGE_SIZE, happening_as_dict, trail
from annotate.selectors.audit_filter import PARAMETERS, read_filter

MAX_ROWS = 1000


class AuditView(ProjectAPIView):
    actions = {"GET": "audit.read"}
    params = frozenset({*PARAMETERS, "cursor", "limit"})

    @shape.describes(
        shape.Trail,
        params=[
            OpenApiParameter("person", description="User name of who did it."),
            OpenApiParameter(
                "kind", description="label, verdict, claims, or the first word of an action, such as member."
            ),
            OpenApiParameter("sample", description="The sample's own id."),
            OpenApiParameter("since", description="A day or a moment; from it on."),
            OpenApiParameter("until", description="A day, counted in whole, or a moment; before it."),
            OpenApiParameter("cursor", description="`next` of the page before."),
            OpenApiParameter("limit", int, description=f"At most {MAX_ROWS}; {PAGE_SIZE} when left out."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Who did what when: every label, verdict, membership, batch, import, export and look; the latest first.

        Nothing in it is ever changed or taken out. `actor` is null for what a rule did, and for the command line.
        Of a sample that you still have to label, it does not tell what others said: values and comments are empty, and
        `held_back` in `details` says why.
        """
        asked = read_filter(self.project, **{name: text_parameter(request, name) for name in PARAMETERS})
        size = whole_number(request.query_params.get("limit", PAGE_SIZE), "limit", low=1, high=MAX_ROWS)
        page = trail(
            project=self.project, reader=self.user, asked=asked, after=text_parameter(request, "cursor"), size=size
        )
        return Response({"results": [happening_as_dict(row) for row in page.rows], "next": page.next})
