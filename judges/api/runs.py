"""Runs of judges by API: what one would take, starting and watching it, and what came of it: scores, failures with the
judges' own words for users who may run them, and proposed claims. What a judge said of a sample is held back from
readers who still have to label it.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ProjectAPIView
from annotate.api.jobs import ACCEPTED, Job, accepted, job_as_reply
from annotate.api.schema import MAY_BE_REPEATED, answers
from annotate.api.serializers import Nothing, Rows, With
from annotate.core.errors import Invalid
from annotate.core.rows import first_or_raise
from annotate.samples.read import samples_named
from judges.api import runs_serializers as shapes
from judges.api.judges import request_key, version_to_run
from judges.core.scores_read import Scores
from judges.models import Run, RunState
from judges.proposals.read import asked_for_claims, one_proposal_run, shown_proposals
from judges.proposals.write import Taken, estimate_proposals, propose_claims, take_over, take_over_untouched
from judges.runs.read import Failures, one_run, runs_of, state_of
from judges.runs.write import RunEstimate, cancel_run, estimate_run, pause_run, resume_run, start_run
from judges.versions.read import one_judge, one_version


class JudgeRunsView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @answers(
        shapes.Run,
        takes=shapes.RunStart,
        status=201,
        headers=[MAY_BE_REPEATED, *ACCEPTED],
        conflict=True,
        also={202: OpenApiResponse(shapes.Run, "The worker does it.")},
        examples=[
            OpenApiExample(
                "Every sample of build v7, for at most 2.50",
                request_only=True,
                value={"scope": {"pipeline": "v7"}, "budget": "2.50"},
            )
        ],
    )
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> Response:
        """Starts a run of a judge.

        It asks for everything in the scope that has no good score of this version yet, failed ones included; a run that
        finds nothing left to ask is done at once. The worker does it: while none is there the run waits, and goes on by
        itself when one is back. With an `Idempotency-Key` the request can be repeated when a reply got lost.
        """
        key, version = request_key(request, data), version_to_run(self, judge_id, data)
        run = start_run(version=version, actor=self.user, key=key, **data)
        return started(self, one_run(self.project, run.pk))


def started(view: ProjectAPIView, run: Run) -> Response:
    """201 for a run that found nothing to do, or that is ended by now."""
    reply = shapes.Run.show(shapes.with_progress(run, reader=view.user))
    if run.state == RunState.RUNNING:
        return accepted(view.request, view.project.slug, reply, f"runs/{run.pk}/job/")
    return Response(reply, status=201)


class RunEstimateView(ProjectAPIView):
    """A POST that stores nothing: the samples of a scope don't fit into an address."""

    actions = {"POST": "judges.run"}

    @answers(shapes.RunEstimate, takes=shapes.RunPlan)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> RunEstimate:
        """What a run would take, before it is started.

        Requests, tokens, money and time, from the sizes of the samples and the latest replies. Nothing is stored.
        """
        version = version_to_run(self, judge_id, data)
        return estimate_run(version=version, **data)


class RunsView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @answers(shapes.RunPage, query=shapes.RunsAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> QuerySet[Run]:
        """The runs that were started here, newest first, page by page.

        Without their progress, which each run has.
        """
        runs, name = runs_of(self.project), asked.get("judge")
        return runs.filter(version__judge__name=name) if name else runs


class RunView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @answers(shapes.Run)
    def get(self, request: Request, slug: str, run_id: int) -> With:
        """One run with its progress.

        Ask again every few seconds until `state` is done, cancelled, or stopped, for which `stop_code` and
        `stop_message` say why.
        """
        return shapes.with_progress(one_run(self.project, run_id), reader=self.user)


class RunJobView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @answers(Job)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """How a run is, as every job tells it.

        One that stopped by itself has failed, with the reason as its `error`; it can be resumed.
        """
        return job_as_reply(request, slug, state_of(one_run(self.project, run_id)))


class RunPauseView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @answers(shapes.Run, takes=Nothing, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, run_id: int) -> With:
        """Pauses a run.

        Nothing new goes out; what is under way still comes in. Send an empty object.
        """
        pause_run(run=one_run(self.project, run_id), actor=self.user)
        return shapes.with_progress(one_run(self.project, run_id), reader=self.user)


class RunResumeView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @answers(shapes.Run, takes=shapes.Resumption, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, run_id: int) -> With:
        """Lets a run go on that was paused, or that stopped by itself.

        `budget` is a new one, for all that the run spends from its beginning; one whose budget is spent needs it (409).
        """
        resume_run(run=one_run(self.project, run_id), budget=data.get("budget"), actor=self.user)
        return shapes.with_progress(one_run(self.project, run_id), reader=self.user)


class RunCancelView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @answers(shapes.Run, takes=Nothing, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, run_id: int) -> With:
        """Cancels a run.

        What waits is never asked; what is under way still comes in, and what came stays. Send an empty object.
        """
        cancel_run(run=one_run(self.project, run_id), actor=self.user)
        return shapes.with_progress(one_run(self.project, run_id), reader=self.user)


class RunScoresView(ProjectAPIView):
    actions = {"GET": "judges.run"}

    @answers(shapes.ScorePage)
    def get(self, request: Request, slug: str, run_id: int) -> Scores:
        """The scores that a run brought, page by page.

        Those that were there before it started are not among them: see the version's. What the judge said of a sample
        that you still have to label is held back.
        """
        return Scores(one_run(self.project, run_id), reader=self.user)


class VersionScoresView(ProjectAPIView):
    actions = {"GET": "judges.run"}

    @answers(shapes.ScorePage)
    def get(self, request: Request, slug: str, judge_id: int, number: int) -> Scores:
        """All scores of a judge's version, page by page.

        Repeats and failed ones included. What the judge said of a sample that you still have to label is held back.
        """
        return Scores(one_version(one_judge(self.project, judge_id), number), reader=self.user)


class RunFailuresView(ProjectAPIView):
    actions = {"GET": "judges.run"}

    @answers(shapes.FailurePage)
    def get(self, request: Request, slug: str, run_id: int) -> Failures:
        """What a run asked about and got no score for, in the order in which it was asked; at most 200 at a time.

        With the reason in our words, and what the model said, where it said something; both are held back of a sample
        that you still have to label. A failed score is missing: it counts nowhere as a number.
        """
        return Failures(one_run(self.project, run_id), reader=self.user)


class ProposeView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @answers(
        shapes.Run,
        takes=shapes.ProposalStart,
        status=201,
        headers=[MAY_BE_REPEATED, *ACCEPTED],
        also={202: OpenApiResponse(shapes.Run, "The worker does it.")},
    )
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> Response:
        """Has the model of an LLM judge propose claims.

        It takes each answer in the scope apart, of those whose claims may still change. Nothing changes until somebody
        takes a proposal over. It is a run, which can be paused, resumed and cancelled as one.
        """
        key, version = request_key(request, data), version_to_run(self, judge_id, data)
        run = propose_claims(version=version, actor=self.user, key=key, **data)
        return started(self, one_run(self.project, run.pk))


class ProposeEstimateView(ProjectAPIView):
    """A POST that stores nothing, like the estimate of a run."""

    actions = {"POST": "judges.run"}

    @answers(shapes.RunEstimate, takes=shapes.ProposalPlan)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> RunEstimate:
        """What having claims proposed would take, before it is started.

        Nothing is stored.
        """
        version = version_to_run(self, judge_id, data)
        return estimate_proposals(version=version, **data)


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
        unknown = Invalid("unknown_sample", "The project has no sample of this id.")
        sample = first_or_raise(samples_named(self.project, [str(data["sample"])]), unknown)
        take_over(run=run, sample_id=sample.pk, actor=self.user)
        return Taken(count=1, left=0, refused=[])
