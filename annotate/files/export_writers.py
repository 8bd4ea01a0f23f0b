"""One function per format: writes the samples' verdicts to a file and returns how many rows that made."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import IO, Any
from urllib.parse import quote

import orjson
from django.utils.translation import gettext as _

import alignment
from annotate.core.errors import Invalid
from annotate.core.units import parse_unit, unit_text, units_of
from annotate.files.cells import guard
from annotate.files.export_rows import Annotators, ExportedSample, verdict_rows
from annotate.models import Sample, Verdict
from annotate.models.label import VerdictState
from annotate.models.project import UnitKind

Writer = Callable[[Iterable[ExportedSample], IO[bytes], Annotators], int]

SUPPORT, RELEVANCE = "support", "relevance"


def write_jsonl(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    count = 0
    for row in verdict_rows(samples, annotators):
        file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z))
        count += 1
    return count


def write_csv(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    """Lists are JSON in their cell; texts that a spreadsheet would run as a formula get a ' in front."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    count = 0
    for row in verdict_rows(samples, annotators):
        if not count:
            writer.writerow([guard(column) for column in row])
        writer.writerow([_cell(value) for value in row.values()])
        count += 1
    text.detach()
    return count


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return guard(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")  # as JSONL spells it
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return value


def write_ragas(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    """Samples as evaluation libraries spell them, with a column per criterion.

    A criterion on the answer gives its value; one on claims, contexts, facts or entities gives a list with one entry
    per unit, null where there is no verdict. A claim that was dropped has no entry anywhere.
    """
    count = 0
    for exported in samples:
        file.write(orjson.dumps(_ragas_row(exported), option=orjson.OPT_APPEND_NEWLINE))
        count += 1
    return count


def _ragas_row(exported: ExportedSample) -> dict[str, Any]:
    sample = exported.sample
    faithful, reason = human_faithfulness(exported)
    row: dict[str, Any] = {
        "sample_id": sample.external_id,
        "user_input": sample.question,
        "response": sample.answer,
        "retrieved_contexts": [context["text"] for context in sample.contexts],
        "retrieved_context_ids": [context["id"] for context in sample.contexts],
        "reference": sample.reference,
        "claims": [unit_text(sample, unit) for unit in units_of(sample, UnitKind.CLAIM)],
        "human_faithfulness": faithful,
        "human_faithfulness_reason": reason,
        "abstained": sample.abstained,
        "abstained_source": sample.abstained_source or None,
    }
    taken = set(row)
    for verdict in exported.verdicts:
        key = verdict.criterion.key
        column = f"verdict_{key}" if key in taken else key
        kind, index = parse_unit(verdict.unit)
        if index is None:
            row[column] = verdict.value
        else:
            units = units_of(sample, kind)
            row.setdefault(column, [None] * len(units))[units.index(verdict.unit)] = verdict.value
    return row


def human_faithfulness(exported: ExportedSample) -> tuple[float | None, str | None]:
    """Supported claims / all claims, from verdicts on `support`; and the code of the reason where there is none: the
    answer abstained, has no claims, or has one without a settled verdict (unsettled)."""
    sample = exported.sample
    values = _settled(exported, SUPPORT, UnitKind.CLAIM)
    claims = units_of(sample, UnitKind.CLAIM)
    passes: list[Any] = next((verdict.criterion.passes for verdict in values.values()), [])
    if claims and (not passes or any(unit not in values for unit in claims)):
        return None, "unsettled"
    found = alignment.faithfulness([values[unit].value in passes for unit in claims], abstained=bool(sample.abstained))
    return found.value, found.reason["code"] if found.value is None and found.reason else None


def _settled(exported: ExportedSample, key: str, kind: str) -> dict[str, Verdict]:
    """Settled verdicts by unit, of the latest version of the criterion that has any."""
    found = [
        verdict
        for verdict in exported.verdicts
        if verdict.criterion.key == key and verdict.criterion.unit == kind and verdict.state == VerdictState.SETTLED
    ]
    latest = max((verdict.criterion.version for verdict in found), default=0)
    return {verdict.unit: verdict for verdict in found if verdict.criterion.version == latest}


def write_qrels(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    """TREC relevance judgements: topic, 0, document, grade. The topic is the sample, the grade `relevance`."""
    count = 0
    for exported in samples:
        grades: dict[str, int] = {}
        for unit, verdict in _settled(exported, RELEVANCE, UnitKind.CONTEXT).items():
            document = _document(exported.sample, unit)
            # One document in two places of the ranking: what it is worth is the best that was found in it.
            grades[document] = max(grades.get(document, 0), _grade(verdict))
        for document, grade in grades.items():
            file.write(f"{_word(exported.sample.external_id)} 0 {document} {grade}\n".encode())
            count += 1
    return count


def _document(sample: Sample, unit: str) -> str:
    """The context's id; without one, the sample's id and the context's place, so that it is unique in the file."""
    _kind, index = parse_unit(unit)
    identity = sample.contexts[index]["id"] if index is not None else None
    return _word(identity or f"{sample.external_id}#{unit}")


def _grade(verdict: Verdict) -> int:
    value = verdict.value
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 0:
        raise Invalid(
            "not_a_grade",
            _("qrels need whole grades from 0; “%(relevance)s” has the value “%(value)s”.")
            % {"relevance": RELEVANCE, "value": str(value)[:40]},
        )
    return int(value)


def _word(identity: str) -> str:
    """Blanks separate the columns of qrels, so they are percent-encoded in ids, and so is the percent sign."""
    return "".join(
        quote(char) if char.isspace() or char == "%" or not char.isprintable() else char for char in identity
    )


def write_parquet(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    from annotate.files import export_parquet as parquet

    return parquet.write_parquet(samples, file, annotators)


WRITERS: dict[str, Writer] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "parquet": write_parquet,
    "ragas": write_ragas,
    "qrels": write_qrels,
}
# One row per unit and criterion, so that each annotator can have columns.
TABLES = ("jsonl", "csv", "parquet")
SUFFIXES = {"jsonl": "jsonl", "csv": "csv", "parquet": "parquet", "ragas": "jsonl", "qrels": "qrels"}
