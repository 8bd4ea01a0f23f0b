"""The lab by API: trials of changed judges on dev, what they show, and keeping or dropping what was tried."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.schema import MAY_BE_REPEATED, answers
from annotate.api.serializers import Nothing, With
from annotate.projects.read import criterion_named
from judges.api import lab_serializers as shapes
from judges.api.judges import request_key
from judges.lab.read import one_trial, trials_of, tried_on
from judges.lab.units_read import trial_result
from judges.lab.write import drop_trial, keep_trial, start_trial
from judges.models import Trial
from judges.versions.read import one_judge


class TrialsView(ProjectAPIView):
    actions = {"GET": "judges.run", "POST": "judges.run"}

    @answers(shapes.TrialPage)
    def get(self, request: Request, slug: str, judge_id: int) -> QuerySet[Trial]:
        """A judge's trials, newest first, page by page.

        Without what they show, which each trial has.
        """
        return trials_of(one_judge(self.project, judge_id))

    @answers(shapes.Trial, takes=shapes.TrialStart, status=201, headers=[MAY_BE_REPEATED], conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> Trial:
        """Tries a changed configuration on samples of the dev half.

        It becomes a version on trial, whose scores count nowhere else, and is run on `samples` samples that people have
        answered; the version in use is run too, where it lacks scores there. The test half stays closed. Refused (409)
        when nothing is changed or dev has no such sample.
        """
        key = request_key(request, data)
        judge, criterion = one_judge(self.project, judge_id), criterion_named(self.project, str(data.pop("criterion")))
        trial = start_trial(judge=judge, criterion=criterion, actor=self.user, key=key, **data)
        return one_trial(judge, trial.pk)


class TrialView(ProjectAPIView):
    actions = {"GET": "judges.run"}

    @answers(shapes.TrialInFull, conflict=True)
    def get(self, request: Request, slug: str, judge_id: int, trial_id: int) -> With:
        """One trial with what it shows.

        Both versions' kappa on the same units and their paired difference, coverage, failures, cost and latency, and
        the units that they answer otherwise: what each person said and why, and both versions' reasons. `result` is
        null while it is under way. Refused (409) when the figures, of few samples, would tell you what was said of
        one that you still have to label.
        """
        trial = one_trial(one_judge(self.project, judge_id), trial_id)
        result = trial_result(trial, reader=self.user, named=self.project.show_names)
        return With(trial, tried=tried_on(trial), result=result)


class _Step(ProjectAPIView):
    actions = {"POST": "judges.change"}

    def _trial(self, judge_id: int, trial_id: int) -> Trial:
        return one_trial(one_judge(self.project, judge_id), trial_id)


class TrialKeepView(_Step):
    @answers(shapes.Trial, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, trial_id: int) -> Trial:
        """Takes the version that was tried into use.

        From now on its scores count; run it on the rest. Refused (409) while the trial is under way.
        """
        trial = self._trial(judge_id, trial_id)
        trial.version = keep_trial(trial=trial, actor=self.user)
        return trial


class TrialDropView(_Step):
    @answers(shapes.Trial, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, trial_id: int) -> Trial:
        """Puts the version that was tried away.

        What is still being run of it is cancelled.
        """
        trial = self._trial(judge_id, trial_id)
        drop_trial(trial=trial, actor=self.user)
        return one_trial(trial.version.judge, trial_id)
