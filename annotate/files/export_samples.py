"""Files with one row per sample, as it was imported: all samples, with or without verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO

import orjson

from annotate.files.cells import write_table
from annotate.files.sample_rows import Row, deepeval_row, own_row, ragas_row
from annotate.models import Sample

Writer = Callable[[Iterable[Sample], IO[bytes]], int]


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


def _write_csv(samples: Iterable[Sample], file: IO[bytes]) -> int:
    return write_table(map(own_row, samples), file)


def _write_parquet(samples: Iterable[Sample], file: IO[bytes]) -> int:
    from annotate.files import export_parquet as parquet

    return parquet.write_samples(map(own_row, samples), file)


SAMPLE_WRITERS: dict[str, Writer] = {
    "jsonl": lambda samples, file: write_lines(map(own_row, samples), file),
    "csv": _write_csv,
    "parquet": _write_parquet,
    "ragas": lambda samples, file: write_lines(map(ragas_row, samples), file),
    "deepeval": lambda samples, file: write_list(map(deepeval_row, samples), file),
}
