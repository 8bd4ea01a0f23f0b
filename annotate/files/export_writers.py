"""One function per format: writes the samples' verdicts to a file and returns how many rows that made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import IO, Any
from urllib.parse import quote

from django.utils.translation import gettext as _

import alignment
from annotate.core.errors import Invalid
from annotate.core.units import parse_unit, unit_text, units_of
from annotate.files.cells import write_table
from annotate.files.export_rows import Annotators, ExportedSample, ExportedVerdict, verdict_rows
from annotate.files.export_samples import write_lines, write_list
from annotate.files.sample_rows import deepeval_row, ragas_row
from annotate.models import Sample
from annotate.models.label import VerdictState
from annotate.models.project import UnitKind

Writer = Callable[[Iterable[ExportedSample], IO[bytes], Annotators], int]

SUPPORT, RELEVANCE = "support", "relevance"


def write_jsonl(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    return write_lines(verdict_rows(samples, annotators), file)


def write_csv(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    """Lists and objects are JSON in their cell."""
    return write_table(verdict_rows(samples, annotators), file)


def write_ragas(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    """Samples as RAGAS spells them, with their verdicts."""
    return write_lines(map(_ragas_row, samples), file)


def write_deepeval(samples: Iterable[ExportedSample], file: IO[bytes], annotators: Annotators) -> int:
    """Samples as DeepEval spells them, with their verdicts."""
    return write_list(map(_deepeval_row, samples), file)


def _ragas_row(exported: ExportedSample) -> dict[str, Any]:
    return {
        **ragas_row(exported.sample),
        # Beside the contexts, one by one.
        "retrieved_context_ids": [context["id"] for context in exported.sample.contexts],
        **exported.corrected_answer,
        **_said(exported, {*ragas_row(exported.sample), *exported.corrected_answer}),
    }


def _deepeval_row(exported: ExportedSample) -> dict[str, Any]:
    row = {**deepeval_row(exported.sample), **exported.corrected_answer}
    return {**row, **_said(exported, set(row))}


def _said(exported: ExportedSample, columns: Collection[str]) -> dict[str, Any]:
    """The claims as they are now, and a column per criterion.

    A criterion on the answer gives its value; one on claims, contexts, facts or entities gives a list with one entry
    per unit, null where there is no verdict. A claim that was dropped has no entry anywhere.
    """
    sample = exported.sample
    faithful, reason = human_faithfulness(exported)
    row: dict[str, Any] = {
        "claims": [unit_text(sample, unit) for unit in units_of(sample, UnitKind.CLAIM)],
        "human_faithfulness": faithful,
        "human_faithfulness_reason": reason,
        "abstained": sample.abstained,
        "abstained_source": sample.abstained_source or None,
        "proposal_shown": sorted({one.criterion.key for one in exported.verdicts if one.proposal_shown}),
    }
    taken = {*row, *columns}
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


def _settled(exported: ExportedSample, key: str, kind: str) -> dict[str, ExportedVerdict]:
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


def _grade(verdict: ExportedVerdict) -> int:
    value = verdict.value
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 0:
        raise Invalid(
            "not_a_grade",
            _("qrels need whole numbers from 0, but “%(relevance)s” has the value “%(value)s”.")
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
    "deepeval": write_deepeval,
    "qrels": write_qrels,
}
# One row per unit and criterion, so that each annotator can have columns.
TABLES = ("jsonl", "csv", "parquet")
SUFFIXES = {name: name for name in WRITERS} | {"ragas": "jsonl", "deepeval": "json"}
