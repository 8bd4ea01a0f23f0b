"""As judges.api.shapes: the shapes of the lab."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.serializers import Remark


class TrialStart(s.Serializer):
    config = s.DictField(help_text="The whole configuration, as for a version of the judge.")
    endpoint = s.CharField(required=False, allow_null=True, help_text="Its name, for a judge that asks a model.")
    criterion = s.CharField(help_text="Key of a criterion that the judge answers.")
    samples = s.IntegerField(required=False, help_text="How many, from dev; 40 when left out.")
    seed = s.IntegerField(required=False, help_text="The same seed draws the same samples again.")
    budget = s.DecimalField(
        required=False, allow_null=True, max_digits=14, decimal_places=6, help_text="Of each of the two runs."
    )


class Trial(s.Serializer):
    id = s.IntegerField()
    judge = s.CharField()
    version = s.CharField(help_text="The version that is tried.")
    state = s.CharField(help_text="Of that version: trial, kept or dropped.")
    base = s.CharField(help_text="The version that was in use then.")
    criterion = s.CharField()
    criterion_version = s.IntegerField()
    dimension = s.CharField(help_text="What both call what the criterion asks.")
    seed = s.IntegerField()
    wanted = s.IntegerField(help_text="How many samples were asked for.")
    samples = s.IntegerField(help_text="How many it has.")
    runs = s.ListField(child=s.IntegerField(), help_text="Of the new version, then of the base, if that lacked scores.")
    is_under_way = s.BooleanField()
    created_at = s.DateTimeField()
    created_by = s.CharField(allow_null=True)


class TrialPage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = Trial(many=True)


class TrialVote(s.Serializer):
    who = s.CharField()
    value = s.CharField(allow_null=True, help_text="Null: could not tell.")
    cant_tell = s.CharField()
    comment = s.CharField()
    evidence = s.ListField(child=s.DictField(), help_text="Places in contexts: `context`, from 1, and the `quote`.")


class TrialUnit(s.Serializer):
    sample = s.CharField(help_text="Its own id.")
    unit = s.CharField()
    text = s.CharField()
    group = s.CharField(help_text="mended, broken, both_wrong or changed (another answer, the same outcome)")
    people = s.CharField()
    reason = s.CharField(help_text="Of the verdict, where a person gave one.")
    votes = TrialVote(many=True)
    first = s.CharField(help_text="What the base says.")
    first_rationale = s.CharField()
    second = s.CharField(help_text="What the version on trial says.")
    second_rationale = s.CharField()


class TrialVersion(s.Serializer):
    title = s.CharField()
    coverage = s.DictField(child=s.IntegerField())
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")
    threshold = s.FloatField(allow_null=True, help_text="The best on these units; null for labels.")
    replies = s.IntegerField()
    latency = s.FloatField(allow_null=True, help_text="Median, in seconds.")
    cost = s.CharField(allow_null=True)
    currency = s.CharField(allow_null=True)
    unpriced = s.IntegerField(help_text="How many replies are of unknown price.")
    tokens_in = s.IntegerField(allow_null=True)
    tokens_out = s.IntegerField(allow_null=True)


class TrialResult(s.Serializer):
    outcome = Remark(help_text="Which version agrees more with people.")
    basis = s.CharField(help_text="pass or fail, or labels")
    units = s.IntegerField(help_text="That both decided and people settled.")
    samples = s.IntegerField()
    reason = Remark(allow_null=True, help_text="Why nothing can be compared.")
    caveat = Remark(allow_null=True, help_text="What to know about intervals from so few samples.")
    own = s.ListField(child=s.DictField(), help_text="The figures of the base, and of the version on trial.")
    difference = s.DictField(help_text="The second less the first, paired, with intervals clustered by sample.")
    versions = TrialVersion(many=True)
    counts = s.DictField(child=s.IntegerField(), help_text="Of the units that differ, by group.")
    held_back = s.IntegerField(help_text="How many are not listed, since you still have their samples to label.")
    flipped = TrialUnit(many=True, help_text="The first hundred of them.")


class TrialInFull(Trial):
    tried = s.IntegerField(help_text="How many versions of the judge were tried on this criterion's dev half.")
    result = TrialResult(allow_null=True, help_text="Null while it is under way.")
