"""What a rater said about a unit; its validated value, or the dispute about it; and the logs of both."""

import uuid

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Now
from django.db.models.lookups import LessThan
from django.utils.translation import gettext_lazy as _

from annotate.models.sample import UNIT_PATTERN


class Label(models.Model):
    """The latest value a rater gave to a unit on a criterion. `value` None: not chosen (a comment may stand alone).

    cant_tell: why no value can be given; "" when one can, or when nothing was decided yet. Answers the question without
    being a vote.
    active_ms: how long the rater was at work on it, while the page was in use; None when it was not measured.
    guideline_version: that of the guidelines which the rater was shown when they last saved it; None when nobody knows.

    evidence: [{"context": int, "start": int, "end": int, "quote": str}], offsets in Unicode code points.
    """

    # Every choice of the labelling loop writes each index: a foreign key has none where one below begins with it.
    # None: made elsewhere and imported.
    task = models.ForeignKey(
        "annotate.Task", on_delete=models.PROTECT, related_name="labels", null=True, blank=True, db_index=False
    )
    rater = models.ForeignKey("annotate.Rater", on_delete=models.PROTECT, related_name="labels")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="labels")
    unit = models.CharField(max_length=20)
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="labels", db_index=False)
    value = models.JSONField(null=True, blank=True)
    cant_tell = models.TextField(blank=True, db_default="")
    comment = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    guideline_version = models.PositiveIntegerField(null=True, blank=True)
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True, db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "unit", "criterion"], condition=Q(task__isnull=False), name="label_once_per_task"
            ),
            models.UniqueConstraint(
                fields=["rater", "sample", "unit", "criterion"],
                condition=Q(task__isnull=True),
                name="label_imported_once_per_rater",
            ),
            models.CheckConstraint(condition=Q(unit__regex=UNIT_PATTERN), name="label_unit_is_address"),
            models.CheckConstraint(condition=Q(revision__gte=1), name="label_revision_at_least_one"),
            models.CheckConstraint(condition=Q(cant_tell="") | Q(value__isnull=True), name="label_value_or_cant_tell"),
        ]
        indexes = [
            # Readers: consensus of one unit; all ratings of a criterion.
            models.Index(fields=["criterion", "sample", "unit"], name="label_by_criterion_unit"),
            # Reader: labels made under a version (annotate.labels.under_guidelines_read). It has no entries of labels,
            # only which versions each part of the table has.
            BrinIndex(fields=["guideline_version"], name="label_by_guidelines", autosummarize=True),
        ]

    def __str__(self) -> str:
        return f"{self.unit} of {self.sample_id}: {self.value}"


class LabelEvent(models.Model):
    """One saved change of a label. Append-only; also the memory that makes a repeated request give the same reply."""

    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="events", db_index=False)
    revision = models.PositiveIntegerField()
    value = models.JSONField(null=True, blank=True)
    cant_tell = models.TextField(blank=True, db_default="")
    comment = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    actor = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True, db_index=False
    )
    # Of a label carried over to a new version of its criterion: the label that it repeats. Its index has only those, so
    # it costs the labelling loop nothing.
    carried_from = models.ForeignKey(
        Label, on_delete=models.PROTECT, related_name="+", null=True, blank=True, db_index=False
    )
    idempotency_key = models.UUIDField(default=uuid.uuid4, unique=True)
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label", "revision"], name="label_event_revision_once"),
        ]
        indexes = [
            # Reader: the trail, newest first (annotate.projects.trail_read).
            models.Index(fields=["-created_at", "-id"], name="label_event_by_time"),
            # Reader: the trail of one person.
            models.Index(fields=["actor", "-created_at"], name="label_event_by_actor"),
            # Reader: PostgreSQL, for each label that is deleted with its project.
            models.Index(fields=["carried_from"], condition=Q(carried_from__isnull=False), name="label_event_carried"),
        ]

    def __str__(self) -> str:
        return f"label {self.label_id} r{self.revision}"


class VerdictState(models.TextChoices):
    SETTLED = "settled", _("Resolved")
    # Labels are in and no rule settles them: a reviewer decides.
    DISPUTED = "disputed", _("Disputed")
    # Adjudicated, then a label it rests on changed: the value stands until a reviewer looks again.
    REOPENED = "reopened", _("Reopened")


class VerdictMethod(models.TextChoices):
    UNANIMOUS = "unanimous", _("Unanimous")
    MAJORITY = "majority", _("Majority")
    ADJUDICATED = "adjudicated", _("Adjudicated")
    # By a reviewer, many at once: the largest share of votes reached the agreement that they stated.
    ACCEPTED = "accepted", _("Accepted in bulk")
    DAWID_SKENE = "dawid_skene", _("Dawid–Skene")


# What a person answers for. Votes that change reopen it; a rule never overwrites it.
DECIDED_METHODS = (VerdictMethod.ADJUDICATED, VerdictMethod.ACCEPTED, VerdictMethod.DAWID_SKENE)
# What the votes settled by themselves. A reviewer may look at it and approve it.
RULED_METHODS = (VerdictMethod.UNANIMOUS, VerdictMethod.MAJORITY)


class Verdict(models.Model):
    """votes: [{"rater": str, "value": …, "revision": int, "label": label id}] that the state was worked out from.

    agreement: share of the votes on the value that most of them gave; None without votes.
    confidence: share of the votes that gave `value`, or its posterior probability (Dawid–Skene); None while disputed.
    decided_votes, decided_at: the votes as they were when a person decided, and when; None when a rule did.
    approved_by, approved_at: who looked at what a rule settled and found it right; gone when the votes change.
    """

    # Found by the index that keeps verdicts unique.
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="verdicts", db_index=False)
    unit = models.CharField(max_length=20)
    # Found by verdict_by_method.
    criterion = models.ForeignKey(
        "annotate.Criterion", on_delete=models.PROTECT, related_name="verdicts", db_index=False
    )
    # The batch that last brought votes, and whose rule and overlap they were counted by; None: none did. Which
    # verdicts are a batch's is another question (annotate.labels.read.of_batch).
    batch = models.ForeignKey("annotate.Batch", on_delete=models.PROTECT, related_name="verdicts", null=True)
    state = models.CharField(max_length=10, choices=VerdictState)
    value = models.JSONField(null=True, blank=True)
    method = models.CharField(max_length=12, choices=VerdictMethod, blank=True)
    votes = models.JSONField(default=list)
    agreement = models.FloatField(null=True, blank=True)
    confidence = models.FloatField(null=True, blank=True)
    reason = models.TextField(blank=True)
    decided_votes = models.JSONField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    approved_by = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True, db_index=False
    )
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sample", "unit", "criterion"], name="verdict_once_per_unit"),
            models.CheckConstraint(
                condition=Q(approved_by__isnull=True, approved_at__isnull=True)
                | Q(
                    approved_by__isnull=False,
                    approved_at__isnull=False,
                    state=VerdictState.SETTLED,
                    method__in=[VerdictMethod.UNANIMOUS, VerdictMethod.MAJORITY],
                ),
                name="verdict_approved_as_ruled",
            ),
            models.CheckConstraint(condition=Q(unit__regex=UNIT_PATTERN), name="verdict_unit_is_address"),
            models.CheckConstraint(condition=Q(state__in=VerdictState.values), name="verdict_state_known"),
            models.CheckConstraint(
                condition=Q(state=VerdictState.DISPUTED, value__isnull=True, method="")
                | (~Q(state=VerdictState.DISPUTED) & Q(value__isnull=False) & ~Q(method="")),
                name="verdict_has_value_unless_disputed",
            ),
            models.CheckConstraint(
                condition=~Q(method__in=[VerdictMethod.ADJUDICATED, VerdictMethod.ACCEPTED])
                | Q(decided_by__isnull=False),
                name="verdict_adjudicated_by_someone",
            ),
        ]
        indexes = [
            # Readers: all verdicts of a criterion; how many were settled how (annotate.verdicts.ground_truth_read).
            models.Index(fields=["criterion", "state", "method"], name="verdict_by_method"),
            # Reader: the reviewer's queue (annotate.verdicts.read), which orders by all that ever needed a person and
            # touches no row that it doesn't show.
            models.Index(
                fields=["criterion", "sample"],
                include=["unit", "state", "agreement", "batch", "id"],
                condition=~Q(state=VerdictState.SETTLED.value)
                | Q(method__in=[method.value for method in DECIDED_METHODS]),
                name="verdict_for_people",
            ),
            # Reader: how many wait (annotate.verdicts.read, annotate.batches.read). A fifth of the one above or less,
            # as most is decided in the end.
            models.Index(
                fields=["criterion", "sample"],
                include=["unit", "state", "agreement", "batch", "id"],
                condition=~Q(state=VerdictState.SETTLED.value),
                name="verdict_waiting",
            ),
            # Reader: units that rest on one label, which a reviewer may approve (annotate.verdicts.read). Most
            # verdicts have more, and no entry.
            models.Index(
                fields=["criterion", "sample"],
                include=["unit", "batch", "id"],
                condition=Q(
                    LessThan(Func(F("votes"), function="jsonb_array_length", output_field=models.IntegerField()), 2),
                    state=VerdictState.SETTLED.value,
                    method__in=[method.value for method in RULED_METHODS],
                    approved_by__isnull=True,
                ),
                name="verdict_single",
            ),
            # Reader: how many a reviewer approved (frontend.adjudicate.disputes).
            models.Index(fields=["criterion"], condition=Q(approved_at__isnull=False), name="verdict_approved"),
        ]

    def __str__(self) -> str:
        return f"{self.unit} of {self.sample_id}: {self.state}"


class VerdictEvent(models.Model):
    """One state that a verdict had. Append-only, written by the database itself whenever a verdict changes."""

    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="events", db_index=False)
    revision = models.PositiveIntegerField()
    state = models.CharField(max_length=10)
    value = models.JSONField(null=True, blank=True)
    method = models.CharField(max_length=12, blank=True)
    votes = models.JSONField(default=list)
    confidence = models.FloatField(null=True, blank=True)
    reason = models.TextField(blank=True)
    # None: by rule. With a method that is a rule's: the reviewer who approved it.
    actor = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["verdict", "revision"], name="verdict_event_by_verdict"),
            # Reader: the trail, newest first (annotate.projects.trail_read).
            models.Index(fields=["-created_at", "-id"], name="verdict_event_by_time"),
            # Reader: the trail of one person. Most are by rule, and cost it nothing.
            models.Index(
                fields=["actor", "-created_at"], condition=Q(actor__isnull=False), name="verdict_event_by_actor"
            ),
        ]

    def __str__(self) -> str:
        return f"verdict {self.verdict_id} r{self.revision}"


class LessonRead(models.Model):
    """An annotator has seen that a reviewer decided otherwise than they had."""

    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey("annotate.User", on_delete=models.CASCADE, related_name="+")
    # Of the verdict, as it was seen: a new decision is a new lesson.
    revision = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "verdict"], name="lesson_read_once")]

    def __str__(self) -> str:
        return f"verdict {self.verdict_id} r{self.revision} by {self.user_id}"


class GoldAnswer(models.Model):
    """The known answer to a criterion about a unit, which gold tasks are measured by."""

    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="gold_answers")
    unit = models.CharField(max_length=20)
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="gold_answers")
    value = models.JSONField()
    # Shown to the annotator with the answer, where the batch gives feedback.
    reason = models.TextField(blank=True)
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sample", "unit", "criterion"], name="gold_answer_once_per_unit"),
            models.CheckConstraint(condition=Q(unit__regex=UNIT_PATTERN), name="gold_answer_unit_is_address"),
        ]

    def __str__(self) -> str:
        return f"{self.unit} of {self.sample_id}: {self.value}"
