"""The lab by API: trials of changed judges on dev, what they show, and keeping or dropping what was tried."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body
from annotate.api.serializers import whole_number
from annotate.projects.lookup import criterion_named
from judges.api import lab_shapes
from judges.api.runs import money_of
from judges.lab.read import one_trial, trial_as_dict, trials_of
from judges.lab.units_read import trial_in_full
from judges.lab.write import DEFAULT_SAMPLES, drop_trial, keep_trial, start_trial
from judges.models import Trial
from judges.versions.read import one_judge


class TrialsView(ProjectAPIView):
    actions = {"GET": "judges.run", "POST": "judges.run"}
    params = Pages.params

    @shape.describes(lab_shapes.TrialPage, params=shape.PAGE)
    def get(self, request: Request, slug: str, judge_id: int) -> Response:
        """A judge's trials, newest first, page by page.

        Without what they show, which each trial has.
        """
        pages = Pages()
        rows = pages.paginate_queryset(trials_of(one_judge(self.project, judge_id)), request)
        return pages.get_paginated_response([trial_as_dict(row) for row in rows or []])

    @shape.describes(lab_shapes.Trial, request=lab_shapes.TrialStart, status=201, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """Tries a changed configuration on samples of the dev half.

        It becomes a version on trial, whose scores count nowhere else, and is run on `samples` samples that people have
        answered; the version in use is run too, where it lacks scores there. The test half stays closed. Refused (409)
        when nothing is changed or dev has no such sample.
        """
        known = {"config", "endpoint", "criterion", "samples", "seed", "budget"}
        data = body(request, known, required={"config", "criterion"})
        judge = one_judge(self.project, judge_id)
        trial = start_trial(
            judge=judge,
            config=data["config"],
            endpoint=data.get("endpoint"),
            criterion=criterion_named(self.project, str(data["criterion"])),
            samples=whole_number(data.get("samples", DEFAULT_SAMPLES), "samples", low=1),
            seed=None if data.get("seed") is None else whole_number(data["seed"], "seed"),
            budget=money_of(data.get("budget"), "budget"),
            actor=self.user,
        )
        return Response(trial_as_dict(one_trial(judge, trial.pk)), status=201)


class TrialView(ProjectAPIView):
    actions = {"GET": "judges.run"}

    @shape.describes(lab_shapes.TrialInFull)
    def get(self, request: Request, slug: str, judge_id: int, trial_id: int) -> Response:
        """One trial with what it shows.

        Both versions' kappa on the same units and their paired difference, coverage, failures, cost and latency, and
        the units that they answer otherwise: what each person said and why, and both versions' reasons. `result` is
        null while it is under way.
        """
        trial = one_trial(one_judge(self.project, judge_id), trial_id)
        return Response(trial_in_full(trial, self.user, named=self.project.show_names))


class _Step(ProjectAPIView):
    actions = {"POST": "judges.change"}

    def _trial(self, request: Request, judge_id: int, trial_id: int) -> Trial:
        body(request, set())
        return one_trial(one_judge(self.project, judge_id), trial_id)


class TrialKeepView(_Step):
    @shape.describes(lab_shapes.Trial, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, trial_id: int) -> Response:
        """Takes the version that was tried into use.

        From now on its scores count; run it on the rest. Refused (409) while the trial is under way.
        """
        trial = self._trial(request, judge_id, trial_id)
        trial.version = keep_trial(trial=trial, actor=self.user)
        return Response(trial_as_dict(trial))


class TrialDropView(_Step):
    @shape.describes(lab_shapes.Trial, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, trial_id: int) -> Response:
        """Puts the version that was tried away.

        What is still being run of it is cancelled.
        """
        trial = self._trial(request, judge_id, trial_id)
        drop_trial(trial=trial, actor=self.user)
        return Response(trial_as_dict(one_trial(trial.version.judge, trial_id)))
