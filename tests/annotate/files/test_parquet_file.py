"""Files as other tools write them: dictionaries, and texts from where a dictionary grew too large."""

from __future__ import annotations

import io
import random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotate.files.parquet_file import ParquetReader
from annotate.files.problems import MIB, FileError, Limits, Problems

LIMITS = Limits(file_bytes=100 * MIB, decoded_bytes=200 * MIB, rows=100_000)


def read(content: bytes) -> list[dict[str, Any]]:
    problems = Problems()
    rows = [row for _, _, row in ParquetReader(io.BytesIO(content), len(content), problems, LIMITS).rows()]
    assert not problems
    return rows


def drawn_rows(draw: random.Random, count: int) -> list[dict[str, Any]]:
    few = [f"Text {number}." for number in range(5)]

    def text(number: int) -> str | None:
        # Repeated ones at first, so that there is a dictionary, and then ones that stand only once.
        return draw.choice([None, *few]) if number < count / 3 or draw.random() < 0.2 else f"{number} " + "x" * 200

    return [
        {
            "answer": text(number),
            "contexts": [text(number) for _ in range(draw.randrange(4))] if draw.random() < 0.9 else None,
            "source": {"title": text(number), "pages": [number], "named": {"by": text(number)}},
            "score": draw.choice([None, 0.5, 1.0]),
        }
        for number in range(count)
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows_in_group", [100, 3000])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_texts_come_back_on_both_sides_of_where_a_dictionary_ends(version: str, rows_in_group: int, seed: int) -> None:
    rows = drawn_rows(random.Random(seed), 2000)
    out = io.BytesIO()
    pq.write_table(
        pa.Table.from_pylist(rows),
        out,
        row_group_size=rows_in_group,
        dictionary_pagesize_limit=500 * (seed + 1),
        data_page_size=2000,
        write_batch_size=50,
        data_page_version=version,
    )
    assert read(out.getvalue()) == rows


def test_a_dictionary_to_the_end_comes_back() -> None:
    rows = [{"answer": f"Text {number % 7}.", "contexts": ["One.", "Two."][: number % 3]} for number in range(5000)]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    assert read(out.getvalue()) == rows


def test_two_columns_of_one_path_are_refused() -> None:
    """A struct with a field, and a column called as if it were that field."""
    out = io.BytesIO()
    pq.write_table(pa.table({"source.title": ["x"], "source": [{"title": "y"}]}), out)
    with pytest.raises(FileError, match=r"Two columns are called “source.title”") as refused:
        read(out.getvalue())
    assert (refused.value.code, refused.value.field) == ("duplicate_column", "source.title")
