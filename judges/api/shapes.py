"""The shapes of requests and replies, for the OpenAPI schema only (see annotate.api.schema)."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import Remark, Value


class ReportRequest(s.Serializer):
    criterion = s.CharField(help_text="Its key.")


class NewScore(s.Serializer):
    sample = s.CharField(required=False, allow_null=True, help_text="Its sample's own id; one without stands alone.")
    score = s.FloatField(required=False)
    label = Value(required=False, help_text="In place of a score, for a judge that answers with labels.")  # type: ignore[assignment]


class Application(s.Serializer):
    criterion = s.CharField(help_text="Its key.")
    judge = s.CharField(help_text="Its name.")
    dimension = s.CharField(
        required=False, allow_null=True, help_text="What it measures, if it was certified for several things."
    )
    scores = NewScore(many=True, required=False)
    pipeline = s.CharField(required=False, help_text="In place of scores: the stored ones of this version's samples.")


class ProbabilitiesUsed(s.Serializer):
    method = s.CharField(allow_null=True, help_text="platt or isotonic")
    reason = Remark(allow_null=True, help_text="Why there are no probabilities.")


class GradesUsed(s.Serializer):
    reason = Remark(allow_null=True, help_text="Why there are no grades.")


class RegionUsed(s.Serializer):
    distance = s.FloatField(allow_null=True, help_text="From the threshold.")
    risk = s.FloatField(help_text="The certified share of wrong decisions in it, at most.")
    inside = s.IntegerField(allow_null=True, help_text="How many of the scores lie in it.")
    reason = Remark(allow_null=True, help_text="Why there is no region.")


class AppliedScore(s.Serializer):
    sample = s.CharField(allow_null=True)
    unit = s.CharField(required=False, help_text="Of a stored score.")
    score = s.FloatField(required=False)
    label = Value(required=False)  # type: ignore[assignment]
    passes = s.BooleanField()
    probability = s.FloatField(allow_null=True, help_text="That people would pass it.")
    grade = Value(allow_null=True, help_text="The criterion's level that the score stands for.")
    in_region = s.BooleanField(allow_null=True, help_text="Whether the judge may decide it alone.")


class Coverage(s.Serializer):
    samples = s.IntegerField(help_text="Of the version.")
    samples_scored = s.IntegerField(help_text="Those with a score.")
    units = s.IntegerField(help_text="Of the criterion's kind, in all of its samples.")
    scored = s.IntegerField(help_text="Units with a score.")
    failed = s.DictField(child=s.IntegerField(), help_text="Units whose score failed, by its status.")


class Applied(s.Serializer):
    certificate = s.IntegerField(help_text="Its number.")
    criterion = s.CharField()
    criterion_version = s.IntegerField()
    judge = s.CharField()
    judge_version = s.CharField()
    dimension = s.CharField()
    threshold = s.FloatField(allow_null=True)
    level = s.FloatField(help_text="Of all intervals: what the look that was certified had left.")
    scores = s.IntegerField()
    samples = s.IntegerField(help_text="How many there are, each score without one counted for itself.")
    pass_rate = Estimate(help_text="The share that the judge passes.")
    corrected_pass_rate = Estimate(help_text="The share that people would pass: Rogan-Gladen.")
    tpr = Estimate()
    tnr = Estimate()
    signal = Estimate(help_text="TPR + TNR - 1; when its interval holds 0, nothing can be corrected.")
    caveat = Remark(allow_null=True, help_text="What to know about intervals from so few samples.")
    probability = ProbabilitiesUsed()
    grade = GradesUsed()
    region = RegionUsed()
    results = AppliedScore(many=True, help_text="One for each score, in the order given.")
    pipeline = s.CharField(required=False, help_text="Of stored scores.")
    coverage = Coverage(required=False, help_text="Of stored scores.")
    held_back = s.IntegerField(required=False, help_text="Of stored scores: how many `results` leaves out.")
