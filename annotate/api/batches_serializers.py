"""What the API takes and replies about batches: what they ask of whom, how far they are, and known answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from alignment.base import estimate
from annotate import models
from annotate.api.serializers import (
    Checked,
    Choice,
    Day,
    FreeObject,
    Listed,
    Names,
    Of,
    Page,
    Remark,
    Shape,
    Stored,
    Text,
    Value,
)
from annotate.batches import anchoring_read, read
from annotate.labels import gold_read
from annotate.projects.read import annotators_of, asked_in


class Selection(Checked, Shape, required="method"):
    says = 'selection: write an object such as {"method": "all"}.'

    method = s.ChoiceField(["all", "filter", "random", "list"])
    filter = FreeObject(help_text="Metadata keys and their values.")
    n = s.IntegerField()
    seed = s.IntegerField()
    samples = s.ListField(
        child=s.CharField(), help_text="The samples' own ids, for a list; the answer has `n` instead."
    )
    note = s.CharField(help_text="Why the samples of a list were chosen.")
    came = s.CharField(
        help_text="drawn, with known chances; or how the samples were chosen: filter, or of a list, where you may say "
        "it, by_hand (if you don't), triage, flipped, disputed, flagged or returned; renewed: labels given anew; "
        "audit: at random among new samples, by an audit schedule."
    )

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict)


class _Settings(Shape, required=""):
    name = Text(code="bad_name")
    criteria = Listed(of=str, says="%(field)s: a list of keys.", child=s.CharField())
    annotators = Names(help_text="User names.")
    overlap = s.IntegerField()
    selection = Selection()
    due_date = Day(allow_null=True, help_text="Today or later (UTC).")
    strategy = s.ChoiceField(["balanced", "pull"], help_text="Shared out when it opens, or a queue.")
    tag_key = s.CharField(
        help_text="A metadata key: samples that have it go to people with its value among their tags."
    )
    overlap_share = s.FloatField(help_text="The share of samples that `overlap` people label.")
    gold_share = s.FloatField(help_text="Tasks with known answers, per task of a person's own.")
    repeat_share = s.FloatField(help_text="Own tasks a second time, per task of a person's own.")
    gold_feedback = s.BooleanField(help_text="Whether known answers are shown after submitting.")
    requires = s.IntegerField(
        allow_null=True, help_text="The id of a qualification: only people who have it get tasks."
    )
    lease_minutes = s.IntegerField(help_text="How long a task taken from the queue is kept.")
    consensus = s.ChoiceField(
        ["majority", "unanimous", "threshold"],
        help_text="What settles a unit: more than half of `overlap` votes, all of them, or a share of your own.",
    )
    settle_share = s.FloatField(
        allow_null=True, help_text="With threshold: the share of the votes, more than 0.5, at most 1."
    )
    settle_votes = s.IntegerField(
        allow_null=True, help_text="With threshold: the least number of votes. “Can't tell” is none."
    )
    proposals = FreeObject(
        help_text="Criterion keys, each with the judge whose values annotators verify. Labels made with them in view "
        "count in no figure on judges or agreement."
    )
    withheld_share = s.FloatField(help_text="The share of groups of samples without proposals, 0.05 to 0.95.")
    single_labels = s.BooleanField(help_text="Whether the label of one person settles a unit, which reports then say.")


class BatchCreation(_Settings, required="name criteria annotators overlap"):
    seed = s.IntegerField()


class BatchChange(_Settings, required=""):
    add = Listed(of=str, says="%(field)s: a list of the samples’ own ids.", child=s.CharField())
    remove = Listed(of=str, says="%(field)s: a list of the samples’ own ids.", child=s.CharField())


class BatchExtension(Shape, required=""):
    due_date = Day(allow_null=True, help_text="A later day.")
    selection = Selection(help_text="More samples; those that the batch has are passed over.")
    annotators = Names(help_text="User names of more people.")


class BatchSelection(Selection, Stored):
    extensions = s.ListField(child=FreeObject(), required=False, help_text="What was chosen later, the same way.")


class Batch(
    Shape,
    of=models.Batch,
    shows="number name status overlap overlap_share strategy tag_key gold_share repeat_share gold_feedback "
    "lease_minutes consensus settle_share settle_votes single_labels_at proposals withheld_share selection seed "
    "due_date samples criteria annotators requires",
):
    requires = s.IntegerField(source="requires_id", allow_null=True, help_text="The id of a qualification.")
    status = Of("draft, open, paused, adjudicating or closed")
    strategy = Of("balanced or pull")
    consensus = Of("majority, unanimous or threshold")
    settle_share = Of("null: not with this rule")
    settle_votes = Of("null: not with this rule")
    single_labels_at = Of("Since when the label of one person settles a unit, by an admin's word; null: it doesn't.")
    selection = BatchSelection()
    samples = s.IntegerField()
    criteria = s.ListField(child=s.CharField())
    annotators = s.ListField(child=s.CharField())

    def get_samples(self, batch: models.Batch) -> int:
        counted: int | None = getattr(batch, "sample_count", None)
        return batch.batch_samples.count() if counted is None else counted

    def get_criteria(self, batch: models.Batch) -> list[str]:
        return [criterion.key for criterion in asked_in(batch)]

    def get_annotators(self, batch: models.Batch) -> list[str]:
        return [user.username for user in annotators_of(batch)]


class SteppedBatch(Batch):
    handed_on = s.IntegerField(help_text="Open tasks of people who have left, which somebody else does now.")
    given_up = s.IntegerField(help_text="Those that nobody else can do; their samples get one label fewer.")


class AnnotatorProgress(
    Shape, of=read.AnnotatorProgress, shows="name total done skipped in_progress active_seconds left"
):
    pass


class CriterionProgress(
    Shape,
    of=read.CriterionProgress,
    shows="key name expected given cant_tell settled single disputed agreed approved not_asked",
):
    cant_tell = Of("Answered, but not with a value.")
    single = Of("Units of one label, which reports leave out until a reviewer approves it.")
    agreed = Of("Of the settled and the single ones: by their labels alone.")
    approved = Of("Of the agreed ones: looked at by a reviewer and found right.")
    not_asked = Of("Samples that lack an answer that the criterion is about.")


class BatchProgress(Shape):
    free = s.IntegerField(help_text="Tasks that wait in the queue.")
    left_out = s.IntegerField(help_text="Samples without anything that the batch asks about: they have no task.")
    annotators = AnnotatorProgress(many=True)
    criteria = CriterionProgress(many=True)


class BatchWithProgress(Batch):
    progress = BatchProgress()


class Settling(Shape):
    needed = s.IntegerField(help_text="How many labels a unit needs.")


class Settled(Shape):
    criterion = s.CharField()
    written = s.IntegerField()


class DrawDeclaration(Shape, required="how"):
    how = Choice(
        ["all", "random", "column", "unknown"],
        code="bad_how",
        says="%(field)s: one of all, random, column and unknown.",
        help_text="All samples were labelled; drawn at random from `population`; each sample's chance stands in its "
        "metadata under `column`; or nothing is known, which takes an earlier word back.",
    )
    population = s.IntegerField(allow_null=True, help_text="With random: of how many samples they were drawn.")
    column = s.CharField(help_text="With column: the metadata key.")


class DrawnBy(Shape):
    how = s.CharField(
        help_text="all, random or planned: by a batch; before: labelled before it, so that they stand for themselves; "
        "declared_all, declared_random or declared_column: labelled elsewhere, by an admin's word"
    )
    samples = s.IntegerField(help_text="How many labelled ones.")
    by = s.CharField(help_text="Who drew or declared it; empty: on the command line.")
    day = s.CharField(help_text="When (UTC).")
    batch = s.IntegerField(allow_null=True, help_text="Its number; null: labels made elsewhere.")


class HowLabelled(Shape):
    known = s.IntegerField(help_text="Labelled samples with a known chance: those that a guarantee rests on.")
    chosen = s.IntegerField(help_text="Labelled samples that are in no guarantee.")
    by = DrawnBy(many=True)
    undeclared = s.IntegerField(help_text="Of the chosen ones: labelled elsewhere, and nothing was declared since.")
    unfinished = s.IntegerField(
        allow_null=True, help_text="The number of a later batch with known chances that is still being labelled."
    )


class Gold(Shape, of=models.GoldAnswer, shows="id sample_id unit criterion version value reason"):
    sample_id = s.CharField(source="sample.external_id")
    criterion = s.CharField(source="criterion.key")
    version = s.IntegerField(source="criterion.version", help_text="Of the criterion.")
    value = Value()


class GoldPage(Page):
    results = Gold(many=True)


class GoldAsked(Shape, required=""):
    to_set_again = Choice(
        ["true", "false"],
        code="bad_to_set_again",
        says="%(field)s: write true or false.",
        help_text="true: those that a change touched.",
    )


class GoldRow(Shape, required="sample_id unit criterion value"):
    sample_id = s.CharField(help_text="The id of the file it came from.")
    unit = s.CharField(help_text="answer, sample, claim:3, context:2, fact:0 or entity:1")
    criterion = s.CharField()
    value = Value()
    reason = s.CharField(help_text="Shown to annotators whose batch gives feedback.")


class GoldChanged(Shape):
    changed = s.IntegerField()


class GoldDrawing(Shape, required="criterion n"):
    criterion = s.CharField()
    n = s.IntegerField(help_text="How many units.")
    seed = s.IntegerField()


class Estimate(Shape, of=estimate.Estimate, shows="value low high level n clusters method reason"):
    n = Of("Units.")
    clusters = Of("Samples that they come from.")
    reason = Remark(allow_null=True, help_text="Why the value or the interval is missing.")


class GoldAccuracy(Shape, of=gold_read.GoldAccuracy, shows="username name right answered cant_tell accuracy"):
    cant_tell = Of("Units of which they said that they can't tell; not counted as answered.")
    accuracy = Estimate()


class Steadiness(Shape, of=gold_read.Steadiness, shows="username name criterion agreement kappa"):
    agreement = Estimate()
    kappa = Estimate()


class CriterionAnchoring(Shape, of=anchoring_read.CriterionAnchoring, shows="criterion name judge more shown withheld"):
    more = Estimate(help_text="How much more often labels agree with the judge where its value was proposed.")
    shown = Estimate(help_text="The share that agrees where it was proposed.")
    withheld = Estimate(help_text="The share that agrees where it was not.")


class ProposalEffect(Shape, of=anchoring_read.ProposalEffect, shows="criteria seconds_shown seconds_withheld"):
    criteria = CriterionAnchoring(many=True)
    seconds_shown = Of("The median of submitted tasks with proposals; null: too few.")
    seconds_withheld = Of("Of those without; null: too few.")


class BatchQuality(Shape):
    gold = GoldAccuracy(many=True, help_text="Against known answers.")
    repeats = Steadiness(many=True, help_text="Second readings against the first.")
    proposals = ProposalEffect(allow_null=True, help_text="How far a judge's proposals pull annotators; null: none.")
