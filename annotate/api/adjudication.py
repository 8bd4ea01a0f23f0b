from __future__ import annotations

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api import schema_adjudication as shapes
from annotate.api.base import Pages, ProjectAPIView, body, expected_revision, text_parameter, whole_number
from annotate.errors import Invalid
from annotate.models import Verdict
from annotate.permissions import may
from annotate.selectors.adjudication import ORDERS, STATES, Queue, one_verdict, verdict_as_dict
from annotate.selectors.disputes import dispute_payload, require_unblind
from annotate.services.adjudication import approve, decide, send_back


class DisputesView(ProjectAPIView):
    actions = {"GET": "adjudication.read"}
    params = Pages.params | {"criterion", "batch", "state", "order", "annotator", "share", "seed"}

    @shape.describes(
        shapes.DisputePage,
        params=[
            *shape.PAGE,
            OpenApiParameter("criterion", description="Key of a criterion."),
            OpenApiParameter("batch", OpenApiTypes.INT, description="Number of a batch."),
            OpenApiParameter(
                "state",
                enum=STATES,
                description="short: too few labels; returned: sent back to an annotator; agreed: settled by the votes "
                "themselves, and not approved yet.",
            ),
            OpenApiParameter(
                "annotator", description="Only what this rater voted on. For those who see who said what."
            ),
            OpenApiParameter("share", OpenApiTypes.INT, description="Of agreed: this many percent, drawn at random."),
            OpenApiParameter("seed", OpenApiTypes.INT, description="Of the draw; the same seed draws the same units."),
            OpenApiParameter("order", enum=ORDERS, description="matters when left out."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The units that wait for a reviewer, those of one sample together.

        Reopened ones first: decided, and a label has changed since. Then the samples with the most to decide, and among
        those the ones whose votes split most evenly; or, with `order=sample`, samples as they were imported. What was
        sent back to an annotator is listed with `state=returned` only, until it is submitted again. What needs nobody
        is listed with `state=agreed`, for whoever wants to check it.
        """
        batch, share, seed = (request.query_params.get(name) for name in ("batch", "share", "seed"))
        annotator = text_parameter(request, "annotator")
        if annotator and not (self.project.show_names or may(self.role, "adjudication.names")):
            raise Invalid("names_hidden", _("Who said what is hidden in this project."))
        queue = Queue(
            self.project,
            self.user,
            criterion=text_parameter(request, "criterion"),
            batch=None if batch is None else whole_number(batch, "batch"),
            state=_one_of(text_parameter(request, "state"), "state", STATES, ""),
            order=_one_of(text_parameter(request, "order"), "order", ORDERS, ORDERS[0]),
            annotator=annotator,
            share=1 if share is None else whole_number(share, "share", low=1, high=100) / 100,
            seed=0 if seed is None else whole_number(seed, "seed"),
        )
        pages = Pages()
        rows: list[Verdict] = pages.paginate_queryset(queue, request) or []  # type: ignore[arg-type]
        return pages.get_paginated_response(
            [{**verdict_as_dict(row), "sample_id": row.sample.external_id} for row in rows]
        )


def _one_of(given: str, name: str, known: tuple[str, ...], default: str) -> str:
    if given and given not in known:
        raise Invalid("bad_choice", _("%(name)s: one of %(known)s.") % {"name": name, "known": ", ".join(known)})
    return given or default


class DisputeView(ProjectAPIView):
    actions = {"GET": "adjudication.read", "PUT": "adjudication.decide"}

    @shape.describes(shapes.Dispute, conflict=True)
    def get(self, request: Request, slug: str, verdict_id: int) -> Response:
        """One unit with its labels side by side.

        People are lettered instead of named, unless the project shows names. `changed` marks a label that is not the
        one that was counted any more; `changes` says what reopened a decision. 409 when you have the sample to label
        yourself and did not submit it yet.
        """
        verdict = one_verdict(self.project, verdict_id)
        require_unblind(self.user, verdict.sample)
        return Response(dispute_payload(self.project, verdict))

    @shape.describes(shapes.Verdict, request=shapes.Decision, params=[shape.IF_MATCH])
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


class DisputeApproveView(ProjectAPIView):
    actions = {"POST": "adjudication.decide"}

    @shape.describes(shapes.Verdict, params=[shape.IF_MATCH], conflict=True)
    def post(self, request: Request, slug: str, verdict_id: int) -> Response:
        """Approves what the votes settled by themselves.

        Value and method stay; who approved it and when stands in the log. `If-Match` carries the revision that you saw;
        412 when the unit was decided or labelled anew since. 409 when a person decided it, or has to. To overrule it,
        decide it.
        """
        body(request, set())
        verdict = approve(
            reviewer=self.user,
            project=self.project,
            verdict_id=verdict_id,
            expected_revision=expected_revision(request),
        )
        return Response(verdict_as_dict(verdict))


class DisputeReturnView(ProjectAPIView):
    actions = {"POST": "adjudication.decide"}

    @shape.describes(shapes.SentBack, request=shapes.SendingBack, conflict=True)
    def post(self, request: Request, slug: str, verdict_id: int) -> Response:
        """Sends a task back to the annotator who has a letter on this unit.

        The message says what to look at. Everything they said about the sample can be changed again, and its units wait
        (`state=returned`) until they submit.
        """
        data = body(request, {"annotator", "message"}, required={"annotator", "message"})
        task = send_back(
            reviewer=self.user,
            project=self.project,
            verdict_id=verdict_id,
            letter=data["annotator"],
            message=data["message"],
        )
        return Response({"annotator": data["annotator"], "status": task.status})
