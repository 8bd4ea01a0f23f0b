"""What a judge gets wrong, in words, by API: asked for, and read."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ProjectAPIView
from annotate.api.jobs import ACCEPTED, RETRY_SECONDS
from annotate.api.schema import Error, answers
from annotate.projects.read import one_rated_criterion
from judges.api import mistakes_serializers as shapes
from judges.reports.mistakes_kept import Mistakes, Series, mistakes_of, request_mistakes, series_of
from judges.versions.read import one_judge


class JudgeMistakesView(ProjectAPIView):
    actions = {"GET": "reports.read", "POST": "reports.freeze"}

    @answers(shapes.Mistakes, query=shapes.MistakesAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str, judge_id: int, key: str) -> Mistakes:
        """What a judge gets wrong on the dev half of a criterion, in words, as it was found last.

        Its mistakes in groups that are named by the words that set them apart from what it gets right, each with kappa
        without it and what to do. `found` is null until somebody asks for it. Samples that you still have to label or
        to decide are left out; you may have to ask for a result of your own.
        """
        return mistakes_of(self._series(judge_id, key, asked), reader=self.user)

    @answers(
        shapes.MistakesRequested,
        takes=shapes.MistakesAsked,
        status=202,
        headers=ACCEPTED,
        also={503: OpenApiResponse(Error, "The worker can't be reached just now.")},
    )
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int, key: str) -> Response:
        """Has the worker find what a judge gets wrong, on the data as they are now.

        A GET of `Location` has it then; until then it says that it `is_pending`. When nothing changed since it was
        found last, that is the result.
        """
        series = self._series(judge_id, key, data)
        requested = request_mistakes(series, user=self.user)
        address = request.build_absolute_uri(f"{request.path}?{urlencode({'dimension': series.dimension})}")
        headers = {"Location": address, "Retry-After": str(RETRY_SECONDS)}
        return Response({"requested": requested}, status=202, headers=headers)

    def _series(self, judge_id: int, key: str, asked: dict[str, Any]) -> Series:
        criterion = one_rated_criterion(self.project, key)
        return series_of(criterion, one_judge(self.project, judge_id), asked.get("dimension"))
