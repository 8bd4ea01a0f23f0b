"""Alignments of judges by API: started, watched, steered; their rules, and what they found put on trial."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.schema import MAY_BE_REPEATED, answers
from annotate.api.serializers import Nothing, With
from annotate.core.blindness import Reader
from annotate.core.errors import Conflict
from annotate.projects.read import criterion_named
from judges.aligning.outcome import found_by_search
from judges.aligning.read import alignments_of, one_alignment, one_rule, result_for, rules_for
from judges.aligning.write import (
    cancel_alignment,
    decide_rule,
    estimate_alignment,
    pause_alignment,
    resume_alignment,
    start_alignment,
    try_candidate,
)
from judges.api import aligning_serializers as shapes
from judges.api import lab_serializers, runs_serializers
from judges.api.judges import request_key, version_to_run
from judges.lab.read import one_trial
from judges.lab.write import DEFAULT_SAMPLES
from judges.models import Alignment, Rule, Trial
from judges.runs.write import RunEstimate
from judges.versions.read import one_judge


class JudgeAlignmentsView(ProjectAPIView):
    actions = {"GET": "judges.run", "POST": "judges.run"}

    @answers(shapes.JudgeAlignmentPage)
    def get(self, request: Request, slug: str, judge_id: int) -> QuerySet[Alignment]:
        """A judge's alignments, newest first, page by page.

        Without what they came to, which each has.
        """
        return alignments_of(one_judge(self.project, judge_id))

    @answers(shapes.JudgeAlignment, takes=shapes.AlignmentStart, status=201, headers=[MAY_BE_REPEATED], conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> Alignment:
        """Looks for a configuration that agrees better with people, on dev alone.

        Rules are found in the judge's errors, examples chosen, and candidates made of them answer about units that what
        they are made of does not come from. The active version stays what it is. Refused (409) when dev has too little.
        """
        key = request_key(request, data)
        of = start_alignment(**_planned(self, judge_id, data), **data, actor=self.user, key=key)
        return one_alignment(of.base.judge, of.pk)


class AlignmentEstimateView(ProjectAPIView):
    """A POST that stores nothing, like the estimate of a run."""

    actions = {"POST": "judges.run"}

    @answers(runs_serializers.RunEstimate, takes=shapes.AlignmentPlan, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> RunEstimate:
        """What an alignment would take at most, before it is started."""
        data["seed"] = data.get("seed") or 0
        return estimate_alignment(**_planned(self, judge_id, data), **data)


def _planned(view: ProjectAPIView, judge_id: int, data: dict[str, Any]) -> dict[str, Any]:
    version = version_to_run(view, judge_id, data)
    return {"version": version, "criterion": criterion_named(view.project, str(data.pop("criterion")))}


class JudgeAlignmentView(ProjectAPIView):
    actions = {"GET": "judges.run"}

    @answers(shapes.JudgeAlignmentInFull, conflict=True)
    def get(self, request: Request, slug: str, judge_id: int, alignment_id: int) -> With:
        """One alignment with what it came to.

        Refused (409) when the figures, of few samples, would tell you what was said of one that you still have to
        label.
        """
        return _in_full(one_alignment(one_judge(self.project, judge_id), alignment_id), reader=self.user)


def _in_full(of: Alignment, *, reader: Reader) -> With:
    return With(
        of,
        result=result_for(of, reader=reader),
        rules=rules_for(of, reader=reader),
        searched=found_by_search(of, reader=reader),
    )


class _Step(ProjectAPIView):
    actions = {"POST": "judges.run"}

    def alignment(self, judge_id: int, alignment_id: int) -> Alignment:
        return one_alignment(one_judge(self.project, judge_id), alignment_id)


class AlignmentPauseView(_Step):
    @answers(shapes.JudgeAlignment, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, alignment_id: int) -> Alignment:
        """Pauses it: nothing new goes out."""
        pause_alignment(of=self.alignment(judge_id, alignment_id), actor=self.user)
        return self.alignment(judge_id, alignment_id)


class AlignmentResumeView(_Step):
    @answers(shapes.JudgeAlignment, takes=shapes.AlignmentResume, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int, alignment_id: int) -> Alignment:
        """Lets one go on that was paused, or stopped by itself."""
        resume_alignment(of=self.alignment(judge_id, alignment_id), **data, actor=self.user)
        return self.alignment(judge_id, alignment_id)


class AlignmentCancelView(_Step):
    @answers(shapes.JudgeAlignment, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, alignment_id: int) -> Alignment:
        """Ends it: what waits is never asked, what came stays."""
        cancel_alignment(of=self.alignment(judge_id, alignment_id), actor=self.user)
        return self.alignment(judge_id, alignment_id)


class AlignmentTryView(_Step):
    @answers(lab_serializers.Trial, takes=shapes.AlignmentTry, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int, alignment_id: int) -> Trial:
        """Puts the chosen candidate on trial, with the rules that nobody dropped."""
        of = self.alignment(judge_id, alignment_id)
        trial = try_candidate(
            of=of,
            name=data.get("candidate") or "",
            samples=data.get("samples") or DEFAULT_SAMPLES,
            budget=data.get("budget"),
            actor=self.user,
        )
        return one_trial(of.base.judge, trial.pk)


class AlignmentRuleView(ProjectAPIView):
    actions = {"PATCH": "judges.run"}

    @answers(shapes.AlignmentRule, takes=shapes.RuleChange, conflict=True)
    def patch(
        self, request: Request, data: dict[str, Any], slug: str, judge_id: int, alignment_id: int, rule_id: int
    ) -> Rule:
        """Accepts a rule, as it is or in other words, or drops it."""
        of = one_alignment(one_judge(self.project, judge_id), alignment_id)
        rule = one_rule(of, rule_id)
        if rule not in rules_for(of, reader=self.user).shown:
            raise Conflict("still_to_label", "You still have to label the samples that this rule comes from.")
        return decide_rule(rule=rule, actor=self.user, **data)
