"""What systems are asked: questions with their revisions, and sets of them that are frozen under a number."""

from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class QuestionKind(models.TextChoices):
    UNKNOWN = "", _("Not stated")
    SIMPLE = "simple", _("Simple")
    REASONING = "reasoning", _("Reasoning")
    MULTI_HOP = "multi_hop", _("Multi-hop")
    CONDITIONAL = "conditional", _("Conditional")
    # The right answer is that there is none.
    UNANSWERABLE = "unanswerable", _("Unanswerable")
    CONVERSATION = "conversation", _("Conversation")


class Question(models.Model):
    """One question that any version of a system may be asked. It has no answer; what it says stands in its revisions.

    group_key: of questions that vary together (near duplicates, turns of a conversation); its own id where it stands
    alone. All samples that answer it have this group (Sample.group_key).
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="questions")
    external_id = models.TextField()
    group_key = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "external_id"], name="question_id_once_per_project"),
            models.CheckConstraint(condition=~Q(external_id="") & ~Q(group_key=""), name="question_has_id_and_group"),
        ]

    def __str__(self) -> str:
        return self.external_id


class QuestionRevision(models.Model):
    """What a question said from some time on. Never changed: responses and frozen sets rest on it.

    key_facts, entities: [str]. relevant: {document id: grade}, as the set's makers gave it. earlier_turns: of a
    conversation, [{"role": str, "text": str}], the oldest first. content_hash covers all of it.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    text = models.TextField()
    reference = models.TextField(null=True, blank=True)
    key_facts = models.JSONField(default=list)
    entities = models.JSONField(default=list)
    relevant = models.JSONField(default=dict)
    kind = models.CharField(max_length=12, choices=QuestionKind, blank=True, default=QuestionKind.UNKNOWN)
    difficulty = models.TextField(blank=True, default="")
    category = models.TextField(blank=True, default="")
    earlier_turns = models.JSONField(default=list)
    metadata = models.JSONField(default=dict)
    content_hash = models.BinaryField(max_length=16)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["question", "number"], name="question_revision_once"),
            models.CheckConstraint(condition=Q(kind__in=QuestionKind.values), name="question_kind_known"),
            models.CheckConstraint(condition=~Q(text=""), name="question_has_a_text"),
        ]
        # Reader: the question that samples say (systems.responses.unlinked_read).
        indexes = [HashIndex(fields=["text"], name="question_by_text")]

    def __str__(self) -> str:
        return f"{self.question_id} r{self.number}"


class QuestionSet(models.Model):
    """A test set that is still being put together. Its frozen numbers are what systems are compared on."""

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="question_sets")
    name = models.SlugField(max_length=60, db_index=False)
    # What the next number will hold, in this order; after freezing, what the last one holds.
    revisions = models.ManyToManyField(QuestionRevision, through="QuestionSetEntry", related_name="+")
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="question_set_name_once_per_project"),
        ]

    def __str__(self) -> str:
        return self.name


class QuestionSetEntry(models.Model):
    """A question of the set as it is now, by the revision that would be frozen."""

    question_set = models.ForeignKey(QuestionSet, on_delete=models.PROTECT, related_name="entries")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="+")
    revision = models.ForeignKey(QuestionRevision, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["question_set", "question"], name="question_once_per_set"),
        ]

    def __str__(self) -> str:
        return f"{self.question_id} in {self.question_set_id}"


class FrozenSet(models.Model):
    """A test set under a number, `name@number`: never changed again.

    manifest: {"set", "questions", "revisions": [[question id, revision number, content hash]], "kinds", "categories",
    "added", "removed", "changed": ids against the number before}; `sha256` is of its canonical JSON.
    """

    question_set = models.ForeignKey(QuestionSet, on_delete=models.PROTECT, related_name="frozen")
    number = models.PositiveIntegerField()
    manifest = models.JSONField()
    sha256 = models.CharField(max_length=64)
    frozen_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    frozen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["question_set", "number"], name="frozen_set_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="frozen_set_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.question_set_id}@{self.number}"


class FrozenQuestion(models.Model):
    """A question of a frozen set, as it was then."""

    frozen_set = models.ForeignKey(FrozenSet, on_delete=models.PROTECT, related_name="questions")
    revision = models.ForeignKey(QuestionRevision, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["frozen_set", "position"], name="frozen_question_position_once"),
            models.UniqueConstraint(fields=["frozen_set", "revision"], name="frozen_question_once"),
        ]

    def __str__(self) -> str:
        return f"{self.revision_id} in {self.frozen_set_id}"


class Relevance(models.Model):
    """How relevant a document is to a question, by a file of judgements: a grade from 0. What came with a question is
    in its revisions, and what people say in the verdicts of its passages (systems.questions.relevant_read)."""

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="relevances")
    document_id = models.TextField()
    grade = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "document_id"], name="relevance_once"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} for {self.question_id}: {self.grade}"


class Holds(models.TextChoices):
    """Whose word on the relevance of a document counts."""

    IMPORTED = "imported", _("Imported")
    PEOPLE = "people", _("Annotators")


class RelevanceDecision(models.Model):
    """A reviewer's word on a document of which imported judgements and people say different things. It is on these two
    grades: once one of them is another, it decides nothing."""

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="relevance_decisions")
    document_id = models.TextField()
    imported = models.PositiveIntegerField()
    people = models.PositiveIntegerField()
    holds = models.CharField(max_length=8, choices=Holds)
    decided_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "document_id"], name="relevance_decision_once"),
            models.CheckConstraint(condition=Q(holds__in=Holds.values), name="relevance_decision_of_one"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} for {self.question_id}: {self.holds}"


class ComposedSample(models.Model):
    """What came from several versions for a question, in a sample of its own in which nothing says from which: passages
    that they retrieved, as its contexts, or two answers, in the order of chance.

    documents: of each context the ids of the documents that have this text; an id may say which version retrieved it.
    first, second: the responses whose answers are A and B; None of passages.
    """

    sample = models.OneToOneField("annotate.Sample", on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="composed")
    documents = models.JSONField(default=list)
    first = models.ForeignKey("systems.Response", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    second = models.ForeignKey("systems.Response", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(first__isnull=True, second__isnull=True) | Q(first__isnull=False, second__isnull=False),
                name="composed_of_two_answers_or_none",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.sample_id} of {self.question_id}"
