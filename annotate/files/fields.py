"""Which column is which field: guessed from the spellings in use, changed by a person where the guess is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as with_default
from functools import cached_property

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid

METADATA, IGNORE = "metadata", "ignore"
_SEPARATORS = re.compile(r"[\s_\-]+")


@dataclass(frozen=True)
class Fields:
    """The fields of one kind of file and how their columns are spelled, most likely spelling first.

    A column that no field claims becomes `rest`. repeatable: fields that several columns may have. ignored: columns of
    our own exports that say what people said since; a mapping can use them. instead: a required field -> the one that
    may stand in its place.
    """

    spellings: Mapping[str, tuple[str, ...]]
    required: tuple[str, ...]
    rest: str
    repeatable: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    instead: Mapping[str, str] = with_default(default_factory=dict)

    @cached_property
    def _ranked(self) -> dict[str, tuple[int, str]]:
        """Spelling -> its rank among those of its field, and the field."""
        return {
            squeeze(name): (rank, field)
            for field, names in self.spellings.items()
            for rank, name in reversed(list(enumerate(names)))
        }

    @cached_property
    def _ignored(self) -> frozenset[str]:
        return frozenset(map(squeeze, self.ignored))

    @property
    def targets(self) -> list[str]:
        """What a column may be mapped to."""
        return [*self.spellings, *([METADATA] if self.rest == METADATA else []), IGNORE]

    def resolve(self, columns: Iterable[str], chosen: Mapping[str, str]) -> dict[str, str]:
        """Column -> field. Of two columns for one field the likelier spelling wins; what was chosen always wins."""
        mapping: dict[str, str] = {}
        taken = {field for field in chosen.values() if field not in (METADATA, IGNORE)}
        best: dict[str, tuple[int, str]] = {}
        for column in columns:
            if column in chosen:
                mapping[column] = chosen[column]
                continue
            mapping[column] = self.rest if column and squeeze(column) not in self._ignored else IGNORE
            guess = self._ranked.get(squeeze(column))
            if guess is None or guess[1] in taken:
                continue
            rank, field = guess
            if field not in best or rank < best[field][0]:
                best[field] = (rank, column)
        for field, (_rank, column) in best.items():
            mapping[column] = field
        return mapping

    def check_choice(self, chosen: object) -> dict[str, str]:
        """The mapping a person sent, if it is one. Raises Invalid."""
        if not isinstance(chosen, dict) or not all(
            isinstance(k, str) and isinstance(v, str) for k, v in chosen.items()
        ):
            raise Invalid(
                "invalid_mapping", _('mapping: must be an object of column: field, such as {"q": "question"}.')
            )
        seen: dict[str, str] = {}
        for column, field in chosen.items():
            if field not in self.targets:
                raise Invalid(
                    "invalid_mapping",
                    _("Field “%(field)s” not found. Column “%(column)s” must be one of %(targets)s.")
                    % {"field": field, "column": column, "targets": ", ".join(self.targets)},
                )
            if field in seen and field not in (METADATA, IGNORE) and field not in self.repeatable:
                raise Invalid(
                    "invalid_mapping",
                    _("“%(other)s” and “%(column)s” are both mapped to “%(field)s”. Map only one of them.")
                    % {"other": seen[field], "column": column, "field": field},
                )
            seen[field] = column
        return chosen


def squeeze(name: str) -> str:
    """Spellings that differ only in case, blanks, _ and - are one."""
    return _SEPARATORS.sub("", name.lower())


# Columns of these names were metadata before they became fields, or were ignored, one tuple after the other: what was
# imported then is still found unchanged.
_LATER_DOC_IDS = ("source_doc_id", "source_doc_ids")
LATER_SPELLINGS = (_LATER_DOC_IDS, ("abstained",), ("group_key",), ("corrected_answer",))

SAMPLE_FIELDS = Fields(
    spellings={
        "id": ("id", "sample_id", "external_id", "example_id", "uid"),
        "question": ("question", "user_input", "query", "input", "prompt"),
        "answer": ("answer", "response", "rag_answer", "actual_output", "generated_answer", "output", "answer_a"),
        "answer_b": ("answer_b", "response_b"),
        "reference": (
            "reference",
            "reference_answer",
            "ground_truth",
            "ground_truths",
            "expected_output",
            "expected_answer",
            "gold_answer",
        ),
        "contexts": (
            "contexts",
            "retrieved_contexts",
            "retrieval_context",
            "retrieved_context",
            "context",
            "passages",
            "documents",
        ),
        "claims": ("claims", "statements"),
        "key_facts": ("key_facts", "facts"),
        "entities": ("entities",),
        "retrieved_doc_ids": ("retrieved_doc_ids", "retrieved_context_ids"),
        "relevant_doc_ids": ("relevant_doc_ids", "reference_context_ids", *_LATER_DOC_IDS),
        "pipeline_version": ("pipeline_version",),
        "group_key": ("group_key",),
        "abstained": ("abstained",),
    },
    required=("question",),
    rest=METADATA,
    ignored=frozenset({"corrected_answer"}),
)

LABEL_FIELDS = Fields(
    spellings={
        "sample_id": ("sample_id", "sample", "id", "external_id"),
        "unit": ("unit",),
        "unit_text": ("unit_text",),
        "criterion": ("criterion", "dimension"),
        "rater": ("rater", "annotator", "rater_id", "annotator_id"),
        "value": ("value", "label", "rating"),
        "comment": ("comment", "note"),
        "evidence": ("evidence",),
    },
    required=("sample_id", "criterion", "rater", "value"),
    rest=IGNORE,
)
