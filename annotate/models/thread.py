"""What annotators ask reviewers about their tasks, and what is answered."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotate.models.sample import UNIT_PATTERN


class ThreadState(models.TextChoices):
    # The annotator wrote last: a reviewer is to answer.
    WAITING = "waiting", _("Waiting for an answer")
    ANSWERED = "answered", _("Answered")
    CLOSED = "closed", pgettext_lazy("a question", "Closed")


class Thread(models.Model):
    """A question of an annotator about their task, with all that was said about it since. Other annotators never see
    it, whoever gets the task later.

    unit, criterion: what it is about; "" and None: the sample.
    length: how many messages it has. last_answer: the number of the last one that is not the annotator's, 0 for none.
    read_to: the number of the last one that the annotator has seen.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="threads", db_index=False)
    # As the task's, which is seldom read with it.
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="threads")
    task = models.ForeignKey("annotate.Task", on_delete=models.PROTECT, related_name="threads")
    asked_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+", db_index=False)
    unit = models.CharField(max_length=20, blank=True)
    criterion = models.ForeignKey(
        "annotate.Criterion", on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    state = models.CharField(max_length=8, choices=ThreadState, default=ThreadState.WAITING)
    length = models.PositiveIntegerField(default=0)
    last_answer = models.PositiveIntegerField(default=0)
    read_to = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=ThreadState.values), name="thread_state_known"),
            models.CheckConstraint(condition=Q(unit="") | Q(unit__regex=UNIT_PATTERN), name="thread_unit_is_address"),
            models.CheckConstraint(
                condition=Q(criterion__isnull=True, unit="") | (Q(criterion__isnull=False) & ~Q(unit="")),
                name="thread_criterion_of_unit",
            ),
            models.CheckConstraint(
                condition=Q(last_answer__lte=F("length"), read_to__lte=F("length")), name="thread_numbers_in_it"
            ),
        ]
        indexes = [
            # Reader: the reviewers' list (annotate.tasks.threads_read).
            models.Index(fields=["project", "state", "-id"], name="thread_by_state"),
            # Reader: an annotator's own, and how many have an answer that they have not read.
            models.Index(fields=["asked_by", "project", "-id"], name="thread_by_asker"),
        ]

    def __str__(self) -> str:
        return f"thread {self.pk} on {self.sample_id}"

    @property
    def is_new(self) -> bool:
        """Whether there is an answer that the annotator has not seen."""
        return self.last_answer > self.read_to


class ThreadMessage(models.Model):
    """Append-only; also the memory that makes a repeated request write nothing."""

    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="messages", db_index=False)
    number = models.PositiveIntegerField()
    author = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    idempotency_key = models.UUIDField(default=uuid.uuid4, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["thread", "number"], name="thread_message_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1) & ~Q(text=""), name="thread_message_says_something"),
        ]

    def __str__(self) -> str:
        return f"message {self.number} of thread {self.thread_id}"
