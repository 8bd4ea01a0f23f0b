"""The columns of a scores file, and what its cells mean: the metric, the judge, and what was scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotate.core.units import LISTED_KINDS
from annotate.files import cells as values
from annotate.files.cells import number as number_in
from annotate.files.fields import IGNORE, SAMPLE_FIELDS, Fields
from annotate.files.lookup import Cells, read_unit
from annotate.files.problems import FileError, RowError
from annotate.models import Criterion
from judges.models import LARGEST_SCORE, ScoreStatus

SCORE_FIELDS = Fields(
    spellings={
        "sample_id": ("sample_id", "sample", "id", "external_id"),
        "unit": ("unit",),
        "criterion": ("criterion", "dimension"),
        "judge": ("judge", "metric", "evaluator", "scorer"),
        "score": ("score", "value"),
        "rationale": ("rationale", "reason", "explanation"),
        "status": ("status",),
        "version": ("version", "judge_version"),
        "repeat": ("repeat",),
        "higher_is_better": ("higher_is_better",),
        "question": SAMPLE_FIELDS.spellings["question"],
        "answer": SAMPLE_FIELDS.spellings["answer"],
    },
    required=(),
    rest=IGNORE,
    # In a wide table every metric is a column of scores.
    repeatable=frozenset({"score"}),
)

OVERALL = "overall"
_FIRST_VERSION = "1"
_MAX_NAME = 200
_MAX_DIMENSION = 120
_MAX_REPEAT = 32_767
_STATUS_SPELLINGS = {
    "success": "ok",
    "completed": "ok",
    "failed": "error",
    "refusal": "refused",
    "timed_out": "timeout",
}
# How data frames write a missing number as text.
_MISSING_WORDS = frozenset({"", "nan", "none", "null", "n/a", "na"})
_TRUTH = {"true": 1.0, "false": 0.0}
WORDS = {True: "true", False: "false"}

SaidScore = tuple[str, float | None, str | None, str]


def metric_columns(columns: Iterable[str], rows: list[dict[str, Any]], chosen: Mapping[str, str]) -> list[str]:
    """Columns that are metrics of their own; none when the file is long.

    Chosen ones if there are any, else those that hold nothing but numbers and are no field of a sample.
    """
    mapping = SCORE_FIELDS.resolve(columns, chosen)
    if "judge" in mapping.values():
        return []
    picked = [column for column, field in chosen.items() if field == "score"]
    if picked:
        return picked
    if "score" in mapping.values():
        return []
    of_samples = SAMPLE_FIELDS.resolve(columns, {})
    return [
        column
        for column, field in mapping.items()
        if field == IGNORE
        and column
        and column not in chosen
        and of_samples[column] not in SAMPLE_FIELDS.spellings
        and _all_numbers(row[column] for row in rows if column in row)
    ]


def _all_numbers(cells: Iterable[Any]) -> bool:
    """Whether there is a number and nothing that is neither a number nor missing."""
    numbers = [_number(cell) for cell in cells if not _is_missing(cell)]
    return bool(numbers) and None not in numbers


def _is_missing(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING_WORDS)


def require_layout(mapping: dict[str, str], columns: list[str], metrics: list[str]) -> None:
    found = set(mapping.values())
    if not metrics and not {"judge", "score"} <= found:
        missing = "judge" if "judge" not in found else "score"
        raise FileError(
            "missing_column",
            f"No column for “{missing}”, and none that holds only numbers. Write sample_id, judge, score in each row, "
            f"or one row per sample with a column per metric. The file has: {', '.join(columns)[:300]}.",
            row=1,
            field=missing,
            excerpt=", ".join(columns),
        )


def _name(value: object, field: str) -> str:
    name = values.identifier(value, field)
    if len(name) > _MAX_NAME:
        raise RowError("too_long", f"Longer than {_MAX_NAME} characters.", field=field, excerpt=name)
    return name


def judge_of(cells: Cells) -> str:
    return _name(cells.get("judge"), cells.column("judge"))


def version_of(cells: Cells) -> str:
    version = cells.get("version")
    return _FIRST_VERSION if version is None or version == "" else _name(version, "version")


def higher_is_better_of(cells: Cells) -> bool | None:
    """None: the row doesn't say."""
    value = cells.get("higher_is_better")
    if value is None or value == "":
        return None
    number = _number(value)
    if number not in (0, 1):
        raise RowError("type", "higher_is_better: true or false.", field="higher_is_better", excerpt=value)
    return number == 1


def dimension_of(cells: Cells) -> str:
    dimension = cells.get("criterion") or OVERALL
    if not isinstance(dimension, str) or len(dimension) > _MAX_DIMENSION:
        raise RowError(
            "type",
            f"A criterion is a text of at most {_MAX_DIMENSION} characters.",
            field="criterion",
            excerpt=dimension,
        )
    return dimension


def unit_of(cells: Cells, criterion: Criterion | None) -> tuple[str, str, int | None]:
    unit = cells.get("unit")
    if not unit and criterion is not None and criterion.unit in LISTED_KINDS:
        raise RowError(
            "missing",
            f"“{criterion.key}” is about each {criterion.unit}: name the unit, such as {criterion.unit}:0.",
            field="unit",
        )
    usual = "sample" if criterion is not None and criterion.unit == "sample" else "answer"
    return read_unit(unit or usual, cells.column("unit"))


def repeat_of(cells: Cells) -> int:
    value = cells.get("repeat")
    if value is None or value == "":
        return 0
    if isinstance(value, str) and value.isdecimal() and len(value) < 6:
        value = int(value)
    if type(value) is not int or not 0 <= value <= _MAX_REPEAT:
        raise RowError("type", f"repeat: a whole number from 0 to {_MAX_REPEAT:,}.", field="repeat", excerpt=value)
    return value


def status_of(cells: Cells) -> str | None:
    value = cells.get("status")
    if value is None or value == "":
        return None
    name = value.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(value, str) else ""
    name = _STATUS_SPELLINGS.get(name, name)
    if name not in ScoreStatus.values:
        raise RowError(
            "unknown_status", f"status: write {', '.join(ScoreStatus.values)}.", field="status", excerpt=value
        )
    return name


def rationale_of(cells: Cells) -> str:
    return values.optional_text(cells.get("rationale"), cells.column("rationale")) or ""


def metric_of(row: dict[str, Any], column: str) -> tuple[str, SaidScore]:
    """A wide row's score by the judge that is called like the column."""
    return _name(column, column), said_of(row[column], column, None, "", None)


def said_of(raw: object, field: str, status: str | None, rationale: str, criterion: Criterion | None) -> SaidScore:
    """(status, number, label, rationale). A score that failed or is missing has neither number nor label."""
    is_option = isinstance(raw, str) and criterion is not None and raw in criterion.levels
    if _is_missing(raw) and not is_option:
        if status == ScoreStatus.OK:
            raise RowError("missing", "The status says ok, but there is no score.", field=field)
        return status or ScoreStatus.ERROR.value, None, None, rationale
    if status not in (None, ScoreStatus.OK):
        return status, None, None, rationale
    if isinstance(raw, str) and is_option:
        return ScoreStatus.OK.value, None, raw, rationale
    number = _number(raw)
    if number is None:
        levels = criterion.levels if criterion else ()
        options = f" or one of {', '.join(map(str, levels))}" if levels else ""
        raise RowError("not_a_number", f"A score is a number from -1e100 to 1e100{options}.", field=field, excerpt=raw)
    return ScoreStatus.OK.value, number, None, rationale


def _number(value: object) -> float | None:
    """true and false are 1 and 0; a number in a text counts too."""
    if isinstance(value, str):
        value = _TRUTH.get(value.strip().lower(), number_in(value))
    # By comparison, since an integer of a thousand digits has no float; NaN is between no two numbers.
    if not isinstance(value, bool | int | float) or not -LARGEST_SCORE <= value <= LARGEST_SCORE:
        return None
    return float(value)
