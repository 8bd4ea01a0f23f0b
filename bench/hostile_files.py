"""Files of a few kilobytes that stand for gigabytes, or that keep a reader busy: 40 of each format from one seed.

Every one of them must be refused. tests/config/test_bombs.py has one of each shape read, and `bench.bombs` uploads all
as a person would.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

SEED = 15
OF_EACH = 40
FORMATS = ("parquet", "csv", "json", "gzip")
_ROW = {"question": "q", "answer": "An answer."}
_HEAD = b"id,question,answer,contexts\n"

Make = Callable[[random.Random], tuple[str, bytes]]


@dataclass(frozen=True)
class Bomb:
    name: str
    file_name: str
    content: bytes


def bombs(file_format: str, count: int = OF_EACH, seed: int = SEED) -> Iterator[Bomb]:
    """`count` of them, each shape in turn, with sizes that the seed draws."""
    shapes = _SHAPES[file_format]
    for number in range(count):
        make = shapes[number % len(shapes)]
        file_name, content = make(random.Random(f"{seed} {file_format} {number}"))
        yield Bomb(f"{file_format}-{number:02}-{make.__name__}", file_name, content)


def shapes_of(file_format: str) -> int:
    return len(_SHAPES[file_format])


# Parquet


def _table(columns: dict[str, pa.Array], **options: object) -> tuple[str, bytes]:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return "a.parquet", out.getvalue()


def _fields(rows: int) -> dict[str, pa.Array]:
    return {
        "id": pa.array([str(index) for index in range(rows)]),
        "question": pa.array(["q"] * rows),
        "answer": pa.array(["An answer."] * rows),
    }


def _repeated(count: int, size: int) -> pa.Array:
    """One text of so many bytes, pointed to `count` times."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["x" * size]))


def _lists(values: pa.Array, rows: int) -> pa.Array:
    each = len(values) // rows
    return pa.ListArray.from_arrays(pa.array(range(0, rows * each + 1, each), pa.int32()), values)


def list_of_one_text(draw: random.Random) -> tuple[str, bytes]:
    rows, each = draw.randint(16, 64), draw.randint(20, 100)
    texts = _repeated(rows * each, draw.randint(300_000, 1_000_000))
    return _table({**_fields(rows), "contexts": _lists(texts, rows)})


def structs_of_one_text(draw: random.Random) -> tuple[str, bytes]:
    rows, each = draw.randint(16, 64), draw.randint(20, 100)
    texts = _repeated(rows * each, draw.randint(300_000, 1_000_000))
    return _table({**_fields(rows), "contexts": _lists(pa.StructArray.from_arrays([texts], ["text"]), rows)})


def lists_of_lists(draw: random.Random) -> tuple[str, bytes]:
    rows, each = draw.randint(8, 32), draw.randint(10, 40)
    texts = _repeated(rows * each * each, draw.randint(100_000, 1_000_000))
    return _table({**_fields(rows), "notes": _lists(_lists(texts, rows * each), rows)})


def wide_rows(draw: random.Random) -> tuple[str, bytes]:
    rows, columns = draw.randint(16, 64), draw.randint(20, 120)
    text = _repeated(rows, draw.randint(500_000, 1_000_000))
    return _table({**_fields(rows), **{f"note {index}": text for index in range(columns)}})


def rows_of_nulls(draw: random.Random) -> tuple[str, bytes]:
    return _table(dict.fromkeys(("question", "answer"), pa.nulls(draw.randint(1_500_000, 1_990_000), pa.string())))


def lists_of_nulls(draw: random.Random) -> tuple[str, bytes]:
    rows = draw.randint(1, 8)
    nulls = pa.nulls(rows * draw.randint(200_000, 2_000_000), pa.int32())
    return _table({**_fields(rows), "scores": _lists(nulls, rows)})


def packed_texts(draw: random.Random) -> tuple[str, bytes]:
    """No dictionary: every text stands in the page, which packs well."""
    rows, columns = draw.randint(16, 40), draw.randint(4, 10)
    text = _repeated(rows, draw.randint(1_100_000, 2_000_000)).cast(pa.string())
    return _table(
        {**_fields(rows), **{f"note {index}": text for index in range(columns)}},
        use_dictionary=False,
        compression="zstd",
    )


def shared_beginnings(draw: random.Random) -> tuple[str, bytes]:
    """Each text says only where it differs from the one before."""
    rows = draw.randint(100, 400)
    text = _repeated(rows, draw.randint(1_100_000, 1_500_000)).cast(pa.large_string())
    return _table({**_fields(rows), "notes": text}, use_dictionary=False, column_encoding={"notes": "DELTA_BYTE_ARRAY"})


def many_columns(draw: random.Random) -> tuple[str, bytes]:
    count = draw.randint(1_001, 8_000)
    return _table({**_fields(1), **{f"note {index}": pa.array(["x"]) for index in range(count)}})


def many_row_groups(draw: random.Random) -> tuple[str, bytes]:
    rows, columns = draw.randint(600, 900), draw.randint(90, 110)
    notes = {f"note {index}": pa.array(["x"] * rows) for index in range(columns)}
    return _table({**_fields(rows), **notes}, row_group_size=1)


def one_large_text(draw: random.Random) -> tuple[str, bytes]:
    size = draw.randint(150_000_000, 250_000_000)
    text = pa.array(["x" * size])
    return _table({**_fields(1), "notes": text}, use_dictionary=False, compression="zstd", write_statistics=False)


def damaged(draw: random.Random) -> tuple[str, bytes]:
    """A list of one text, with bytes of the footer or of a page changed: sizes and counts that lie."""
    name, content = list_of_one_text(draw)
    changed = bytearray(content)
    footer = int.from_bytes(content[-8:-4], "little")
    for _ in range(draw.randint(1, 6)):
        changed[len(content) - 8 - draw.randint(1, footer)] = draw.randrange(256)
    return name, bytes(changed)


# CSV


def columns_without_end(draw: random.Random) -> tuple[str, bytes]:
    count = draw.randint(5_000, 300_000)
    names = ",".join(f"c{index}" for index in range(count))
    return "a.csv", f"id,question,answer,{names}\n1,q,a\n".encode()


def cells_without_end(draw: random.Random) -> tuple[str, bytes]:
    return "a.csv", _HEAD + b"1,q,a," + b"," * draw.randint(100_000, 4_000_000) + b"\n"


def empty_lines(draw: random.Random) -> tuple[str, bytes]:
    return "a.csv", _HEAD + b"\n" * draw.randint(200_000, 4_000_000)


def lines_in_a_cell(draw: random.Random) -> tuple[str, bytes]:
    return "a.csv", _HEAD + b'1,q,a,"' + b"\n" * draw.randint(1_100_000, 3_000_000) + b'"\n'


def cells_of_lines(draw: random.Random) -> tuple[str, bytes]:
    cell = b'"' + b"\n" * draw.randint(100_000, 900_000) + b'"'
    return "a.csv", _HEAD + b"1,q," + b",".join([cell] * draw.randint(10, 12)) + b"\n"


def short_rows(draw: random.Random) -> tuple[str, bytes]:
    return "a.csv", _HEAD + b"1\n" * draw.randint(200_000, 1_000_000)


def rows_of_nothing(draw: random.Random) -> tuple[str, bytes]:
    return "a.csv", _HEAD + b",,,\n" * draw.randint(100_000, 1_000_000)


def blanks_in_a_list(draw: random.Random) -> tuple[str, bytes]:
    """A list of Python strings that a pattern with two ways to read blanks never gets through."""
    return "a.csv", _HEAD + b"1,q,a,\"['x'" + b" " * draw.randint(50_000, 900_000) + b'y]"\n'


def deep_cell(draw: random.Random) -> tuple[str, bytes]:
    depth = draw.randint(1_000, 400_000)
    return "a.csv", _HEAD + b"1,q,a," + b"[" * depth + b"]" * depth + b"\n"


def quotes(draw: random.Random) -> tuple[str, bytes]:
    return "a.csv", _HEAD + b"1,q,a," + b'"' * (2 * draw.randint(300_000, 500_000) + 1) + b"\n"


# JSON


def _json(value: bytes) -> tuple[str, bytes]:
    return "a.json", b'[{"id": "1", "question": "q", "answer": "a", "x": ' + value + b"}]"


def _line(value: bytes) -> tuple[str, bytes]:
    return "a.jsonl", b'{"id": "1", "question": "q", "answer": "a", "x": ' + value + b"}\n"


def lists_without_end(draw: random.Random) -> tuple[str, bytes]:
    return _json(b"[" + b"[]," * draw.randint(200_000, 2_700_000) + b"[]]")


def objects_without_end(draw: random.Random) -> tuple[str, bytes]:
    return _line(b"[" + b"{}," * draw.randint(200_000, 2_700_000) + b"{}]")


def deep(draw: random.Random) -> tuple[str, bytes]:
    depth = draw.randint(10_000, 4_000_000)
    return _json(b"[" * depth + b"]" * depth)


def deep_objects(draw: random.Random) -> tuple[str, bytes]:
    depth = draw.randint(10_000, 1_000_000)
    return _line(b'{"a":' * depth + b"1" + b"}" * depth)


def rows_without_fields(draw: random.Random) -> tuple[str, bytes]:
    return "a.json", b"[" + b"{}," * draw.randint(200_000, 2_000_000) + b"{}]"


def lines_without_fields(draw: random.Random) -> tuple[str, bytes]:
    return "a.jsonl", b"{}\n" * draw.randint(200_000, 2_000_000)


def blank_lines(draw: random.Random) -> tuple[str, bytes]:
    return "a.jsonl", b"{}" + b"\n" * draw.randint(200_000, 4_000_000)


def never_closed(draw: random.Random) -> tuple[str, bytes]:
    """A text that never ends, in which every second character begins one."""
    return _line(b'"' + b'\\"' * draw.randint(100_000, 4_000_000))


def keys_without_end(draw: random.Random) -> tuple[str, bytes]:
    keys = (f'"k{index}": 0' for index in range(draw.randint(2_000, 300_000)))
    return "a.jsonl", ('{"question": "q", "answer": "a", ' + ", ".join(keys) + "}\n").encode()


def sentences_without_end(draw: random.Random) -> tuple[str, bytes]:
    sentence = draw.choice(["太阳很热。", "“a. ", "a. ", "é! ", "これはペンです。"])
    answer = sentence * (draw.randint(300_000, 1_000_000) // len(sentence.encode()))
    return "a.jsonl", (json.dumps({**_ROW, "answer": answer}, ensure_ascii=False) + "\n").encode()


# gzip


def _packed(start: bytes, part: bytes, times: int, end: bytes = b"") -> bytes:
    """Start, the part so many times, and end, without ever being held unpacked."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = part * max(1, (1 << 20) // len(part))
    out = [packer.compress(start)]
    out += [packer.compress(block) for _ in range(max(1, times * len(part) // len(block)))]
    return b"".join(out) + packer.compress(end) + packer.flush()


def gzip_of_newlines(draw: random.Random) -> tuple[str, bytes]:
    name, start = draw.choice([("a.jsonl.gz", b"{}\n"), ("a.csv.gz", _HEAD)])
    return name, _packed(start, b"\n", draw.randint(1 << 26, 1 << 30))


def gzip_of_blanks(draw: random.Random) -> tuple[str, bytes]:
    return "a.json.gz", _packed(b"[{},", b" ", draw.randint(1 << 27, 1 << 30))


def gzip_in_gzip(draw: random.Random) -> tuple[str, bytes]:
    content = _packed(b"", b"{}\n", 1 << 24)
    for _ in range(draw.randint(1, 5)):
        content = gzip.compress(content, mtime=0)
    return "a.jsonl.gz", content


def gzip_of_one_line(draw: random.Random) -> tuple[str, bytes]:
    start = b'{"question": "q", "answer": "'
    return "a.jsonl.gz", _packed(start, b"x", draw.randint(1 << 25, 1 << 28))


def gzip_of_csv_lines(draw: random.Random) -> tuple[str, bytes]:
    return "a.csv.gz", _packed(b"id,question,answer\n", b",,\n", draw.randint(1 << 22, 1 << 25))


def gzip_of_rows(draw: random.Random) -> tuple[str, bytes]:
    return "a.json.gz", _packed(b"[", b"{},", draw.randint(1 << 22, 1 << 26), end=b"{}]")


def gzip_of_lists(draw: random.Random) -> tuple[str, bytes]:
    name, content = lists_without_end(draw)
    return f"{name}.gz", gzip.compress(content, mtime=0)


def gzip_of_columns(draw: random.Random) -> tuple[str, bytes]:
    name, content = columns_without_end(draw)
    return f"{name}.gz", gzip.compress(content, mtime=0)


def empty_members(draw: random.Random) -> tuple[str, bytes]:
    return "a.jsonl.gz", gzip.compress(b"", mtime=0) * draw.randint(1_000, 50_000)


def cut_off(draw: random.Random) -> tuple[str, bytes]:
    name, content = gzip_of_newlines(draw)
    return name, content[: draw.randint(len(content) // 4, len(content) - 10)]


_SHAPES: dict[str, list[Make]] = {
    "parquet": [
        list_of_one_text,
        wide_rows,
        rows_of_nulls,
        structs_of_one_text,
        lists_of_lists,
        lists_of_nulls,
        packed_texts,
        shared_beginnings,
        many_columns,
        many_row_groups,
        one_large_text,
        damaged,
    ],
    "csv": [
        columns_without_end,
        cells_without_end,
        empty_lines,
        lines_in_a_cell,
        cells_of_lines,
        short_rows,
        rows_of_nothing,
        blanks_in_a_list,
        deep_cell,
        quotes,
    ],
    "json": [
        lists_without_end,
        objects_without_end,
        deep,
        deep_objects,
        rows_without_fields,
        lines_without_fields,
        blank_lines,
        never_closed,
        keys_without_end,
        sentences_without_end,
    ],
    "gzip": [
        gzip_of_newlines,
        gzip_of_blanks,
        gzip_in_gzip,
        gzip_of_one_line,
        gzip_of_csv_lines,
        gzip_of_rows,
        gzip_of_lists,
        gzip_of_columns,
        empty_members,
        cut_off,
    ],
}
