"""What the API takes and replies about what a judge gets wrong, in words."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import Moment, Of, Remark, Shape, Stored, Text, Value
from judges.reports import mistakes_kept


class MistakesAsked(Shape, required=""):
    dimension = Text(help_text="What the judge calls its scores; the criterion's key when left out.")


class MistakenUnit(Stored):
    sample = s.CharField(help_text="Its own id.")
    unit = s.CharField()


class MistakesGroup(Stored):
    terms = s.ListField(child=s.CharField(), help_text="The most telling first; none of units in no group.")
    by = s.CharField(allow_null=True, help_text="reasons: what people wrote; texts: the units' own words.")
    units = s.IntegerField()
    kappa_without = Estimate(allow_null=True, help_text="The judge's kappa if these units are left out.")
    several = s.IntegerField(help_text="Units that several people judged.")
    split = s.IntegerField(help_text="Of these, units on which they differ.")
    alone = s.IntegerField(help_text="Units on which one person stands alone against several who side with the judge.")
    advice = s.CharField(allow_null=True, help_text="teach_judge, clarify_guideline or relabel; null: there are none.")
    is_known = s.BooleanField(help_text="false: too few units have a second opinion to say that people agree.")
    listed = MistakenUnit(many=True, help_text="Up to 200, the most typical first.")


class MistakesDirection(Stored):
    people = Value(help_text="What people say: true for a pass, or an option where nothing passes.")
    judge = Value(help_text="What the judge says.")
    wrong = s.IntegerField(help_text="Units.")
    groups = MistakesGroup(many=True, help_text="The largest first.")
    rest = MistakesGroup(help_text="Units that fall in no group.")


class MistakesSlice(Stored):
    key = s.CharField(help_text="Of the samples' metadata.")
    value = Value()
    units = s.IntegerField()
    wrong = s.IntegerField()
    elsewhere = s.IntegerField(help_text="Units under all other values.")
    wrong_elsewhere = s.IntegerField()
    p_adjusted = s.FloatField(help_text="Holm, over all values that were tested.")


class MistakesFound(Stored):
    judge = s.CharField()
    version = s.CharField(help_text="Of the judge: its latest with such scores.")
    dimension = s.CharField()
    held_back = s.IntegerField(help_text="Samples left out, since you still have to label or to decide them.")
    units = s.IntegerField(help_text="Units of dev that people and the judge decided.")
    wrong = s.IntegerField()
    kappa = Estimate(allow_null=True)
    reason = Remark(allow_null=True, help_text="Why there is nothing to compare.")
    directions = MistakesDirection(many=True, help_text="Which way it errs; the most frequent first.")
    slices = MistakesSlice(many=True, help_text="Where it is wrong more often than elsewhere.")


class Mistakes(Shape, of=mistakes_kept.Mistakes, shows="found made_at is_out_of_date is_pending"):
    found = MistakesFound(allow_null=True, help_text="null: nobody asked for it yet.")
    made_at = Moment(allow_null=True)
    is_out_of_date = Of("Something that it rests on changed since.")
    is_pending = Of("The worker is at it for you.")


class MistakesRequested(Shape):
    requested = s.BooleanField(help_text="false: it is on its way already.")
