"""What the API takes and replies about trials of changed judges."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import Digits, Moment, Of, Page, Remark, Shape, Whole
from judges import models
from judges.api.runs_serializers import Money
from judges.lab import units_read as read
from judges.lab.read import is_under_way


class TrialStart(Shape, required="config criterion"):
    config = s.DictField(help_text="The whole configuration, as for a version of the judge.")
    endpoint = s.CharField(allow_null=True, help_text="Its name, for a judge that asks a model.")
    criterion = s.CharField(help_text="Key of a criterion that the judge answers.")
    samples = Whole(low=1, help_text="How many, from dev; 40 when left out.")
    seed = Whole(allow_null=True, help_text="The same seed draws the same samples again.")
    budget = Money(help_text="Of each of the two runs.")


class Trial(
    Shape,
    of=models.Trial,
    shows="id judge version state base criterion criterion_version dimension seed wanted samples runs is_under_way "
    "alignment candidate created_at created_by",
):
    judge = s.CharField(source="version.judge.name")
    version = s.CharField(source="version.label", help_text="The version that is tried.")
    state = s.CharField(source="version.state", help_text="Of that version: trial, kept or dropped.")
    base = s.CharField(source="base.label", help_text="The version that was in use then.")
    criterion = s.CharField(source="criterion.key")
    criterion_version = s.IntegerField(source="criterion.version")
    dimension = Of("What both call what the criterion asks.")
    wanted = Of("How many samples were asked for.")
    samples = s.IntegerField(help_text="How many it has.")
    runs = s.ListField(child=s.IntegerField(), help_text="Of the new version, then of the base, if that lacked scores.")
    is_under_way = s.BooleanField()
    alignment = s.IntegerField(
        source="alignment_id", allow_null=True, help_text="Of which the version is a candidate; null: a person made it."
    )
    candidate = Of("By what name.")
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True)

    def get_samples(self, trial: models.Trial) -> int:
        return len(trial.samples)

    def get_runs(self, trial: models.Trial) -> list[int]:
        return [run for run in (trial.run_id, trial.base_run_id) if run is not None]

    def get_is_under_way(self, trial: models.Trial) -> bool:
        return is_under_way(trial)


class TrialPage(Page):
    results = Trial(many=True)


class TrialVote(Shape, of=read.Vote, shows="who value cant_tell comment evidence"):
    value = Of("Null: could not tell.")
    evidence = s.ListField(child=s.DictField(), help_text="Places in contexts: `context`, from 1, and the `quote`.")


class TrialUnit(
    Shape,
    of=read.Unit,
    shows="sample unit text group people reason votes first first_rationale second second_rationale",
):
    sample = Of("Its own id.", source="external_id")
    group = Of("mended, broken, both_wrong or changed (another answer, the same outcome)")
    reason = Of("Of the verdict, where a person gave one.")
    votes = TrialVote(many=True)
    first = Of("What the base says.")
    second = Of("What the version on trial says.")


class TrialVersion(Shape):
    title = s.CharField()
    coverage = s.DictField(child=s.IntegerField())
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")
    threshold = s.FloatField(allow_null=True, help_text="The best on these units; null for labels.")
    replies = s.IntegerField()
    latency = s.FloatField(allow_null=True, help_text="Median, in seconds.")
    cost = Digits(allow_null=True)
    unpriced = s.IntegerField(help_text="How many replies are of unknown price.")
    tokens_in = s.IntegerField(allow_null=True)
    tokens_out = s.IntegerField(allow_null=True)
    currency = s.CharField(allow_null=True)


class TrialResult(Shape):
    outcome = Remark(help_text="Which version agrees more with people.")
    basis = s.CharField(help_text="pass or fail, or labels")
    units = s.IntegerField(help_text="That both decided and people settled.")
    samples = s.IntegerField()
    reason = Remark(allow_null=True, help_text="Why nothing can be compared.")
    own = s.ListField(
        child=s.DictField(child=Estimate()), help_text="The figures of the base, and of the version on trial."
    )
    difference = s.DictField(
        child=Estimate(), help_text="The second less the first, paired, with intervals clustered by sample."
    )
    caveat = Remark(allow_null=True, help_text="What to know about intervals from so few samples.")
    learned = Remark(allow_null=True, help_text="That the version on trial was made from labels of the dev set.")
    versions = TrialVersion(many=True)
    counts = s.DictField(child=s.IntegerField(), help_text="Of the units that differ, by group.")
    held_back = s.IntegerField(help_text="How many are not listed, since you still have their samples to label.")
    flipped = TrialUnit(many=True, help_text="The first hundred of them.")


class TrialInFull(Trial):
    tried = s.IntegerField(help_text="How many versions of the judge were tried on this criterion's dev half.")
    result = TrialResult(allow_null=True, help_text="Null while it is under way.")
