"""Single scores by API, and what failed: with the judges' own words, for those who may run them.

Nobody is told what a judge said of a sample that they still have to label.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView
from annotate.core.blindness import samples_still_to_label
from annotate.models import User
from judges.api import run_shapes as shapes
from judges.models import Run, Score
from judges.selectors.judges import one_judge, one_version
from judges.selectors.runs import MOST_FAILURES, Failure, failed_asks, failures, one_run


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
