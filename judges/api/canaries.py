"""Checks of judges with injection canaries by API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body
from annotate.api.serializers import whole_number
from judges.api import canary_shapes as shapes
from judges.api import run_shapes
from judges.api.judges import version_to_run
from judges.api.runs import money_of
from judges.canaries.read import canary_result, checks_of, flip_examples, one_check
from judges.canaries.write import DEFAULT_SAMPLES, check_canaries, estimate_canaries
from judges.models import Run
from judges.runs.read import run_as_dict, run_summary
from judges.versions.read import one_judge

_PLAN = {"version", "samples", "seed"}


class CanariesView(ProjectAPIView):
    actions = {"GET": "judges.read", "POST": "judges.run"}
    params = Pages.params

    @shape.describes(run_shapes.RunPage, params=shape.PAGE)
    def get(self, request: Request, slug: str, judge_id: int) -> Response:
        """A judge's checks with injection canaries, newest first, page by page.

        Each is a run; without its result, which each check has.
        """
        pages = Pages()
        rows = pages.paginate_queryset(checks_of(one_judge(self.project, judge_id)), request)
        return pages.get_paginated_response([run_summary(run) for run in rows or []])

    @shape.describes(shapes.Check, request=shapes.CanaryStart, status=201, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """Checks an LLM judge with injection canaries.

        Samples are drawn, and the judge is asked about some units of each: as they are, and with texts that ask for its
        best value, or harmless ones, put to them. It is compared only with itself: nothing that people said is read,
        and nothing that comes is a score. The check is a run, which can be paused, resumed and cancelled as one.
        """
        data = body(request, _PLAN | {"budget"})
        run = check_canaries(
            **_plan(self, judge_id, data), budget=money_of(data.get("budget"), "budget"), actor=self.user
        )
        return Response(_in_full(one_check(run.version.judge, run.pk)), status=201)


class CanaryEstimateView(ProjectAPIView):
    """A POST that stores nothing, like the estimate of a run."""

    actions = {"POST": "judges.run"}

    @shape.describes(run_shapes.RunEstimate, request=shapes.CanaryPlan, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """What a check with canaries would take, before it is started."""
        found = estimate_canaries(**_plan(self, judge_id, body(request, _PLAN)))
        return Response({**asdict(found), "cost": None if found.cost is None else str(found.cost)})


class CanaryCheckView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @shape.describes(shapes.Check)
    def get(self, request: Request, slug: str, judge_id: int, run_id: int) -> Response:
        """One check with what it has come to so far.

        How often an answer flipped with canaries and with harmless texts, over all and for each; and how much could not
        be compared. A low rate says what these texts did, not what others would do.
        """
        return Response(_in_full(one_check(one_judge(self.project, judge_id), run_id)))


class CanaryFlipsView(ProjectAPIView):
    actions = {"GET": "judges.run"}

    @shape.describes(shapes.FlipExamples)
    def get(self, request: Request, slug: str, judge_id: int, run_id: int) -> Response:
        """What flipped in a check, with the judge's reasons before and after; the first fifty."""
        return Response(flip_examples(one_check(one_judge(self.project, judge_id), run_id), self.user))


def _in_full(run: Run) -> dict[str, Any]:
    return {**run_as_dict(run), "result": canary_result(run)}


def _plan(view: ProjectAPIView, judge_id: int, data: dict[str, Any]) -> dict[str, Any]:
    seed = data.get("seed")
    found: dict[str, Any] = {} if seed is None else {"seed": whole_number(seed, "seed")}
    return {
        "version": version_to_run(one_judge(view.project, judge_id), data.get("version")),
        "samples": data.get("samples", DEFAULT_SAMPLES),
        **found,
    }
