"""A batch sends samples to annotators; a task is one annotator's copy of one sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q, Value
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

if TYPE_CHECKING:
    from annotate.models.project import Criterion


class BatchStatus(models.TextChoices):
    DRAFT = "draft", _("Draft")
    OPEN = "open", pgettext_lazy("a batch", "Open")
    # No one labels for now; everything stays where it is.
    PAUSED = "paused", _("Paused")
    ADJUDICATING = "adjudicating", _("Adjudicating")
    CLOSED = "closed", pgettext_lazy("a batch", "Closed")


# Labelling goes on, at once or after a pause.
RUNNING_BATCH_STATUSES = (BatchStatus.OPEN, BatchStatus.PAUSED)


class Strategy(models.TextChoices):
    # Every task has its person from the start; loads are equal.
    BALANCED = "balanced", _("Balanced")
    # Tasks wait for annotators to ask for one; a task that is taken and left comes back when its lease has run out.
    PULL = "pull", _("Queue")


class ConsensusRule(models.TextChoices):
    # More than half of the votes settle a unit.
    MAJORITY = "majority", _("Majority")
    # Only votes that all agree do; a reviewer sees the rest.
    UNANIMOUS = "unanimous", _("Unanimous")
    # A share (Batch.settle_share) of at least so many votes (Batch.settle_votes) does; a reviewer sees the rest.
    THRESHOLD = "threshold", _("Threshold")


class Came(models.TextChoices):
    """How the samples of a batch came to be asked about (decision 29)."""

    # With a known chance: their labels can stand for other samples.
    DRAWN = "drawn", _("Drawn with a known probability")
    FILTER = "filter", _("Matching a filter")
    BY_HAND = "by_hand", _("Listed by ID")
    TRIAGE = "triage", _("Left to human review by a judge")
    FLIPPED = "flipped", _("A judge’s decision changed")
    DISPUTED = "disputed", _("Annotators or judges disagreed")
    FLAGGED = "flagged", _("Flagged")
    RETURNED = "returned", _("Labelled again")
    # Labels on an earlier version of the criterion are given anew: each came as the one that it renews.
    RENEWED = "renewed", _("Relabelled after a criterion change")
    # At random, but among new samples only: they stand for these, not for the project's others (decision 45).
    AUDIT = "audit", _("Drawn at random from new samples by an audit schedule")
    # Groups at random, with the answers of all compared versions to a question: they stand for the questions of an
    # experiment, not for the project's samples (decision 54).
    EXPERIMENT = "experiment", _("Drawn at random from the questions of an experiment")
    # Passages that versions of a system retrieved for questions (decision 59).
    POOL = "pool", _("Retrieved by the versions of a system")


# What may be said of a list of samples.
CHOSEN_BY_PEOPLE = (Came.BY_HAND, Came.TRIAGE, Came.FLIPPED, Came.DISPUTED, Came.FLAGGED, Came.RETURNED, Came.POOL)


# The share of groups without proposals, unless an admin says otherwise.
WITHHELD = 0.2


class Batch(models.Model):
    """tag_key: the metadata key whose value says which expertise a sample needs (Membership.tags); "": none."""

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="batches")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    status = models.CharField(max_length=12, choices=BatchStatus, default=BatchStatus.DRAFT)
    overlap = models.PositiveSmallIntegerField(default=2)
    # The share of samples, drawn at random, that `overlap` people label; one person labels each of the others.
    overlap_share = models.FloatField(default=1, db_default=1)
    strategy = models.CharField(
        max_length=10, choices=Strategy, default=Strategy.BALANCED, db_default=Strategy.BALANCED.value
    )
    tag_key = models.CharField(max_length=200, blank=True, default="", db_default="")
    lease_minutes = models.PositiveSmallIntegerField(default=30, db_default=30)
    # Tasks with known answers, and tasks that come a second time, per task of an annotator's own.
    gold_share = models.FloatField(default=0, db_default=0)
    repeat_share = models.FloatField(default=0, db_default=0)
    # Whether the annotator learns the known answer once a gold task is submitted.
    gold_feedback = models.BooleanField(default=False, db_default=False)
    # {criterion key: name of the judge whose values annotators verify}, and the share of groups that get none of them.
    proposals = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
    withheld_share = models.FloatField(default=WITHHELD, db_default=WITHHELD)
    consensus = models.CharField(
        max_length=10,
        choices=ConsensusRule,
        default=ConsensusRule.MAJORITY,
        db_default=ConsensusRule.MAJORITY.value,
    )
    # Of the rule of a threshold only. More than half, so that no two values can reach it.
    settle_share = models.FloatField(null=True, blank=True)
    settle_votes = models.PositiveSmallIntegerField(null=True, blank=True)
    # Since when the label of one person settles a unit of this batch, and which admin said so; None: it takes a
    # reviewer or a second label (annotate.labels.settled_read). By None: on the command line.
    single_labels_at = models.DateTimeField(null=True, blank=True)
    single_labels_by = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    # The version of a criterion whose labels this batch gives anew; None for any other batch.
    relabels = models.ForeignKey(
        "annotate.Criterion", on_delete=models.PROTECT, null=True, blank=True, related_name="relabelled_by"
    )
    # Of a round, the training or the test of a qualification: which one's. Pages and lists of batches leave rounds out.
    qualification = models.ForeignKey(
        "annotate.Qualification", on_delete=models.PROTECT, null=True, blank=True, related_name="rounds"
    )
    # Only people who are qualified get tasks.
    requires = models.ForeignKey(
        "annotate.Qualification", on_delete=models.PROTECT, null=True, blank=True, related_name="required_by"
    )
    # How the samples were chosen: {"method": "all" | "filter" | "random" | "list", "filter": {...}, "n": int,
    # "seed": int, "note": why those of a list, "came": how (Came)}.
    selection = models.JSONField(default=dict)
    # Seed of the assignment, so that it can be made again.
    seed = models.BigIntegerField()
    due_date = models.DateField(null=True, blank=True)
    samples = models.ManyToManyField("annotate.Sample", through="BatchSample", related_name="batches")
    criteria = models.ManyToManyField("annotate.Criterion", through="BatchCriterion", related_name="batches")
    annotators = models.ManyToManyField("annotate.User", related_name="batches")
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="batch_number_once_per_project"),
            models.CheckConstraint(condition=Q(status__in=BatchStatus.values), name="batch_status_known"),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="batch_overlap_at_least_one"),
            models.CheckConstraint(
                condition=Q(overlap_share__gte=0, overlap_share__lte=1), name="batch_overlap_share_is_share"
            ),
            models.CheckConstraint(
                condition=Q(gold_share__gte=0, gold_share__lte=1, repeat_share__gte=0, repeat_share__lte=1),
                name="batch_gold_and_repeats_are_shares",
            ),
            models.CheckConstraint(
                condition=Q(withheld_share__gt=0, withheld_share__lt=1), name="batch_withheld_share_is_part"
            ),
            models.CheckConstraint(condition=Q(strategy__in=Strategy.values), name="batch_strategy_known"),
            models.CheckConstraint(condition=Q(consensus__in=ConsensusRule.values), name="batch_consensus_known"),
            models.CheckConstraint(
                condition=Q(
                    consensus=ConsensusRule.THRESHOLD,
                    settle_share__isnull=False,
                    settle_share__gt=0.5,
                    settle_share__lte=1,
                    settle_votes__isnull=False,
                    settle_votes__gte=1,
                )
                | (~Q(consensus=ConsensusRule.THRESHOLD) & Q(settle_share__isnull=True, settle_votes__isnull=True)),
                name="batch_threshold_of_more_than_half",
            ),
            models.CheckConstraint(condition=Q(lease_minutes__gte=1), name="batch_lease_at_least_a_minute"),
            models.UniqueConstraint(
                fields=["qualification", "gold_feedback"],
                condition=Q(qualification__isnull=False),
                name="batch_one_training_and_one_test",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project_id}/{self.number}"

    def asked_criteria(self) -> list[Criterion]:
        """The criteria the batch asks, in their order. One query."""
        return [row.criterion for row in self.batch_criteria.select_related("criterion").order_by("position")]


class BatchSample(models.Model):
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="batch_samples")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    # How many people label this sample.
    overlap = models.PositiveSmallIntegerField(default=1, db_default=1)
    # The expertise it needs, from its metadata; "": any.
    tag = models.TextField(blank=True, default="", db_default="")
    # Where chances are known (of all samples 1, of n at random of N n/N, or of a planned draw): this sample's own, and
    # the stratum that it was drawn from, from 1. None: chosen in any other way, so that it stands for no other sample.
    probability = models.FloatField(null=True, blank=True)
    stratum = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "sample"], name="batch_sample_once"),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="batch_sample_overlap_at_least_one"),
            models.CheckConstraint(
                condition=Q(probability__isnull=True, stratum__isnull=True)
                | Q(
                    probability__isnull=False,
                    probability__gt=0,
                    probability__lte=1,
                    stratum__isnull=False,
                    stratum__gte=1,
                ),
                name="batch_sample_chance_with_stratum",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.sample_id}"


class BatchCriterion(models.Model):
    """Pins the version of the criterion that the batch asks."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="batch_criteria")
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["batch", "criterion"], name="batch_criterion_once")]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.criterion_id}"


class ProposedValues(models.Model):
    """What a judge proposes for the units of a sample of a batch, as it was when their tasks were made (decision 46).

    judge, version: by name. proposed: {unit: value}, without units that have no score. shown: whether annotators see
    it, which is drawn for each group of samples; withheld_chance: with what chance they would not.
    """

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="proposed", db_index=False)
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="+")
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="+")
    judge = models.TextField()
    version = models.TextField()
    proposed = models.JSONField()
    shown = models.BooleanField()
    withheld_chance = models.FloatField()

    class Meta:
        constraints = [
            # Reader: the task's payload (annotate.tasks.read), with each task that is handed out.
            models.UniqueConstraint(fields=["batch", "sample", "criterion"], name="proposed_once_per_criterion"),
            models.CheckConstraint(
                condition=Q(withheld_chance__gt=0, withheld_chance__lte=1), name="proposed_withheld_with_chance"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.sample_id} by {self.judge}"


class HowDeclared(models.TextChoices):
    ALL = "all", _("All available samples were labelled")
    RANDOM = "random", _("Drawn at random")
    COLUMN = "column", _("Each sample’s probability is in its metadata")
    # Takes an earlier word back; never stored.
    UNKNOWN = "unknown", _("Unknown: not counted in guarantees")


class DeclaredDraw(models.Model):
    """How the samples came that were labelled elsewhere, on one criterion in all of its versions, by an admin's word.

    It is about the labels there were at that time. labelled: of how many samples these are. population: of how many
    samples they were drawn (random). column: the metadata key with each sample's chance (column).
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="declared_draws")
    key = models.SlugField(max_length=60, db_index=False)
    how = models.CharField(max_length=7, choices=HowDeclared)
    labelled = models.PositiveIntegerField()
    population = models.PositiveIntegerField(null=True, blank=True)
    column = models.TextField(blank=True, default="")
    declared_at = models.DateTimeField()
    # By None: on the command line.
    declared_by = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="declared_draw_once_per_criterion"),
            models.CheckConstraint(
                condition=Q(how=HowDeclared.ALL, population__isnull=True, column="")
                | (
                    Q(how=HowDeclared.RANDOM, population__isnull=False, column="")
                    & Q(population__gte=models.F("labelled"))
                )
                | (Q(how=HowDeclared.COLUMN, population__isnull=True) & ~Q(column="")),
                name="declared_draw_says_what_it_takes",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project_id}, {self.key}: {self.how}"


class TaskStatus(models.TextChoices):
    PENDING = "pending", _("Pending")
    IN_PROGRESS = "in_progress", _("In progress")
    SUBMITTED = "submitted", _("Submitted")
    RETURNED = "returned", _("Sent back")
    SKIPPED = "skipped", _("Skipped")
    # Taken from its annotator and given to another. Its labels stay stored, and count for nothing.
    RELEASED = "released", _("Reassigned")


class Purpose(models.TextChoices):
    """Why an annotator gets a sample. They never learn it before submitting."""

    LABEL = "label", _("Label")
    # The answers are known: it measures the annotator.
    GOLD = "gold", _("Known answer")
    # The annotator labelled it before: it measures how steady they are.
    REPEAT = "repeat", _("Repeat")


OPEN_TASK_STATUSES = (TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.RETURNED)
_IS_OPEN = Q(status__in=[status.value for status in OPEN_TASK_STATUSES])
# For statements by hand that use the indexes below: PostgreSQL takes one only where its condition is written out.
OPEN_TASK_STATUSES_SQL = "({})".format(", ".join(f"'{status.value}'" for status in OPEN_TASK_STATUSES))


class Task(models.Model):
    # The indexes below begin with batch and annotator, and serve wherever a foreign key's own would; no query looks
    # for a task by who returned it. Each step of a task writes all of its indexes anew.
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="tasks", db_index=False)
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="tasks")
    # None: waits in the pull queue until an annotator asks for a task.
    annotator = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, related_name="tasks", null=True, blank=True, db_index=False
    )
    purpose = models.CharField(max_length=6, choices=Purpose, default=Purpose.LABEL, db_default=Purpose.LABEL.value)
    # As BatchSample.tag; here because the queue is searched by it.
    tag = models.TextField(blank=True, default="", db_default="")
    # Of a task taken from the pull queue: from then on another annotator may have it.
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    position = models.PositiveIntegerField()
    status = models.CharField(max_length=12, choices=TaskStatus, default=TaskStatus.PENDING)
    skip_reason = models.TextField(blank=True)
    # What the reviewer asks for; stays until the next submission.
    return_message = models.TextField(blank=True, default="", db_default="")
    returned_by = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True, db_index=False
    )
    active_seconds = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "sample", "annotator", "purpose"], name="task_once_per_annotator"),
            models.CheckConstraint(condition=Q(purpose__in=Purpose.values), name="task_purpose_known"),
            models.CheckConstraint(
                condition=Q(annotator__isnull=False) | Q(status=TaskStatus.PENDING, purpose=Purpose.LABEL),
                name="task_begun_by_someone",
            ),
            models.CheckConstraint(
                condition=~Q(status=TaskStatus.RETURNED) | ~Q(return_message=""), name="task_returned_with_message"
            ),
            models.CheckConstraint(condition=Q(status__in=TaskStatus.values), name="task_status_known"),
            models.CheckConstraint(
                condition=~Q(status=TaskStatus.SKIPPED) | ~Q(skip_reason=""), name="task_skipped_with_reason"
            ),
            models.CheckConstraint(
                condition=~Q(status=TaskStatus.SUBMITTED) | Q(submitted_at__isnull=False),
                name="task_submitted_has_time",
            ),
        ]
        indexes = [
            # Reader: "my next task" (annotate.tasks.read.next_task); holds open tasks only, so it stays small.
            models.Index(
                fields=["annotator", "batch", "position"],
                condition=_IS_OPEN,
                name="task_open_by_annotator",
            ),
            # Reader: "my next task" too: what a reviewer sent back comes first.
            models.Index(
                fields=["annotator", "batch", "position"],
                condition=_IS_OPEN & ~Q(return_message=""),
                name="task_returned_by_annotator",
            ),
            # Reader: how far an annotator has come in a pull queue: the last position of each tag.
            models.Index(
                fields=["annotator", "batch", "tag", "position"],
                condition=Q(annotator__isnull=False),
                name="task_by_annotator",
            ),
            # Reader: the end of the queue, where freed tasks go.
            models.Index(fields=["batch", "position"], name="task_by_batch"),
            # Reader: how many of them are done, which touches no row; a fifteenth of the table's size.
            models.Index(fields=["batch", "purpose", "status"], name="task_by_status"),
            # Reader: the pull queue (annotate.tasks.task_queue): the first free task of a tag, and lapsed leases.
            models.Index(
                fields=["batch", "tag", "position"],
                condition=Q(annotator__isnull=True, status="pending"),
                name="task_free_by_batch",
            ),
            models.Index(
                fields=["batch", "lease_expires_at"],
                condition=Q(lease_expires_at__isnull=False, status__in=[s.value for s in OPEN_TASK_STATUSES]),
                name="task_leased_by_batch",
            ),
            # Reader: the reviewer's queue, which leaves out what was sent back (annotate.verdicts.read).
            models.Index(
                fields=["sample"],
                condition=_IS_OPEN & ~Q(return_message=""),
                name="task_sent_back",
            ),
        ]

    def __str__(self) -> str:
        return f"task {self.pk}"
