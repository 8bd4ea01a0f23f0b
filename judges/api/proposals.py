"""Claims that a judge's model proposes, by API: asked for, read, and taken over."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.schema import answers
from annotate.api.serializers import Rows
from annotate.core.errors import Invalid
from annotate.samples.read import samples_named
from judges.api import runs_serializers as shapes
from judges.api.judges import version_to_run
from judges.models import JudgeVersion, Run
from judges.proposals.read import asked_for_claims, one_proposal_run, shown_proposals
from judges.proposals.write import Taken, estimate_proposals, propose_claims, take_over, take_over_untouched
from judges.runs.read import one_run
from judges.runs.write import RunEstimate
from judges.versions.read import one_judge


class ProposeView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @answers(shapes.Run, takes=shapes.ProposalStart, status=201)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> Run:
        """Has the model of an LLM judge propose claims.

        It takes each answer in the scope apart, of those whose claims may still change. Nothing changes until somebody
        takes a proposal over. It is a run, which can be paused, resumed and cancelled as one.
        """
        run = propose_claims(version=_version(self, judge_id, data), actor=self.user, **data)
        return one_run(self.project, run.pk)


class ProposeEstimateView(ProjectAPIView):
    """A POST that stores nothing, like the estimate of a run."""

    actions = {"POST": "judges.run"}

    @answers(shapes.RunEstimate, takes=shapes.ProposalPlan)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> RunEstimate:
        """What having claims proposed would take, before it is started.

        Nothing is stored.
        """
        return estimate_proposals(version=_version(self, judge_id, data), **data)


class ProposalsView(ProjectAPIView):
    actions = {"GET": "claims.change"}

    @answers(shapes.ProposalPage)
    def get(self, request: Request, slug: str, run_id: int) -> Rows:
        """What a run proposed as claims, beside the claims as they are now, page by page.

        A reply that was refused or not understood is there as failed.
        """
        return Rows(asked_for_claims(one_proposal_run(self.project, run_id)), shown_proposals)


class TakeOverView(ProjectAPIView):
    actions = {"POST": "claims.change"}

    @answers(shapes.Taken, takes=shapes.Taking, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, run_id: int) -> Taken:
        """Takes proposed claims over, of one sample or of all that nobody has touched.

        By the rules of every change of claims: refused (409) while a batch asks people about them, where something
        rests on one that would go, and where they changed since. Indices of claims that stay are kept.
        """
        run = one_proposal_run(self.project, run_id)
        if "sample" not in data:
            return take_over_untouched(run=run, actor=self.user)
        sample = samples_named(self.project, [str(data["sample"])]).first()
        if sample is None:
            raise Invalid("unknown_sample", "The project has no sample of this id.")
        take_over(run=run, sample_id=sample.pk, actor=self.user)
        return Taken(count=1, left=0, refused=[])


def _version(view: ProjectAPIView, judge_id: int, data: dict[str, Any]) -> JudgeVersion:
    return version_to_run(one_judge(view.project, judge_id), data.pop("version", None))
