from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, body, expected_revision
from annotate.selectors.claims import claims_as_dict
from annotate.selectors.projects import one_sample
from annotate.services.claims import CHANGE_FIELDS, edit_claims


class ClaimsView(ProjectAPIView):
    actions = {"GET": "samples.read", "PATCH": "claims.change"}

    @shape.describes(shape.EditedClaims)
    def get(self, request: Request, slug: str, sample_id: int) -> Response:
        """The claims of a sample with their history.

        Dropped ones too: an index, once given, keeps its meaning. `fixed` says why nothing can be changed now, and a
        claim's `carries` what keeps this one as it is; only admins are told what exactly.
        """
        return Response(claims_as_dict(one_sample(self.project, sample_id), user=self.user))

    @shape.describes(shape.EditedClaims, request=shape.ClaimChange, params=[shape.IF_MATCH])
    def patch(self, request: Request, slug: str, sample_id: int) -> Response:
        """Makes one change of the claims.

        Until a batch that asks about them is open: then 409, and so for a claim that carries labels, verdicts, known
        answers or scores. `If-Match` carries the revision that you saw; 412 when they were changed since. Repeating a
        change at the revision at which it was made changes nothing. The changes are in docs/formats.md.
        """
        change = body(request, CHANGE_FIELDS, required={"op"})
        state = edit_claims(
            actor=self.user,
            project=self.project,
            sample_id=sample_id,
            change=change,
            expected_revision=expected_revision(request),
        )
        return Response(state)
