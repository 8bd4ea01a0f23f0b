"""Claims that a judge's model proposes, by API: asked for, read, and taken over."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body
from annotate.core.errors import Invalid
from annotate.samples.read import samples_named
from judges.api import proposal_shapes as shapes
from judges.api import run_shapes
from judges.api.judges import version_to_run
from judges.api.runs import money_of
from judges.proposals.read import asked_for_claims, one_proposal_run, proposal_as_dict, shown_proposals
from judges.proposals.write import estimate_proposals, propose_claims, take_over, take_over_untouched
from judges.runs.read import one_run, run_as_dict
from judges.versions.read import one_judge

_PLAN = {"version", "scope"}


class ProposeView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @shape.describes(run_shapes.Run, request=shapes.ProposalStart, status=201)
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """Has the model of an LLM judge propose claims.

        It takes each answer in the scope apart, of those whose claims may still change. Nothing changes until somebody
        takes a proposal over. It is a run, which can be paused, resumed and cancelled as one.
        """
        data = body(request, _PLAN | {"budget"}, required={"scope"})
        run = propose_claims(
            **_plan(self, judge_id, data), budget=money_of(data.get("budget"), "budget"), actor=self.user
        )
        return Response(run_as_dict(one_run(self.project, run.pk)), status=201)


class ProposeEstimateView(ProjectAPIView):
    """A POST that stores nothing, like the estimate of a run."""

    actions = {"POST": "judges.run"}

    @shape.describes(run_shapes.RunEstimate, request=shapes.ProposalPlan)
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """What having claims proposed would take, before it is started.

        Nothing is stored.
        """
        found = estimate_proposals(**_plan(self, judge_id, body(request, _PLAN, required={"scope"})))
        return Response({**asdict(found), "cost": None if found.cost is None else str(found.cost)})


class ProposalsView(ProjectAPIView):
    actions = {"GET": "claims.change"}
    params = Pages.params

    @shape.describes(shapes.ProposalPage, params=shape.PAGE)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """What a run proposed as claims, beside the claims as they are now, page by page.

        A reply that was refused or not understood is there as failed.
        """
        pages = Pages()
        rows = pages.paginate_queryset(asked_for_claims(one_proposal_run(self.project, run_id)), request)
        return pages.get_paginated_response([proposal_as_dict(one) for one in shown_proposals(rows or [])])


class TakeOverView(ProjectAPIView):
    actions = {"POST": "claims.change"}

    @shape.describes(shapes.Taken, request=shapes.Taking, conflict=True)
    def post(self, request: Request, slug: str, run_id: int) -> Response:
        """Takes proposed claims over, of one sample or of all that nobody has touched.

        By the rules of every change of claims: refused (409) while a batch asks people about them, where something
        rests on one that would go, and where they changed since. Indices of claims that stay are kept.
        """
        data = body(request, {"sample"})
        run = one_proposal_run(self.project, run_id)
        if "sample" not in data:
            return Response(asdict(take_over_untouched(run=run, actor=self.user)))
        sample = samples_named(self.project, [str(data["sample"])]).first()
        if sample is None:
            raise Invalid("unknown_sample", "The project has no sample of this id.")
        take_over(run=run, sample_id=sample.pk, actor=self.user)
        return Response({"count": 1, "left": 0, "refused": []})


def _plan(view: ProjectAPIView, judge_id: int, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": version_to_run(one_judge(view.project, judge_id), data.get("version")),
        "scope": data["scope"],
    }
