"""A RAG interaction as it was imported. Its units have no rows of their own: see docs/decisions/0001."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

# An address of a unit within a sample (annotate.core.units reads it), as constraints of the database hold it.
UNIT_PATTERN = r"^(answer|sample|(claim|context|fact|entity):(0|[1-9][0-9]{0,5}))$"


class ClaimsSource(models.TextChoices):
    FILE = "file", _("Given in the file")
    SPLIT = "split", _("Split by sentence")
    LABELS = "labels", _("Listed by imported labels")
    EDITED = "edited", _("Edited here")


class AbstainedSource(models.TextChoices):
    """Who says whether an answer abstains."""

    RULE = "rule", _("Proposed by a rule")
    FILE = "file", _("Given in the file")
    LABELS = "labels", _("Treated as an answer by imported labels")
    PERSON = "person", _("Decided manually")


class Sample(models.Model):
    """One question with its answer and what the answer was made from.

    answer: None where there is none: a golden set has questions, a test set of retrieval questions and passages. It is
    never empty.
    contexts: [{"id": str | null, "text": str, "score": float | null}] in rank order.
    claims:   [{"text": str, "start": int | null, "end": int | null, "dropped"?: true, "from"?: [int]}], offsets in
              Unicode code points of `answer`. A dropped claim keeps its place (docs/decisions/0001); "from" names the
              claims that it was made of. `claims_revision` counts the edits.
    abstained: whether the answer only says that it has none; it then has no claims, whatever `claims` holds
    (docs/decisions/0026-abstentions.md). None, and no source, without an answer.
    key_facts, entities: [str].
    group_key: of samples that vary together, such as the answers to one question; empty: the sample stands alone, and
    its group is its own id (`annotate.samples.read.groups_of`).
    composed: it is no interaction, but passages to be judged, or two answers side by side, of which no one who labels
    is told where they are from; it was made for a batch, and stands for no other sample
    (docs/decisions/0059-pooling.md, docs/decisions/0061-side-by-side.md).
    `content_hash` covers everything that was imported but id and group, so that importing the same content again
    changes nothing.
    """

    # The indexes below begin with it.
    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="samples", db_index=False)
    external_id = models.TextField()
    question = models.TextField()
    answer = models.TextField(null=True, blank=True)
    # The other answer to the same question, for the `preference` criterion.
    answer_b = models.TextField(null=True, blank=True)
    reference = models.TextField(null=True, blank=True)
    contexts = models.JSONField(default=list)
    claims = models.JSONField(default=list)
    claims_source = models.CharField(max_length=10, choices=ClaimsSource, default=ClaimsSource.FILE)
    claims_revision = models.PositiveIntegerField(default=1, db_default=1)
    abstained = models.BooleanField(null=True, default=False, db_default=False)
    abstained_source = models.CharField(
        max_length=6, choices=AbstainedSource, blank=True, default=AbstainedSource.RULE, db_default=AbstainedSource.RULE
    )
    key_facts = models.JSONField(default=list)
    entities = models.JSONField(default=list)
    retrieved_doc_ids = ArrayField(models.TextField(), default=list)
    relevant_doc_ids = ArrayField(models.TextField(), default=list)
    pipeline_version = models.TextField(blank=True, default="")
    group_key = models.TextField(blank=True, default="", db_default="")
    composed = models.BooleanField(default=False, db_default=False)
    metadata = models.JSONField(default=dict)
    content_hash = models.BinaryField(max_length=16)
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "external_id"], name="sample_external_id_once_per_project"),
            models.CheckConstraint(
                condition=models.Q(answer__isnull=False) | models.Q(answer_b__isnull=True, claims=[]),
                name="sample_claims_need_an_answer",
            ),
            models.CheckConstraint(
                condition=models.Q(answer__isnull=True, abstained__isnull=True, abstained_source="")
                | models.Q(answer__isnull=False, abstained__isnull=False, abstained_source__in=AbstainedSource.values),
                name="sample_abstained_of_an_answer",
            ),
        ]
        indexes = [
            # Readers: the lists of samples and units, from one row to the next (decision 70), and their counts.
            models.Index(fields=["project", "id"], name="sample_by_project"),
            models.Index(fields=["project", "pipeline_version", "id"], name="sample_by_pipeline"),
            # Which claims aren't there: for the queue of reviewers, which touches no row but those that it shows
            # (annotate.core.units.no_abstention).
            models.Index(fields=["id"], name="sample_abstaining", condition=models.Q(abstained=True)),
            # Reader: other samples with the same question (systems.responses.unlinked_read), a value of 4 bytes each.
            HashIndex(fields=["question"], name="sample_by_question", condition=~models.Q(pipeline_version="")),
            # Most projects have no groups, and this tells at once.
            models.Index(fields=["project"], name="sample_grouped", condition=~models.Q(group_key="")),
        ]

    def __str__(self) -> str:
        return self.external_id


class ClaimEdit(models.Model):
    """One change of a sample's claims by a person. Append-only. `claims`: all of them as they were afterwards."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="claim_edits")
    revision = models.PositiveIntegerField()
    # What was done, with its arguments: {"op": "split", "claim": 2, "at": 17}.
    change = models.JSONField()
    claims = models.JSONField()
    actor = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sample", "revision"], name="claim_edit_revision_once"),
        ]

    def __str__(self) -> str:
        return f"claims of {self.sample_id} r{self.revision}"
