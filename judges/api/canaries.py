"""Checks of judges with injection canaries and bias probes by API."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.schema import MAY_BE_REPEATED, answers
from annotate.api.serializers import With
from annotate.core.blindness import Reader
from judges.api import runs_serializers as shapes
from judges.api.judges import request_key, version_to_run
from judges.canaries.read import canary_result, checks_of, flip_examples, is_injection, one_check, probe_result
from judges.canaries.write import check_canaries, estimate_canaries
from judges.models import Run
from judges.runs.write import RunEstimate
from judges.versions.read import one_judge


class CanariesView(ProjectAPIView):
    actions = {"GET": "judges.read", "POST": "judges.run"}

    @answers(shapes.RunPage)
    def get(self, request: Request, slug: str, judge_id: int) -> QuerySet[Run]:
        """A judge's checks with injection canaries and bias probes, newest first, page by page.

        Each is a run; without its result, which each check has.
        """
        return checks_of(one_judge(self.project, judge_id))

    @answers(shapes.Check, takes=shapes.CanaryStart, status=201, headers=[MAY_BE_REPEATED], conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> With:
        """Checks an LLM judge with injection canaries, or with bias probes.

        Samples are drawn, and the judge is asked about some units of each. With canaries: as they are, and with texts
        that ask for its best value, or harmless ones, put to them. With bias probes: twice as they are, and with
        changes that should not matter (order, length, formatting, citations that only look right). It is compared only
        with itself: nothing that people said is read, and nothing that comes is a score. The check is a run, which can
        be paused, resumed and cancelled as one.
        """
        key, version = request_key(request, data), version_to_run(self, judge_id, data)
        run = check_canaries(version=version, actor=self.user, key=key, **data)
        return _in_full(one_check(run.version.judge, run.pk), reader=self.user)


class CanaryEstimateView(ProjectAPIView):
    """A POST that stores nothing, like the estimate of a run."""

    actions = {"POST": "judges.run"}

    @answers(shapes.RunEstimate, takes=shapes.CanaryPlan, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> RunEstimate:
        """What a check with canaries would take, before it is started."""
        version = version_to_run(self, judge_id, data)
        return estimate_canaries(version=version, **data)


class CanaryCheckView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @answers(shapes.Check, conflict=True)
    def get(self, request: Request, slug: str, judge_id: int, run_id: int) -> With:
        """One check with what it has come to so far.

        How often an answer flipped with canaries and with harmless texts, over all and for each, or what each bias
        probe did; and how much could not be compared. A low rate says what these texts did, not what others would do.
        Refused (409) when the figures, of few samples, would tell you what the judge said of one that you still have to
        label or to decide.
        """
        return _in_full(one_check(one_judge(self.project, judge_id), run_id), reader=self.user)


class CanaryFlipsView(ProjectAPIView):
    actions = {"GET": "judges.run"}

    @answers(shapes.FlipExamples)
    def get(self, request: Request, slug: str, judge_id: int, run_id: int) -> dict[str, Any]:
        """What flipped in a check, with the judge's reasons before and after; the first fifty."""
        return flip_examples(one_check(one_judge(self.project, judge_id), run_id), reader=self.user)


def _in_full(run: Run, *, reader: Reader) -> With:
    result = canary_result(run, reader=reader) if is_injection(run) else None
    bias = probe_result(run, reader=reader) if result is None else None
    return shapes.with_progress(run, reader=reader, result=result, bias=bias)
