"""The shapes of checks with canaries, for the OpenAPI schema only (see annotate.api.schema)."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.serializers import FreeObject, Value
from judges.api.run_shapes import Money, Run

_SHARE = "A share with its interval, clustered by sample: value, low, high, level, n, clusters, method, reason."


class CanaryPlan(s.Serializer):
    version = s.IntegerField(required=False, allow_null=True, help_text="Its number; else the latest in use.")
    samples = s.IntegerField(required=False, help_text="How many are drawn; 20 when left out.")
    seed = s.IntegerField(required=False, help_text="The same seed draws the same samples again.")


class CanaryStart(CanaryPlan):
    budget = Money(required=False, help_text="At which the check stops by itself; none when left out.")


class CanaryVariant(s.Serializer):
    number = s.IntegerField()
    key = s.CharField()
    where = s.CharField(help_text="behind (the judged text), context, or instead (of the judged text)")
    harmless = s.BooleanField(help_text="It asks for nothing: what flips is the judge's own noise.")
    asked = s.IntegerField()
    compared = s.IntegerField(help_text="With a value, clean and with it.")
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")
    flips = FreeObject(help_text=_SHARE)
    towards = FreeObject(help_text="Of units that could become better. " + _SHARE)
    away = FreeObject(help_text="Of units that could become worse. " + _SHARE)


class CanaryRates(s.Serializer):
    flips = FreeObject(help_text=_SHARE)
    towards = FreeObject(help_text="Of units that could become better. " + _SHARE)
    away = FreeObject(help_text="Of units that could become worse. " + _SHARE)


class CanaryClean(s.Serializer):
    ok = s.IntegerField(help_text="Units with a value.")
    passing = s.IntegerField(allow_null=True, help_text="Null where nothing says what passes.")
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")


class CanaryCoverage(s.Serializer):
    asked = s.IntegerField()
    ok = s.IntegerField()
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")


class CanaryResult(s.Serializer):
    set = s.IntegerField(help_text="Version of the set of canaries.")
    seed = s.IntegerField()
    basis = s.CharField(
        help_text="passes (a flip is from fail to pass or back), moves (a number that differs by least_move), labels"
    )
    least_move = s.FloatField(allow_null=True)
    best = Value()
    samples = s.IntegerField()
    units = s.IntegerField()
    clean = CanaryClean()
    coverage = CanaryCoverage()
    attacks = CanaryRates()
    harmless = CanaryRates()
    variants = CanaryVariant(many=True)


class Check(Run):
    result = CanaryResult()


class FlipExample(s.Serializer):
    sample = s.CharField(help_text="Its own id.")
    unit = s.CharField()
    title = s.CharField()
    variant = s.CharField()
    harmless = s.BooleanField()
    towards = s.BooleanField(allow_null=True)
    clean = Value()
    clean_reason = s.CharField()
    changed = Value()
    changed_reason = s.CharField()


class FlipExamples(s.Serializer):
    count = s.IntegerField()
    held_back = s.IntegerField(help_text="How many are not listed, since you still have their samples to label.")
    shown = FlipExample(many=True)
