"""Cascades of two judges by API: looked at on the test half, made one judge, and what that leaves to people."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.schema import answers
from annotate.core.rows import first_or_raise
from annotate.projects.read import criterion_named
from judges.api import cascades_serializers as shapes
from judges.api import judges_serializers
from judges.certificates.cascades import look_at_cascade, use_cascade
from judges.certificates.cascades_read import CascadeStanding, cascade_standing, left_by_cascade
from judges.certificates.triage_read import Left
from judges.core.scores_read import current_version
from judges.models import CascadeLook, Judge, JudgeKind, JudgeVersion
from judges.versions.read import one_judge


class CascadesView(ProjectAPIView):
    actions = {"GET": "reports.read", "POST": "test.look"}

    @answers(shapes.CascadeLooks)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Every look at the test half with two judges, newest first.

        What both would decide on dev stands in the report (`cascades`).
        """
        looks = CascadeLook.objects.filter(project=self.project).order_by("-pk").defer("samples")
        return {"results": looks.select_related("criterion", "cheap__judge", "dear__judge", "created_by")}

    @answers(shapes.CascadeLook, takes=shapes.CascadeRequest, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> CascadeLook:
        """Looks at the test half with a cheap judge and a dear one, which decides what the cheap one leaves.

        One family of cascades is fixed on dev and tested for agreement of .8, .85, .9 and .95 in this one look, which
        counts with all others at the criterion. Looking again while nothing has changed gives the earlier look and
        costs nothing. Refused (409), spending nothing, where one of the judges was not run on the whole test half.
        """
        return look_at_cascade(
            criterion=criterion_named(self.project, data["criterion"]),
            cheap=data["cheap"],
            dear=data["dear"],
            user=self.user,
        )


class CascadeJudgeView(ProjectAPIView):
    actions = {"POST": "judges.change"}

    @answers(judges_serializers.Judge, takes=shapes.CascadeUse, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, look_id: int) -> Judge:
        """Makes one judge of what a look at two certified for a share of agreement.

        `look_id` is the look's `id`. A run of it asks the dear judge only where the cheap one is not sure.
        """
        looks = CascadeLook.objects.filter(project=self.project, pk=look_id).select_related("project", "criterion")
        look = first_or_raise(looks, Http404("Test evaluation not found."))
        judge = use_cascade(look=look, agreement=data["agreement"], name=data["name"], actor=self.user)
        return one_judge(self.project, judge.pk)


class CascadeView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(shapes.Cascade)
    def get(self, request: Request, slug: str, judge_id: int) -> CascadeStanding:
        """Whether a cascade still holds, by its current version.

        `ended` has a `code` and a `reason` when the criterion changed (`criterion_changed`), what a look promises did
        (`out_of_date`), a word on how labels came was taken back (`labels_undeclared`), or what people have said since
        shows that it agrees with them less often than certified (`drift`) or that it may (`drift_or_streak`).
        """
        return cascade_standing(_version(self, judge_id))


class CascadeLeftView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(shapes.CascadeLeft)
    def get(self, request: Request, slug: str, judge_id: int) -> Left:
        """The samples of which a cascade has left a unit to people, as there are scores now.

        Without samples of the test half. For a batch: `{"method": "list", "samples": …}`.
        """
        return left_by_cascade(_version(self, judge_id), reader=self.user)


def _version(view: ProjectAPIView, judge_id: int) -> JudgeVersion:
    judge = one_judge(view.project, judge_id)
    version = current_version(judge)
    if judge.kind != JudgeKind.CASCADE or version is None:
        raise Http404("Judge not found, or no cascade.")
    return version
