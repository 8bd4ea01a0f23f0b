"""What the page for imports tells of the columns of a file: the name of each, what is in it, and whether it has to be
there. The files to begin with are the documents' own (docs/examples/import); docs/formats.md has all spellings and
rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from annotate.models.transfer import ImportKind

TEMPLATES = "examples/import"


@dataclass(frozen=True)
class Column:
    name: str
    what: Any
    required: bool = False
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Help:
    """kind: of the file, which is also the name of its templates."""

    kind: str
    label: Any
    columns: tuple[Column, ...]
    note: Any

    @property
    def csv(self) -> str:
        return f"{TEMPLATES}/{self.kind}.csv"

    @property
    def json(self) -> str:
        return f"{TEMPLATES}/{self.kind}.json"


_SAMPLES = (
    Column("question", gettext_lazy("What the user asked."), required=True),
    Column(
        "id", gettext_lazy("Your name for the sample, once per project. If left out, one is made from its content.")
    ),
    Column("answer", gettext_lazy("What the RAG system answered.")),
    Column("contexts", gettext_lazy("Retrieved passages in rank order: a list of texts or of {id, text, score}.")),
    Column("claims", gettext_lazy("Statements of the answer, as a list. If left out, one per sentence.")),
    Column("reference", gettext_lazy("The right answer, if you have one.")),
    Column("key_facts", gettext_lazy("Facts that a complete answer contains, as a list.")),
    Column("entities", gettext_lazy("Names that the contexts should contain, as a list.")),
    Column("retrieved_doc_ids", gettext_lazy("IDs of the retrieved documents, as a list.")),
    Column("relevant_doc_ids", gettext_lazy("IDs of the relevant documents, as a list.")),
    Column("pipeline_version", gettext_lazy("Which version of the system answered.")),
    Column("group_key", gettext_lazy("The same for samples that belong together, such as turns of one conversation.")),
    Column("abstained", gettext_lazy("true if the answer only says that it has none.")),
    Column("answer_b", gettext_lazy("A second answer to the same question, to compare with the first.")),
)
_LABELS = (
    Column("sample_id", gettext_lazy("The sample’s id, as imported."), required=True),
    Column("criterion", gettext_lazy("The key of a criterion of this project."), required=True),
    Column("rater", gettext_lazy("Who labelled: a user name, or any name."), required=True),
    Column("value", gettext_lazy("One of the criterion’s option values, or a number."), required=True),
    Column("unit", gettext_lazy("answer, sample, claim:0, context:0, fact:0 or entity:0; counting starts at 0.")),
    Column("unit_text", gettext_lazy("The words of the unit, to check that it is the right one.")),
    Column("comment", gettext_lazy("Why this value.")),
    Column("evidence", gettext_lazy("Passages of contexts: a list of {context, start, end, quote}.")),
)
_SCORES = (
    Column("sample_id", gettext_lazy("The sample’s id. Without it, rows are matched by question and answer.")),
    Column("judge", gettext_lazy("The name of the judge or metric.")),
    Column("score", gettext_lazy("A number, or one of the criterion’s option values. Empty: no score.")),
    Column("criterion", gettext_lazy("The key of a criterion, or the judge’s own name for what it measures.")),
    Column("unit", gettext_lazy("answer (default), sample, claim:0, context:0, fact:0 or entity:0.")),
    Column("rationale", gettext_lazy("The judge’s reason.")),
    Column("version", gettext_lazy("Which version of the judge; 1 if left out.")),
    Column("repeat", gettext_lazy("0 for the first time, 1 for the second, …")),
    Column("status", gettext_lazy("How it went:"), values=("ok", "refused", "parse_error", "timeout", "error")),
    Column("higher_is_better", gettext_lazy("false for judges whose low scores are the good ones.")),
    Column("question", gettext_lazy("Finds the sample where there is no sample_id.")),
    Column("answer", gettext_lazy("Finds the sample, together with the question.")),
)

COLUMN_HELP = (
    Help(
        ImportKind.SAMPLES,
        ImportKind.SAMPLES.label,
        _SAMPLES,
        gettext_lazy("Other columns are kept as metadata. In CSV, write lists as JSON."),
    ),
    Help(
        ImportKind.LABELS,
        ImportKind.LABELS.label,
        _LABELS,
        gettext_lazy("Import samples and create criteria first. Other columns are ignored."),
    ),
    Help(
        ImportKind.SCORES,
        ImportKind.SCORES.label,
        _SCORES,
        gettext_lazy("One row per score; or one row per sample with a column of numbers for each metric."),
    ),
)
