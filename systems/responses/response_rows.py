"""What rows of samples say of responses: to which question, which time, how it went and what it took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from annotate.files import cells as values
from annotate.files.cells import wrong_type
from annotate.files.fields import SAMPLE_FIELDS, Fields
from annotate.files.problems import Attempts, RowError
from systems.models import ResponseStatus

RESPONSE_FIELDS = Fields(
    spellings={
        **SAMPLE_FIELDS.spellings,
        "question_id": ("question_id",),
        "repeat": ("repeat",),
        "status": ("status",),
        "error": ("error", "error_message"),
        "latency_ms": ("latency_ms",),
        "first_token_ms": ("first_token_ms",),
        "input_tokens": ("input_tokens", "prompt_tokens"),
        "output_tokens": ("output_tokens", "completion_tokens"),
        "cost": ("cost",),
    },
    required=SAMPLE_FIELDS.required,
    rest=SAMPLE_FIELDS.rest,
    ignored=SAMPLE_FIELDS.ignored,
    # What is asked is the question's.
    instead={"question": "question_id"},
)
_STATUSES = {"ok": ResponseStatus.OK, "failed": ResponseStatus.FAILED, "error": ResponseStatus.FAILED}
_MAX_REPEAT = 2**15 - 1
_MAX_WHOLE = 2**31 - 1
_MAX_ERROR = 2_000
# Thirty years in milliseconds; sums of them stay numbers.
_MAX_AMOUNT = 10**12
_AMOUNTS = ("latency_ms", "first_token_ms", "cost")
_TOKENS = ("input_tokens", "output_tokens")

T = TypeVar("T")

Measures = dict[str, float | int | None]


class ResponseCells:
    """A row by the fields that its columns are. An empty cell of CSV is no value."""

    __slots__ = ("_column", "_typed", "row")

    def __init__(self, column: dict[str, str], row: dict[str, Any], *, typed: bool) -> None:
        self._column = column
        self._typed = typed
        self.row = row

    def get(self, name: str) -> Any:
        column = self._column.get(name)
        value = None if column is None else self.row[column]
        return value if self._typed else value or None

    def column(self, name: str) -> str:
        """What the file calls it; what we call it, where the file doesn't."""
        return self._column.get(name, name)

    def has(self, name: str) -> bool:
        return name in self._column

    def read(self, attempt: Attempts, name: str, read: Callable[[Any, str], T]) -> T | None:
        return attempt(read, self.get(name), self.column(name))


@dataclass(frozen=True, slots=True)
class Said:
    """What the row itself says of its response. Where it is refused, some of it is made up."""

    version: str
    repeat: int
    status: ResponseStatus
    error_text: str
    measures: Measures


def said_in(cells: ResponseCells, pipeline: str, attempt: Attempts) -> Said:
    """pipeline: the version that is pushed; empty for a file."""
    repeat = cells.read(attempt, "repeat", _repeat) or 0
    status = cells.read(attempt, "status", _status) or ResponseStatus.OK
    error_text = cells.read(attempt, "error", _error_text) or ""
    # Of a sample it is read once more.
    bad_versions = attempt if status == ResponseStatus.FAILED else Attempts()
    version = pipeline or cells.read(bad_versions, "pipeline_version", values.identifier) or ""
    if status == ResponseStatus.FAILED and cells.get("answer") is not None:
        said = "The request failed, and here is an answer to it. Leave one of them out."
        attempt.errors.append(RowError("failed_answer", said, field=cells.column("status")))
    if status == ResponseStatus.OK and error_text:
        said = "An error of a request that did not fail. Write the status “failed”, or leave the error out."
        attempt.errors.append(RowError("failed_answer", said, field=cells.column("error"), excerpt=error_text))
    return Said(version, repeat, status, error_text, _measures(cells, attempt))


def _repeat(value: Any, column: str) -> int | None:
    return _whole(value, column, _MAX_REPEAT)


def _status(value: Any, column: str) -> ResponseStatus | None:
    if value is None:
        return None
    status = _STATUSES.get(value.strip().lower()) if type(value) is str else None
    if status is None:
        raise RowError("unknown_status", f"Write {', '.join(_STATUSES)}.", field=column, excerpt=value)
    return status


def _error_text(value: Any, column: str) -> str:
    return (values.optional_text(value, column) or "")[:_MAX_ERROR]


def _measures(cells: ResponseCells, attempt: Attempts) -> Measures:
    found: Measures = {name: cells.read(attempt, name, _amount) for name in _AMOUNTS}
    found |= {name: cells.read(attempt, name, _tokens) for name in _TOKENS}
    first, last = found["first_token_ms"], found["latency_ms"]
    if first is not None and last is not None and first > last:
        said = "The first token comes no later than the whole answer."
        attempt.errors.append(RowError("bad_measure", said, field=cells.column("first_token_ms"), excerpt=first))
    return found


def _amount(value: Any, column: str) -> float | None:
    if value is None:
        return None
    number = values.number(value) if type(value) is str else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise wrong_type(column, "a number", value)
    if not 0 <= number <= _MAX_AMOUNT:
        raise RowError("bad_measure", f"Expected a number from 0 to {_MAX_AMOUNT:,}.", field=column, excerpt=value)
    return float(number)


def _tokens(value: Any, column: str) -> int | None:
    return _whole(value, column, _MAX_WHOLE)


def _whole(value: Any, column: str, most: int) -> int | None:
    if value is None:
        return None
    number = int(value) if type(value) is str and value.isdecimal() and len(value) <= 10 else value
    if type(number) is not int or not 0 <= number <= most:
        said = f"Expected a whole number from 0 to {most:,}."
        raise RowError("bad_measure", said, field=column, excerpt=value)
    return number
