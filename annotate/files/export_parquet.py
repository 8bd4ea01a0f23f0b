"""Rows as Parquet: a column has one type, so values stand there as text, with numbers beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotate.files.export_rows import Annotators, ExportedSample, verdict_rows
from annotate.files.parquet_file import HOLDS_JSON

_ROWS_AT_ONCE = 5000
# Each with all of its texts.
_SAMPLES_AT_ONCE = 200

_SCHEMA = pa.schema(
    [
        ("sample_id", pa.string()),
        ("unit", pa.string()),
        ("unit_text", pa.string()),
        ("criterion", pa.string()),
        ("criterion_version", pa.int32()),
        ("state", pa.string()),
        ("value", pa.string()),
        # The same again for scales of numbers, as a column of Parquet has one type.
        ("value_number", pa.float64()),
        ("method", pa.string()),
        ("confidence", pa.float64()),
        ("votes", pa.list_(pa.struct([("rater", pa.string()), ("value", pa.string())]))),
        ("decided_by", pa.string()),
        ("reason", pa.string()),
        ("approved_by", pa.string()),
        ("approved_at", pa.timestamp("us", tz="UTC")),
        ("proposal_shown", pa.bool_()),
        ("labels", pa.list_(pa.struct([("label", pa.int64()), ("revision", pa.int32())]))),
        ("updated_at", pa.timestamp("us", tz="UTC")),
        ("claims_source", pa.string()),
        ("claims_revision", pa.int32()),
        ("pipeline_version", pa.string()),
        ("group_key", pa.string()),
        ("retrieved_doc_ids", pa.list_(pa.string())),
        ("relevant_doc_ids", pa.list_(pa.string())),
        # Its shape is the data's own, which no type of Parquet holds: as JSON.
        ("metadata", pa.string()),
        ("abstained", pa.bool_()),
        ("abstained_source", pa.string()),
    ]
)

# The columns of one annotator, in the order of annotators.FIELDS.
_SAID = {
    "value": pa.string(),
    "value_number": pa.float64(),
    "cant_tell": pa.string(),
    "comment": pa.string(),
    "evidence": pa.list_(
        pa.struct([("context", pa.int32()), ("start", pa.int64()), ("end", pa.int64()), ("quote", pa.string())])
    ),
    "active_ms": pa.int64(),
    "guideline_version": pa.int32(),
    "after_answer": pa.bool_(),
    "revision": pa.int32(),
    "saved_at": pa.timestamp("us", tz="UTC"),
    "submitted_at": pa.timestamp("us", tz="UTC"),
}


def write_parquet(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    rows = verdict_rows(samples, annotators)
    first = next(rows, None)
    if first is None:
        return 0
    schema = _schema(annotators, is_corrected="corrected_answer" in first)
    return _write_all((_typed(row, schema) for row in chain([first], rows)), file, schema)


# Of samples: what is a list of texts, and what is JSON, as its shape is the data's own.
_LISTS = ("key_facts", "entities", "retrieved_doc_ids", "relevant_doc_ids")
_JSON = ("contexts", "claims", "metadata")


def write_samples(rows: Iterable[dict[str, Any]], file: IO[bytes]) -> int:
    """Rows of samples (annotate.files.sample_rows)."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return 0
    schema = pa.schema([_sample_field(name) for name in first])
    rows, count = chain([first], rows), 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while chunk := list(islice(rows, _SAMPLES_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist([_as_json(row) for row in chunk], schema=schema))
            count += len(chunk)
    return count


_OF_TEXTS = (
    "value", "comment", "evidence", "guideline_version", "after_answer", "revision", "saved_at", "submitted_at",
)  # fmt: skip
_TEXTS = pa.schema(
    [
        *(_SCHEMA.field(name) for name in ("sample_id", "unit", "unit_text", "criterion", "criterion_version")),
        ("rater", pa.string()),
        *((name, _SAID[name]) for name in _OF_TEXTS),
        *(_SCHEMA.field(name) for name in ("pipeline_version", "group_key")),
    ]
)


def write_texts(rows: Iterable[dict[str, Any]], file: IO[bytes]) -> int:
    """Rows of free text (annotate.files.export_texts)."""
    return _write_all(iter(rows), file, _TEXTS)


def _write_all(rows: Iterator[dict[str, Any]], file: IO[bytes], schema: pa.Schema) -> int:
    count = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while chunk := list(islice(rows, _ROWS_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
            count += len(chunk)
    return count


def _sample_field(name: str) -> pa.Field:
    if name in _LISTS:
        return pa.field(name, pa.list_(pa.string()))
    if name == "abstained":
        return pa.field(name, pa.bool_())
    return pa.field(name, pa.string(), metadata=HOLDS_JSON if name in _JSON else None)


def _as_json(row: dict[str, Any]) -> dict[str, Any]:
    texts = {name: json.dumps(row[name], ensure_ascii=False) for name in _JSON if row[name] is not None}
    return {**row, **texts}


_CORRECTED = pa.schema(
    [
        ("corrected_answer", pa.string()),
        ("corrected_by", pa.string()),
        ("corrected_at", pa.timestamp("us", tz="UTC")),
    ]
)


def _schema(annotators: Annotators, *, is_corrected: bool) -> pa.Schema:
    columns = [pa.field(f"{name}.{what}", kind) for name in annotators.columns.values() for what, kind in _SAID.items()]
    return pa.schema([*_SCHEMA, *(_CORRECTED if is_corrected else ()), *columns])


def _typed(row: dict[str, Any], schema: pa.Schema) -> dict[str, Any]:
    """Values as text, and those that are numbers once more as such; votes likewise as text."""
    typed = dict(row)
    for column in schema.names:
        if column == "value" or column.endswith(".value"):
            typed[column] = _as_text(row[column])
            typed[f"{column}_number"] = _as_number(row[column])
    typed["metadata"] = json.dumps(row["metadata"], ensure_ascii=False)
    typed["votes"] = [{**vote, "value": _as_text(vote["value"])} for vote in row["votes"]]
    return typed


def _as_number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
