"""Files with one row per sample, as it was imported: all samples, with or without verdicts. Where annotators correct
answers, with what they wrote: beside the sample, or in the place of its reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import IO

import orjson

from annotate.files.cells import write_table
from annotate.files.corrected import asks_for_corrections, corrections, with_corrections
from annotate.files.export_rows import CORRECTED, Filters
from annotate.files.sample_rows import Row, deepeval_row, own_row, ragas_row, samples_of
from annotate.models import Project

Writer = Callable[[Iterable[Row], IO[bytes]], int]


def write_lines(rows: Iterable[Row], file: IO[bytes]) -> int:
    count = 0
    for row in rows:
        file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z))
        count += 1
    return count


def write_list(rows: Iterable[Row], file: IO[bytes]) -> int:
    """One JSON list, with a row on each line."""
    count = 0
    for row in rows:
        file.write((b",\n" if count else b"[\n") + orjson.dumps(row))
        count += 1
    file.write(b"\n]\n" if count else b"[]\n")
    return count


def sample_rows(project: Project, filters: Filters, file_format: str) -> Iterator[Row]:
    spell = _SPELLED.get(file_format, own_row)
    samples = samples_of(project, filters.batch)
    if not asks_for_corrections(project):
        yield from map(spell, samples)
        return
    for sample, correction in with_corrections(samples, corrections(project)):
        if correction is not None and filters.reference == CORRECTED:
            sample.reference = correction.answer
        yield {**spell(sample), "corrected_answer": correction and correction.answer}


def _write_parquet(rows: Iterable[Row], file: IO[bytes]) -> int:
    from annotate.files import export_parquet as parquet

    return parquet.write_samples(rows, file)


# In our own spelling, if not in that of an evaluation library.
_SPELLED = {"ragas": ragas_row, "deepeval": deepeval_row}
SAMPLE_WRITERS: dict[str, Writer] = {
    "jsonl": write_lines,
    "csv": write_table,
    "parquet": _write_parquet,
    "ragas": write_lines,
    "deepeval": write_list,
}
