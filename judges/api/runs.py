"""Runs of judges by API: what one would take, starting it, watching it, and what came of it.

Single scores by API, and what failed: with the judges' own words, for those who may run them.

Nobody is told what a judge said of a sample that they still have to label.
"""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body, text_parameter
from annotate.core.blindness import samples_still_to_label
from annotate.core.errors import Invalid
from annotate.models import User
from judges.api import run_shapes as shapes
from judges.api.judges import version_to_run
from judges.models import Run, Score
from judges.runs.read import MOST_FAILURES, Failure, failed_asks, failures, one_run, run_as_dict, run_summary, runs_of
from judges.runs.write import cancel_run, estimate_run, pause_run, resume_run, start_run
from judges.versions.read import one_judge, one_version

_PLAN = {"version", "scope", "repeats", "again"}


class JudgeRunsView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @shape.describes(
        shapes.Run,
        request=shapes.RunStart,
        status=201,
        conflict=True,
        examples=[
            OpenApiExample(
                "Every sample of build v7, for at most 2.50",
                request_only=True,
                value={"scope": {"pipeline": "v7"}, "budget": "2.50"},
            )
        ],
    )
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """Starts a run of a judge.

        It asks for everything in the scope that has no good score of this version yet, failed ones included; a run that
        finds nothing left to ask is done at once. The worker does it: while none is there the run waits, and goes on by
        itself when one is back. Before you start one again because a reply got lost, look at the list of runs.
        """
        data = body(request, _PLAN | {"fresh", "budget"}, required={"scope"})
        run = start_run(
            **_plan(self, judge_id, data),
            fresh=_truth(data, "fresh"),
            budget=money_of(data.get("budget"), "budget"),
            actor=self.user,
        )
        return Response(run_as_dict(one_run(self.project, run.pk)), status=201)


class RunEstimateView(ProjectAPIView):
    """A POST that stores nothing: the samples of a scope don't fit into an address."""

    actions = {"POST": "judges.run"}

    @shape.describes(shapes.RunEstimate, request=shapes.RunPlan)
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """What a run would take, before it is started.

        Requests, tokens, money and time, from the sizes of the samples and the latest replies. Nothing is stored.
        """
        data = body(request, _PLAN, required={"scope"})
        found = estimate_run(**_plan(self, judge_id, data))
        return Response({**asdict(found), "cost": None if found.cost is None else str(found.cost)})


class RunsView(ProjectAPIView):
    actions = {"GET": "judges.read"}
    params = Pages.params | {"judge"}

    @shape.describes(
        shapes.RunPage, params=[*shape.PAGE, OpenApiParameter("judge", description="The name of one judge.")]
    )
    def get(self, request: Request, slug: str) -> Response:
        """The runs that were started here, newest first, page by page.

        Without their progress, which each run has.
        """
        runs = runs_of(self.project)
        if name := text_parameter(request, "judge"):
            runs = runs.filter(version__judge__name=name)
        pages = Pages()
        rows = pages.paginate_queryset(runs, request)
        return pages.get_paginated_response([run_summary(run) for run in rows or []])


class RunView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @shape.describes(shapes.Run)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """One run with its progress.

        Ask again every few seconds until `state` is done, cancelled, or stopped, for which `stop_code` and
        `stop_message` say why.
        """
        return Response(run_as_dict(one_run(self.project, run_id)))


class RunPauseView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @shape.describes(shapes.Run, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, run_id: int) -> Response:
        """Pauses a run.

        Nothing new goes out; what is under way still comes in. Send an empty object.
        """
        body(request, set())
        pause_run(run=one_run(self.project, run_id), actor=self.user)
        return Response(run_as_dict(one_run(self.project, run_id)))


class RunResumeView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @shape.describes(shapes.Run, request=shapes.Resumption, conflict=True)
    def post(self, request: Request, slug: str, run_id: int) -> Response:
        """Lets a run go on that was paused, or that stopped by itself.

        `budget` is a new one, for all that the run spends from its beginning; one whose budget is spent needs it (409).
        """
        data = body(request, {"budget"})
        run = one_run(self.project, run_id)
        resume_run(run=run, budget=money_of(data.get("budget"), "budget"), actor=self.user)
        return Response(run_as_dict(one_run(self.project, run_id)))


class RunCancelView(ProjectAPIView):
    actions = {"POST": "judges.run"}

    @shape.describes(shapes.Run, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, run_id: int) -> Response:
        """Cancels a run.

        What waits is never asked; what is under way still comes in, and what came stays. Send an empty object.
        """
        body(request, set())
        cancel_run(run=one_run(self.project, run_id), actor=self.user)
        return Response(run_as_dict(one_run(self.project, run_id)))


def _plan(view: ProjectAPIView, judge_id: int, data: dict[str, Any]) -> dict[str, Any]:
    """What both an estimate and a run are given."""
    return {
        "version": version_to_run(one_judge(view.project, judge_id), data.get("version")),
        "scope": data["scope"],
        "repeats": data.get("repeats", 1),
        "again": _truth(data, "again"),
    }


def _truth(data: dict[str, Any], name: str) -> bool:
    value = data.get(name, False)
    if not isinstance(value, bool):
        raise Invalid("bad_truth", f"{name}: true or false.")
    return value


def money_of(value: Any, name: str) -> Decimal | None:
    """A number, or a text of one, which keeps its digits. Whether it makes sense is the run's to say."""
    if value is None:
        return None
    if not isinstance(value, bool) and isinstance(value, int | float | str):
        try:
            return Decimal(str(value))
        except (InvalidOperation, ValueError):
            pass
    raise Invalid("bad_budget", f"{name}: an amount of money, such as 2.5.")


class ScoresView(ProjectAPIView):
    """`scores` of a subclass: which ones."""

    actions = {"GET": "judges.run"}
    params = Pages.params

    def page(self, request: Request, scores: QuerySet[Score]) -> Response:
        pages = Pages()
        rows: list[Score] = pages.paginate_queryset(scores.select_related("sample").order_by("pk"), request) or []
        blind = samples_still_to_label(self.user, {score.sample_id for score in rows})
        return pages.get_paginated_response([_score_as_dict(score, score.sample_id in blind) for score in rows])


class RunScoresView(ScoresView):
    @shape.describes(shapes.ScorePage, params=shape.PAGE)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """The scores that a run brought, page by page.

        Those that were there before it started are not among them: see the version's. What the judge said of a sample
        that you still have to label is held back.
        """
        return self.page(request, Score.objects.filter(run=one_run(self.project, run_id)))


class VersionScoresView(ScoresView):
    @shape.describes(shapes.ScorePage, params=shape.PAGE)
    def get(self, request: Request, slug: str, judge_id: int, number: int) -> Response:
        """All scores of a judge's version, page by page.

        Repeats and failed ones included. What the judge said of a sample that you still have to label is held back.
        """
        version = one_version(one_judge(self.project, judge_id), number)
        return self.page(request, Score.objects.filter(version=version))


class _FailurePages(Pages):
    max_limit = MOST_FAILURES


class RunFailuresView(ProjectAPIView):
    actions = {"GET": "judges.run"}
    params = Pages.params

    @shape.describes(shapes.FailurePage, params=shape.PAGE)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """What a run asked about and got no score for, in the order in which it was asked; at most 200 at a time.

        With the reason in our words, and what the model said, where it said something; both are held back of a sample
        that you still have to label. A failed score is missing: it counts nowhere as a number.
        """
        pages = _FailurePages()
        found: Any = _Failures(one_run(self.project, run_id), self.user)
        rows: list[Failure] = pages.paginate_queryset(found, request) or []
        return pages.get_paginated_response([asdict(row) for row in rows])


class _Failures:
    """A run's failures as a page asks for them: how many, and some of them."""

    def __init__(self, run: Run, reader: User) -> None:
        self._run = run
        self._reader = reader

    def count(self) -> int:
        return failed_asks(self._run).count()

    def __getitem__(self, part: slice) -> list[Failure]:
        return failures(self._run, first=part.start, count=part.stop - part.start, reader=self._reader)


def _score_as_dict(score: Score, is_blind: bool) -> dict[str, Any]:
    said = {"number": score.number, "label": score.label, "rationale": score.rationale}
    return {
        "sample": score.sample.external_id,
        "unit": score.unit,
        "dimension": score.dimension,
        "repeat": score.repeat,
        "status": score.status,
        **(dict.fromkeys(said) if is_blind else said),
        "held_back": is_blind,
    }
