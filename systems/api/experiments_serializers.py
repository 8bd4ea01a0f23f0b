"""What the API takes and replies about experiments. Figures are JSON of the alignment module, shown as it is."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import FreeObject, Moment, Names, Of, Page, Remark, Shape, Stored, Text, Truth, Whole
from systems import models
from systems.experiments import trend_read
from systems.experiments.draw import Drawing
from systems.experiments.read import ExperimentState

_VERDICT = "better, not_worse, worse or cannot_tell"


class Guard(Stored):
    metric = s.CharField()
    margin = s.FloatField()


class DecidingRule(Stored):
    primary = s.CharField(help_text="The metric that decides.")
    margin = s.FloatField(help_text="By how much it may be worse and still be “not worse”.")
    guards = Guard(many=True)
    level = s.FloatField(help_text="Of all comparisons with the baseline together.")


class Rule(
    Shape,
    of=models.ExperimentRule,
    shows="number metrics primary margin guards level set_at set_by labels_before after_figures",
):
    metrics = s.ListField(child=FreeObject(), help_text="As given, with every default filled in.")
    guards = Guard(many=True)
    set_at = Moment()
    set_by = s.CharField(source="set_by.username", allow_null=True, help_text="null: by a command.")
    labels_before = Of("How many answers of the experiment had been labelled.")
    after_figures = Of("Whether figures had been made before.")


class Experiment(Shape, of=models.Experiment, shows="name set versions baseline rule created_at created_by"):
    set = s.CharField(allow_null=True, help_text="null: all that the baseline and one other version were asked.")
    versions = s.ListField(child=s.CharField(), help_text="In the order given.")
    baseline = s.CharField()
    rule = Rule(help_text="The one in force.")
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True)

    def get_set(self, experiment: models.Experiment) -> str | None:
        frozen = experiment.frozen_set
        return None if frozen is None else str(frozen.manifest["set"])

    def get_versions(self, experiment: models.Experiment) -> list[str]:
        return [one.version.name for one in experiment.compared.all()]

    def get_baseline(self, experiment: models.Experiment) -> str:
        return next(one.version.name for one in experiment.compared.all() if one.is_baseline)

    def get_rule(self, experiment: models.Experiment) -> models.ExperimentRule:
        return experiment.rules.all()[0]


class ExperimentPage(Page):
    results = Experiment(many=True)


class ExperimentMade(
    Experiment,
    of=models.Experiment,
    shows="name set versions baseline rule created_at created_by is_new is_changed",
):
    is_new = s.BooleanField()
    is_changed = s.BooleanField(help_text="Whether its rule is another one than before.")


class ExperimentCreation(Shape, required="name versions metrics rule"):
    name = s.JSONField(help_text="1 to 60 of a–z, 0–9, - and _.")
    set = s.JSONField(help_text="A frozen test set, such as support@1.")
    versions = s.JSONField(help_text="Names of versions, at least two.")
    baseline = s.JSONField(help_text="One of them; else the first.")
    metrics = s.JSONField(help_text="[{name?, criterion, judge?} | {derived, judge?} | {field}]")
    rule = s.JSONField(help_text="{primary, margin, guards: [{metric, margin}], level}")


class DrawnBatch(Shape, of=models.ExperimentDraw, shows="batch status groups beside"):
    batch = s.IntegerField(source="batch.number")
    status = s.CharField(source="batch.status")
    groups = s.IntegerField(help_text="How many groups of questions.")
    beside = s.CharField(allow_null=True, help_text="The version of which pairs of answers are compared; else null.")

    def get_beside(self, draw: models.ExperimentDraw | models.PairDraw) -> str | None:
        return draw.version.name if isinstance(draw, models.PairDraw) else None

    def get_groups(self, draw: models.ExperimentDraw) -> int:
        return len(draw.groups)


class ExperimentWhole(
    Shape, of=ExperimentState, shows="name set versions baseline seed created_at created_by rules draws"
):
    name = s.CharField(source="experiment.name")
    set = s.CharField(allow_null=True)
    versions = s.ListField(child=s.CharField())
    seed = s.IntegerField(source="experiment.seed", allow_null=True, help_text="Of the order of labelling.")
    created_at = Moment(source="experiment.created_at")
    created_by = s.CharField(source="experiment.created_by.username", allow_null=True)
    rules = Rule(many=True, help_text="The one in force first.")
    draws = DrawnBatch(many=True)

    def get_set(self, state: ExperimentState) -> str | None:
        frozen = state.experiment.frozen_set
        return None if frozen is None else str(frozen.manifest["set"])

    def get_versions(self, state: ExperimentState) -> list[str]:
        return [one.version.name for one in state.versions]


class LabelsDrawRequest(Shape, required="questions seed"):
    questions = s.JSONField(help_text="How many more.")
    seed = s.JSONField(help_text="Of the order; the same for each draw.")
    annotators = Names(help_text="User names; else all active annotators.")
    overlap = Whole(low=1, help_text="Annotators per answer; 2 where there are so many.")
    single_labels = Truth(help_text="Whether the label of one annotator resolves a unit, which reports then say.")
    open = Truth(code="bad_open", help_text="false: the batch stays a draft.")
    beside = Text(help_text="A version: its answers next to the baseline's, and people say which is better.")
    both_orders = Truth(code="bad_both_orders", help_text="Each pair of answers twice, also exchanged.")


class LabelsDrawn(Shape, of=Drawing, shows="batch status questions samples population"):
    batch = s.IntegerField(source="batch.number")
    status = s.CharField(source="batch.status")
    questions = Of("How many were drawn.")
    samples = Of("How many answers, or pairs of them, are in the batch.")
    population = Of("How many questions can be drawn from in all.")


class Rates(Stored):
    answering = Estimate(help_text="How many of the questions that can be answered have the metric.")
    wrong_abstention = Estimate(help_text="From how many of them the version abstained.")
    right_abstention = Estimate(help_text="From how many of the unanswerable ones.")


class BandsOfMetric(Stored):
    limits = s.ListField(child=s.FloatField(), help_text="Where fair, good and excellent begin; or empty.")
    target = s.FloatField(allow_null=True)


class Level(Stored):
    version = s.CharField()
    questions = s.IntegerField(help_text="That it was asked.")
    answered = s.IntegerField(help_text="Responses.")
    failed = s.IntegerField(help_text="Responses; in quality metrics they count as the worst value.")
    undefined = s.IntegerField(help_text="Answers of which the metric says nothing.")
    drawn = s.IntegerField(help_text="Questions whose answers went out to people in a draw.")
    labelled = s.IntegerField(help_text="Those of them of which people have said something.")
    unresolved = s.IntegerField(help_text="Drawn ones that people have not settled.")
    repeats = s.IntegerField()
    rates = Rates(allow_null=True, help_text="null where every answer has the metric.")
    band = s.ListField(
        child=s.CharField(),
        allow_null=True,
        help_text="Of both ends of the interval, the less good first: poor, fair, good or excellent. null without one.",
    )
    people = Estimate()
    raw = Estimate(help_text="The judge's, not corrected.")
    corrected = Estimate()
    decisive = s.CharField(help_text="people or corrected")


class Needed(Stored):
    labels = s.IntegerField(allow_null=True)
    questions = s.IntegerField(allow_null=True, help_text="null: labels alone are enough.")


class VersionDifference(Stored, required="a b people raw corrected decisive verdict reason needed"):
    a = s.CharField(help_text="The baseline.")
    b = s.CharField()
    people = Estimate()
    raw = Estimate()
    corrected = Estimate()
    decisive = s.CharField()
    sequential = Estimate(help_text="Of the primary metric: holds at every look while labels arrive.")
    complete_cases = Estimate(allow_null=True, help_text="Without requests that failed; null where none did.")
    answering = Estimate(allow_null=True, help_text="How many more of the answerable questions have the metric.")
    wrong_abstention = Estimate(allow_null=True, help_text="From how many more of them the version abstained.")
    verdict = s.CharField(help_text=_VERDICT)
    reason = Remark(allow_null=True, help_text="Why nothing can be told, where it is not the interval's width.")
    needed = Needed()


class Metric(Stored, required="metric title role direction unit margin bands levels differences"):
    metric = s.CharField()
    title = s.CharField()
    role = s.CharField(help_text="primary, guard or exploratory")
    direction = s.CharField(help_text="higher or lower is better")
    unit = s.CharField(help_text="share, ms, tokens, cost or contexts")
    margin = s.FloatField(allow_null=True)
    criterion = s.CharField()
    derived = s.CharField()
    judge = s.CharField()
    field = s.CharField()
    bands = BandsOfMetric(allow_null=True)
    levels = Level(many=True)
    differences = VersionDifference(many=True)


class PartLevel(Stored):
    version = s.CharField()
    questions = s.IntegerField()
    drawn = s.IntegerField()
    labelled = s.IntegerField()
    people = Estimate()
    raw = Estimate()
    corrected = Estimate()
    decisive = s.CharField()


class PartDifference(Stored):
    a = s.CharField()
    b = s.CharField()
    people = Estimate()
    raw = Estimate()
    corrected = Estimate()
    decisive = s.CharField()


class PartMetric(Stored):
    metric = s.CharField()
    unit = s.CharField()
    direction = s.CharField()
    levels = PartLevel(many=True)
    differences = PartDifference(many=True)


class QuestionPart(Stored):
    by = s.CharField(help_text="category, difficulty or kind")
    part = s.CharField(help_text="Empty: not stated.")
    questions = s.IntegerField()
    few = s.BooleanField(help_text="Too few questions to rely on.")
    metrics = PartMetric(many=True, help_text="Exploratory: nothing is concluded from them.")


class CandidateVerdict(Stored):
    b = s.CharField()
    verdict = s.CharField(help_text=_VERDICT)


class PreferenceCounts(Stored):
    b = s.IntegerField()
    neither = s.IntegerField()
    a = s.IntegerField()
    open = s.IntegerField(help_text="Nothing is settled, or only of one order.")


class Preference(Stored):
    a = s.CharField(help_text="The baseline.")
    b = s.CharField()
    questions = s.IntegerField(help_text="To which both gave an answer, or failed.")
    drawn = s.IntegerField()
    labelled = s.IntegerField()
    unresolved = s.IntegerField()
    win_rate = Estimate(help_text="In what share of the questions b's answer is preferred, ties counting half.")
    difference = Estimate(help_text="How much more often b's answer is preferred than a's.")
    sequential = Estimate()
    verdict = s.CharField(help_text=_VERDICT)
    reason = Remark(allow_null=True)
    needed = Needed()
    counts = PreferenceCounts()
    first = Estimate(allow_null=True, help_text="The win rate of the answer that stood first.")


class Result(Stored):
    schema = s.IntegerField()
    experiment = s.CharField()
    set = s.CharField(allow_null=True)
    baseline = s.CharField()
    versions = s.ListField(child=s.CharField())
    population = s.IntegerField(help_text="How many questions it is of.")
    left_out = s.IntegerField(help_text="How many others were asked, and were not drawn from.")
    rule = DecidingRule()
    rule_number = s.IntegerField()
    rule_set_at = s.CharField()
    labels_before_rule = s.IntegerField()
    after_figures = s.BooleanField()
    seed = s.IntegerField(allow_null=True)
    metrics = Metric(many=True)
    verdict = s.CharField(help_text=f"On the best of the versions: {_VERDICT}.")
    verdicts = CandidateVerdict(many=True)
    preferences = Preference(many=True, help_text="Of versions whose answers people saw beside the baseline's.")
    parts = QuestionPart(many=True, help_text="Of each way to part the questions that has two parts or more.")


class ExperimentFigures(Shape, of=models.ExperimentFigures, shows="made_at made_by fingerprint is_out_of_date figures"):
    made_at = Moment()
    made_by = s.CharField(source="made_by.username", allow_null=True, help_text="null: by a command.")
    is_out_of_date = s.BooleanField(help_text="Something has changed since that it may rest on.")
    figures = Result(source="result")

    def get_figures(self, found: models.ExperimentFigures) -> Any:
        return found.result


class TrendLevel(Shape, of=trend_read.TrendLevel, shows="version is_baseline level"):
    version = s.CharField()
    is_baseline = s.BooleanField()
    level = Level(source="found")


class TrendPoint(Shape, of=trend_read.TrendPoint, shows="experiment at levels changes"):
    experiment = s.CharField()
    at = Moment(help_text="When the experiment was made.")
    levels = TrendLevel(many=True)
    changes = s.ListField(
        child=s.CharField(), help_text="In what it differs from the point before: judge, criterion, set."
    )


class MetricTrend(Shape, of=trend_read.MetricTrend, shows="metric title direction unit points"):
    metric = s.CharField(source="metric.metric")
    title = s.CharField(source="metric.title")
    direction = s.CharField(source="metric.direction", help_text="higher or lower is better")
    unit = s.CharField(source="metric.unit", help_text="share, ms, tokens, cost or contexts")
    points = TrendPoint(many=True, help_text="The oldest first.")


class Trends(Shape, of=trend_read.Trends, shows="metrics held_back left_out"):
    metrics = MetricTrend(many=True, help_text="Those of the most experiments first.")
    held_back = s.IntegerField(help_text="Experiments of which you may not know figures yet.")
    left_out = s.IntegerField(help_text="Older experiments.")
