"""Rows of a file of questions, checked: what each says, under which id, in which group."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from annotate.files import cells as values
from annotate.files.cells import kind_of, structured, wrong_type
from annotate.files.common_fields import Read, from_cells, metadata_of, reference_of
from annotate.files.fields import METADATA, SAMPLE_FIELDS, Fields
from annotate.files.problems import MAX_ID_CHARACTERS, Attempts, RowError
from systems.core.grades import MAX_GRADE
from systems.models import QuestionKind
from systems.questions.contents import Content, own_id

_OF_SAMPLES = SAMPLE_FIELDS.spellings
QUESTION_FIELDS = Fields(
    spellings={
        "id": ("id", "question_id", "query_id", "external_id", "example_id", "uid"),
        "question": _OF_SAMPLES["question"],
        "reference": _OF_SAMPLES["reference"],
        "key_facts": _OF_SAMPLES["key_facts"],
        "entities": _OF_SAMPLES["entities"],
        "relevant": ("relevant", *_OF_SAMPLES["relevant_doc_ids"]),
        "type": ("type", "kind", "question_type", "query_type"),
        "difficulty": ("difficulty",),
        "category": ("category",),
        "earlier_turns": ("earlier_turns", "history", "chat_history", "conversation_history"),
        "group_key": ("group_key",),
    },
    required=("question",),
    rest=METADATA,
)
# Fields whose CSV cell may hold JSON.
_STRUCTURED = frozenset({"key_facts", "entities", "relevant", "earlier_turns"})
_KINDS = {re.sub(r"\W|_", "", kind): kind for kind in QuestionKind.values}
_TURN_KEYS = {"role": ("role", "speaker"), "text": ("text", "content")}
_MAX_WORD = 200
_MAX_PLANS = 1000


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """group: as the row names it; None where it names none."""

    external_id: str
    group: str | None
    content: Content


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the fields are in rows that have the same columns."""

    column: dict[str, str]
    rest: tuple[str, ...]


class QuestionReader:
    """`typed`: values are more than text (not CSV)."""

    def __init__(self, chosen: Mapping[str, str], *, typed: bool) -> None:
        self._typed = typed

        # Hostile files give every row other keys, so not all of them are kept.
        @lru_cache(maxsize=_MAX_PLANS)
        def plan(columns: tuple[str, ...]) -> _Plan:
            mapping = QUESTION_FIELDS.resolve(columns, chosen)
            return _Plan(
                column={field: column for column, field in mapping.items() if field in QUESTION_FIELDS.spellings},
                rest=tuple(column for column, field in mapping.items() if field == METADATA),
            )

        self._plan = plan

    def read(self, row: dict[str, Any], attempt: Attempts) -> QuestionRow | None:
        """None where something is wrong; `attempt` has everything that is."""
        plan = self._plan(tuple(row))
        if not self._typed:
            read_cell: Read = lambda cell, column: attempt(structured, cell, column)  # noqa: E731
            row = from_cells(row, plan.column, plan.rest, _STRUCTURED, read_cell)

        def of(field: str, read: Callable[[Any, str], Any]) -> Any:
            column = plan.column.get(field)
            return attempt(read, None if column is None else row[column], column or field)

        metadata: dict[str, Any] = attempt(metadata_of, row, plan.rest) or {}
        said = {
            "text": of("question", values.words),
            "reference": of("reference", lambda value, column: reference_of(value, column, metadata)),
            "key_facts": of("key_facts", values.texts),
            "entities": of("entities", values.texts),
            "relevant": of("relevant", _relevant),
            "kind": of("type", _kind),
            "difficulty": of("difficulty", _word),
            "category": of("category", _word),
            "earlier_turns": of("earlier_turns", _turns),
        }
        group = of("group_key", lambda value, column: None if value is None else values.identifier(value, column))
        given = attempt(values.identifier, row[plan.column["id"]], plan.column["id"]) if "id" in plan.column else None
        if attempt.errors:
            return None
        content = Content(**said, metadata=metadata)
        return QuestionRow(given or own_id(content), group, content)


def _relevant(value: object, column: str) -> dict[str, int]:
    """Documents with their grades; those of a list are relevant, which is grade 1."""
    if type(value) is not dict:
        return dict.fromkeys(values.identifiers(value, column), 1)
    for document, grade in value.items():
        if not document or len(document) > MAX_ID_CHARACTERS:
            said = f"The id of a document has 1 to {MAX_ID_CHARACTERS} characters."
            raise RowError("bad_document", said, field=column, excerpt=document)
        grade_or_refuse(grade, f"{column}[{document[:80]}]")
    return value


def grade_or_refuse(value: object, field: str) -> int:
    if type(value) is not int or not 0 <= value <= MAX_GRADE:
        raise RowError("bad_grade", f"A grade is a whole number from 0 to {MAX_GRADE:,}.", field=field, excerpt=value)
    return value


def _kind(value: object, column: str) -> str:
    text = (values.optional_text(value, column) or "").strip()
    kind = _KINDS.get(re.sub(r"\W|_", "", text.lower()))
    if kind is None:
        known = ", ".join(filter(None, QuestionKind.values))
        said = f"A question is one of {known}. Map the column to category or metadata if it says something else."
        raise RowError("unknown_type", said, field=column, excerpt=text)
    return kind


def _word(value: object, column: str) -> str:
    """A text or a whole number to slice by; empty where there is none."""
    text = str(value) if type(value) is int else values.optional_text(value, column) or ""
    if len(text) > _MAX_WORD:
        raise RowError("too_long", f"Longer than {_MAX_WORD} characters.", field=column, excerpt=text)
    return text.strip()


def _turns(value: object, column: str) -> list[dict[str, str]]:
    if value is None:
        return []
    if type(value) is not list:
        raise wrong_type(column, "a list of {role, text}", value)
    return [_turn(turn, f"{column}[{index}]") for index, turn in enumerate(value)]


def _turn(turn: object, field: str) -> dict[str, str]:
    if type(turn) is not dict:
        raise RowError("type", f"Expected {{role, text}}, found {kind_of(turn)}.", field=field, excerpt=turn)
    found = {}
    for name, spellings in _TURN_KEYS.items():
        key = next((key for key in spellings if key in turn), name)
        found[name] = values.words(turn.get(key), f"{field}.{key}")
    return found
