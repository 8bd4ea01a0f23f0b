"""Files that must be refused with a clear error, and what that error says."""

from __future__ import annotations

import gzip
import io
import json
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

GOOD = {"id": "a", "question": "q", "answer": "An answer."}


@dataclass(frozen=True)
class Hostile:
    name: str
    file_name: str
    make: Callable[[], bytes]
    code: str
    row: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        return self.name


def line(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}, ensure_ascii=False).encode() + b"\n"


def raw(text: str) -> bytes:
    """A good row, then one that holds this text as it stands."""
    return line(id="first") + b'{"id": "b", "question": "q", "answer": "x", ' + text.encode() + b"}\n"


def parquet(**columns: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


@cache
def parquet_bomb() -> bytes:
    """20 million rows of 100 bytes in some hundred kilobytes."""
    out = io.BytesIO()
    value = pa.array(["x" * 100])
    batch = pa.table(
        {name: pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), value) for name in GOOD}
    )
    with pq.ParquetWriter(out, batch.schema) as writer:
        for _ in range(20):
            writer.write_table(batch)
    return out.getvalue()


@cache
def parquet_wide_bomb() -> bytes:
    """Few rows, each decoding to a megabyte and a half."""
    out = io.BytesIO()
    big = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["x" * 1_500_000]))
    ids = pa.array([str(i) for i in range(3000)])
    pq.write_table(pa.table({"id": ids, "question": big, "answer": big}), out)
    return out.getvalue()


def parquet_lists(rows: int, each: int) -> bytes:
    """Lists in which every element is the same megabyte."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * (rows * each), pa.int32()), pa.array(["x" * 1_000_000]))
    lists = pa.ListArray.from_arrays(pa.array(range(0, rows * each + 1, each), pa.int32()), texts)
    ids = pa.array([str(i) for i in range(rows)])
    return parquet(id=ids, question=["q"] * rows, answer=["x"] * rows, contexts=lists)


def parquet_of_long_names() -> bytes:
    """Without Arrow's own copy of the names, which a limit of another kind would refuse."""
    out = io.BytesIO()
    columns = {name: ["x"] for name in (*GOOD, *(f"{index}" + "x" * 100_000 for index in range(90)))}
    pq.write_table(pa.table(columns), out, store_schema=False)
    return out.getvalue()


def nulls(rows: int) -> dict[str, pa.Array]:
    return dict.fromkeys(("question", "answer"), pa.nulls(rows, pa.string()))


@cache
def gzip_of_newlines() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    lines = [packer.compress(line()), *(packer.compress(b"\n" * (1 << 20)) for _ in range(1 << 9))]
    return b"".join(lines) + packer.flush()


@cache
def gzip_bomb() -> bytes:
    """256 MiB of blanks in some 260 kilobytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = (b" " * 1023 + b"\n") * 1024
    return packer.compress(line()) + b"".join(packer.compress(block) for _ in range(256)) + packer.flush()


def scrambled(data: bytes) -> bytes:
    """The same length, with the middle replaced by noise."""
    noise = random.Random(1).randbytes(len(data))
    return data[:8] + noise[8:-60] + data[-60:]


FILES = [
    Hostile("empty", "a.jsonl", lambda: b"", "empty"),
    Hostile("blank", "a.jsonl", lambda: b"\n \n", "empty"),
    Hostile("empty list", "a.json", lambda: b"[]", "empty"),
    Hostile("header only", "a.csv", lambda: b"id,question,answer\n", "empty"),
    Hostile("truncated row", "a.jsonl", lambda: line() + line(id="b")[:-9], "json", 2),
    Hostile("truncated list", "a.json", lambda: b"[" + line()[:-1] + b", " + line(id="b")[:-9], "truncated", 2),
    Hostile("list not closed", "a.json", lambda: b"[" + line()[:-1], "truncated", 1),
    Hostile("after the list", "a.json", lambda: b"[" + line() + b"] x", "json", 1),
    Hostile("no list", "a.json", lambda: b'{\n"version": 1,\n"note": "x"}', "shape"),
    Hostile("two lists", "a.json", lambda: b'{"data": [' + line() + b'], "items": [' + line() + b"]}", "shape"),
    Hostile("list of numbers", "a.json", lambda: b"[1, 2]", "not_object", 1),
    Hostile("row is a list", "a.jsonl", lambda: line() + b'["a"]\n', "not_object", 2),
    Hostile("row is a text", "a.jsonl", lambda: line() + b'"a"\n', "not_object", 2),
    Hostile("prose", "a.jsonl", lambda: b"hello\nworld\n", "format", 1),
    Hostile("answer is a number", "a.jsonl", lambda: line(answer=3), "type", 1, "answer"),
    Hostile("question is a list", "a.jsonl", lambda: line(question=["q"]), "type", 1, "question"),
    Hostile("question missing", "a.jsonl", lambda: b'{"id": "a", "answer": "x"}\n', "missing", 1, "question"),
    Hostile("answer empty", "a.jsonl", lambda: line(answer=""), "missing", 1, "answer"),
    Hostile("contexts are a text", "a.jsonl", lambda: line(retrieved_contexts="c"), "type", 1, "retrieved_contexts"),
    Hostile("key fact is a number", "a.jsonl", lambda: line(key_facts=[1]), "type", 1, "key_facts[0]"),
    Hostile("answer blank", "a.jsonl", lambda: line(answer=" "), "missing", 1, "answer"),
    Hostile("id null", "a.jsonl", lambda: line(id=None), "missing", 1, "id"),
    Hostile("id is a float", "a.jsonl", lambda: line(id=1.5), "type", 1, "id"),
    Hostile("id is true", "a.jsonl", lambda: line(id=True), "type", 1, "id"),
    Hostile("id too long", "a.jsonl", lambda: line(id="x" * 3000), "too_long", 1, "id"),
    Hostile("context is a number", "a.jsonl", lambda: line(contexts=["c", 7]), "type", 1, "contexts[1]"),
    Hostile("context without text", "a.jsonl", lambda: line(contexts=[{"id": "c"}]), "missing", 1, "contexts[0].text"),
    Hostile(
        "context score text",
        "a.jsonl",
        lambda: line(contexts=[{"text": "c", "score": "1"}]),
        "type",
        1,
        "contexts[0].score",
    ),
    Hostile("contexts is an object", "a.jsonl", lambda: line(contexts={"a": 1}), "type", 1, "contexts"),
    Hostile("too many contexts", "a.jsonl", lambda: line(contexts=["c"] * 1001), "too_long", 1, "contexts"),
    Hostile("claim is a number", "a.jsonl", lambda: line(claims=[1]), "type", 1, "claims[0]"),
    Hostile(
        "wrong span", "a.jsonl", lambda: line(claims=[{"text": "answer", "start": 0, "end": 6}]), "span", 1, "claims[0]"
    ),
    Hostile("half a span", "a.jsonl", lambda: line(claims=[{"text": "An", "start": 0}]), "span", 1, "claims[0]"),
    Hostile(
        "span beyond", "a.jsonl", lambda: line(claims=[{"text": "An", "start": -10, "end": 99}]), "span", 1, "claims[0]"
    ),
    Hostile("entity is an object", "a.jsonl", lambda: line(entities=[{}]), "type", 1, "entities[0]"),
    Hostile("NUL escaped", "a.jsonl", lambda: raw(r'"reference": "a\u0000b"'), "nul", 2, "reference"),
    Hostile("NUL in a key", "a.jsonl", lambda: raw(r'"k\u0000": 1'), "nul", 2),
    Hostile("NUL byte", "a.jsonl", lambda: line() + b'{"id": "b\0"}\n', "json", 2),
    Hostile("NUL in metadata", "a.jsonl", lambda: raw(r'"metadata": {"x": ["a\u0000"]}'), "nul", 2, "metadata.x[0]"),
    Hostile("NUL in CSV", "a.csv", lambda: b"id,question,answer\na,q,x\0y\n", "nul", 1, "answer"),
    Hostile(
        "NUL in Parquet", "a.parquet", lambda: parquet(id=["a"], question=["q"], answer=["x\0"]), "nul", 1, "answer"
    ),
    Hostile("NUL in a CSV header", "a.csv", lambda: b"id,ques\0tion,answer\na,q,x\n", "nul", None, "column 2"),
    Hostile(
        "long name in a CSV header",
        "a.csv",
        lambda: b"id,question,answer," + b"x" * 1_100_000 + b"\na,q,x,y\n",
        "csv",
    ),
    Hostile(
        "long name in a CSV header, by its bytes",
        "a.csv",
        lambda: b"id,question,answer," + "字".encode() * 400_000 + b"\na,q,x,y\n",
        "too_long",
        None,
        "column 4",
    ),
    Hostile(
        "NUL in a Parquet column",
        "a.parquet",
        lambda: parquet(**{"id": ["a"], "question": ["q"], "answer": ["x"], "no\0te": ["y"]}),
        "nul",
        None,
        "column name",
    ),
    Hostile("NaN", "a.jsonl", lambda: raw('"x": NaN'), "number", 2),
    Hostile("-Infinity", "a.jsonl", lambda: raw('"x": -Infinity'), "number", 2),
    Hostile("1e400", "a.jsonl", lambda: raw('"x": 1e400'), "number", 2),
    Hostile(
        "infinity in Parquet",
        "a.parquet",
        lambda: parquet(id=["a"], question=["q"], answer=["x"], n=[float("inf")]),
        "number",
        1,
        "n",
    ),
    Hostile(
        "NaN in a Parquet list",
        "a.parquet",
        lambda: parquet(id=["a"], question=["q"], answer=["x"], n=[[float("nan")]]),
        "number",
        1,
        "n[0]",
    ),
    Hostile("2^64", "a.jsonl", lambda: raw('"x": 18446744073709551616'), "number", 2),
    Hostile("2^63", "a.jsonl", lambda: raw('"x": 9223372036854775808'), "number", 2),
    Hostile("5000 digits", "a.jsonl", lambda: raw('"x": ' + "9" * 5000), "number", 2),
    Hostile(
        "uint64 in Parquet",
        "a.parquet",
        lambda: parquet(id=["a"], question=["q"], answer=["x"], n=pa.array([2**64 - 1], pa.uint64())),
        "number",
        1,
        "n",
    ),
    Hostile("duplicate key", "a.jsonl", lambda: raw('"answer": "y"'), "duplicate_key", 2, "answer"),
    Hostile("duplicate key, blanks", "a.jsonl", lambda: raw('"answer" : "y"'), "duplicate_key", 2, "answer"),
    Hostile("duplicate key, escaped", "a.jsonl", lambda: raw(r'"\u0061nswer": "y"'), "duplicate_key", 2, "answer"),
    Hostile("duplicate key, inner", "a.jsonl", lambda: raw('"metadata": {"a": 1, "a": 2}'), "duplicate_key", 2, "a"),
    Hostile(
        "column and metadata key", "a.jsonl", lambda: line(metadata={"turn": 1}, turn=2), "duplicate_key", 1, "turn"
    ),
    Hostile("lone surrogate", "a.jsonl", lambda: raw(r'"reference": "\ud83d"'), "surrogate", 2, "reference"),
    Hostile("duplicate id", "a.jsonl", lambda: line() + line(id="b") + line(), "duplicate_id", 3, "id"),
    Hostile("same id as number", "a.jsonl", lambda: line(id="7") + line(id=7), "duplicate_id", 2, "id"),
    Hostile("NFC and NFD twins", "a.jsonl", lambda: line(id="caf\u00e9") + line(id="cafe\u0301"), "id_twin", 2, "id"),
    Hostile(
        "same content without ids",
        "a.jsonl",
        lambda: b'{"question": "q", "answer": "x"}\n' * 2,
        "duplicate_id",
        2,
        "id",
    ),
    Hostile("invalid UTF-8", "a.jsonl", lambda: line() + b'{"id": "\xff"}\n', "encoding", 2),
    Hostile("invalid UTF-8 in CSV", "a.csv", lambda: b"id,question,answer\na,q,\xe9\n", "encoding"),
    Hostile("UTF-8 cut in CSV", "a.csv", lambda: b"id,question,answer\na,q,\xe4\xb8", "encoding"),
    Hostile("overlong UTF-8", "a.jsonl", lambda: line() + b'{"id": "\xc0\xaf"}\n', "encoding", 2),
    Hostile("surrogate as UTF-8", "a.jsonl", lambda: line() + b'{"id": "\xed\xa0\x80"}\n', "encoding", 2),
    Hostile("UTF-16 with mark", "a.jsonl", lambda: line().decode().encode("utf-16"), "encoding", 1),
    Hostile("UTF-16 without mark", "a.csv", lambda: "id,question,answer\na,q,x\n".encode("utf-16-le"), "encoding", 1),
    Hostile("second BOM", "a.jsonl", lambda: b"\xef\xbb\xbf\xef\xbb\xbf" + line(), "format", 1),
    Hostile("BOM in the middle", "a.jsonl", lambda: line() + b"\xef\xbb\xbf" + line(id="b"), "json", 2),
    Hostile(
        "100 MB line",
        "a.jsonl",
        lambda: line() + b'{"id": "b", "answer": "' + b"x" * 100_000_000 + b'"}\n',
        "line_too_long",
        2,
    ),
    Hostile(
        "100 MB row in a list",
        "a.json",
        lambda: b'[{"id": "b", "answer": "' + b"x" * 100_000_000 + b'"}]',
        "line_too_long",
        1,
    ),
    Hostile("100 MB line in CSV", "a.csv", lambda: b"id,question,answer\na,q," + b"x" * 100_000_000, "line_too_long"),
    Hostile(
        "2 MiB field", "a.jsonl", lambda: line() + line(id="b", reference="x" * (2 << 20)), "too_long", 2, "reference"
    ),
    Hostile(
        "2 MiB field in Chinese",
        "a.jsonl",
        lambda: line() + line(id="b", reference="字" * 400_000),
        "too_long",
        2,
        "reference",
    ),
    Hostile("2 MiB cell", "a.csv", lambda: b"id,question,answer\na,q," + b"x" * (2 << 20), "csv", 1),
    Hostile(
        "2 MiB in Parquet",
        "a.parquet",
        lambda: parquet(id=["a"], question=["q"], answer=["x" * (2 << 20)]),
        "too_long",
        1,
        "answer",
    ),
    Hostile("depth 100,000", "a.jsonl", lambda: raw('"x": ' + "[" * 100_000 + "]" * 100_000), "depth", 2),
    Hostile("depth 21", "a.jsonl", lambda: raw('"x": ' + "[" * 20 + "]" * 20), "depth", 2),
    Hostile("unclosed quote", "a.csv", lambda: b'id,question,answer\na,q,x\nb,"q,x\nc,q,x\n', "csv", 2),
    Hostile("quote inside", "a.csv", lambda: b'id,question,answer\na,"q" r,x\n', "csv", 1),
    Hostile("too few cells", "a.csv", lambda: b"id,question,answer\na,q,x\nb,q\n", "columns", 2),
    Hostile("too many cells", "a.csv", lambda: b"id,question,answer\na,q,x,y\n", "columns", 1),
    Hostile("no question column", "a.csv", lambda: b"id,answer\na,x\n", "missing_column", None, "question"),
    Hostile(
        "two columns of one name",
        "a.csv",
        lambda: b"id,question,answer,answer\na,q,x,y\n",
        "duplicate_column",
        None,
        "answer",
    ),
    Hostile(
        "broken list in a cell",
        "a.csv",
        lambda: b'id,question,answer,contexts\na,q,x,"[""c"", d]"\n',
        "json",
        1,
        "contexts",
    ),
    Hostile(
        "numpy list in a cell",
        "a.csv",
        lambda: b"id,question,answer,contexts\na,q,x,['c' 'd']\n",
        "json",
        1,
        "contexts",
    ),
    Hostile("garbage", "a.parquet", lambda: random.Random(2).randbytes(5000), "parquet"),
    Hostile("garbage named JSONL", "a.jsonl", lambda: b"\x01\x02" + random.Random(3).randbytes(500), "format"),
    Hostile("truncated Parquet", "a.parquet", lambda: parquet(id=["a"], question=["q"], answer=["x"])[:-20], "parquet"),
    Hostile("short Parquet", "a.parquet", lambda: b"PAR1", "parquet"),
    Hostile(
        "Parquet with noise inside",
        "a.parquet",
        lambda: scrambled(parquet(id=[str(i) for i in range(5000)], question=["q"] * 5000, answer=["x"] * 5000)),
        "parquet",
    ),
    Hostile(
        "Parquet without question",
        "a.parquet",
        lambda: parquet(id=["a"], answer=["x"]),
        "missing_column",
        None,
        "question",
    ),
    Hostile(
        "Parquet with bytes",
        "a.parquet",
        lambda: parquet(id=["a"], question=["q"], answer=[b"x"]),
        "column_type",
        None,
        "answer",
    ),
    Hostile(
        "Parquet with numbers", "a.parquet", lambda: parquet(id=["a"], question=["q"], answer=[3]), "type", 1, "answer"
    ),
    Hostile(
        "Parquet with a map",
        "a.parquet",
        lambda: parquet(
            id=["a"], question=["q"], answer=["x"], m=pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8()))
        ),
        "column_type",
        None,
        "m",
    ),
    Hostile(
        "Parquet with an extension type",
        "a.parquet",
        lambda: parquet(id=["a"], question=["q"], answer=["x"], u=pa.array([b"0" * 16], pa.uuid())),
        "column_type",
        None,
        "u",
    ),
    Hostile("Parquet bomb", "a.parquet", parquet_bomb, "too_large"),
    Hostile("Parquet wide bomb", "a.parquet", parquet_wide_bomb, "too_long", 1, "question"),
    Hostile("Parquet list bomb", "a.parquet", lambda: parquet_lists(rows=32, each=50), "line_too_long", 1),
    Hostile("Parquet rows of nulls", "a.parquet", lambda: parquet(**nulls(1_900_000)), "missing", 1, "question"),
    Hostile(
        "nulls in a Parquet list",
        "a.parquet",
        lambda: parquet(id=["a"], question=["q"], answer=["x"], n=[[None] * 150_000]),
        "too_large",
        None,
        "n.list.element",
    ),
    Hostile(
        "Parquet of 1,001 columns",
        "a.parquet",
        lambda: parquet(id=["a"], question=["q"], answer=["x"], **{f"c{index}": [1] for index in range(998)}),
        "too_large",
    ),
    Hostile("Parquet of long names", "a.parquet", parquet_of_long_names, "line_too_long"),
    Hostile(
        "CSV of 300,000 columns",
        "a.csv",
        lambda: b"id,question,answer," + b",".join(b"c%d" % index for index in range(300_000)) + b"\na,q,x\n",
        "too_large",
    ),
    Hostile("empty lines", "a.csv", lambda: b"id,question,answer\n" + b"\n" * 100_001 + b"a,q,x\n", "too_large"),
    Hostile("empty lines of JSONL", "a.jsonl", lambda: line() + b"\n" * 100_001 + line(id="b"), "too_large"),
    Hostile(
        "a row of many lines",
        "a.csv",
        lambda: b"id,question,answer\na,q" + (b',"' + b"\n" * 900_000 + b'"') * 10 + b"\n",
        "line_too_long",
    ),
    Hostile("list without end", "a.jsonl", lambda: raw('"x": [' + "[]," * 1_000_000 + "1]"), "too_many_values", 2),
    Hostile(
        "1,001 keys",
        "a.jsonl",
        lambda: raw(", ".join(f'"k{index}": 1' for index in range(1_001))),
        "too_many_values",
        2,
    ),
    Hostile("text never closed", "a.jsonl", lambda: line() + b'{"id": "' + b'\\"' * 1_000_000 + b"\n", "json", 2),
    Hostile(
        "list of Python strings with many blanks",
        "a.csv",
        lambda: b"id,question,answer,contexts\na,q,x,\"['c'" + b" " * 500_000 + b'd]"\n',
        "json",
        1,
        "contexts",
    ),
    Hostile(
        "Python string with a bad escape",
        "a.csv",
        lambda: b"id,question,answer,contexts\na,q,x,['\\x']\n",
        "json",
        1,
        "contexts",
    ),
    Hostile(
        "NUL in a list of Python strings",
        "a.csv",
        lambda: b"id,question,answer,contexts\na,q,x,['\\0']\n",
        "nul",
        1,
        "contexts",
    ),
    Hostile("1,001 sentences", "a.jsonl", lambda: line(answer="It is so. " * 1_001), "too_long", 1, "answer"),
    Hostile("a megabyte of Chinese", "a.jsonl", lambda: line(answer="太阳很热。" * 69_000), "too_long", 1, "answer"),
    Hostile("keys without rows", "a.json", lambda: b'{"a": [1]' + b', "a": 1' * 100_000 + b"}", "too_large"),
    Hostile("empty columns under one key", "a.json", lambda: b"{" + b'"data": {},' * 100_001 + b'"a": 1}', "too_large"),
    Hostile("a column of lists", "a.json", lambda: b'{"a": [' + b"[]," * 4_000_000 + b"[]]}", "too_many_values"),
    Hostile(
        "a row of lists",
        "a.json",
        lambda: b"[" + line()[:-1] + b',{"x": [' + b"[]," * 100_000 + b"[]]}]",
        "too_many_values",
        2,
    ),
    Hostile("gzip of nothing", "a.jsonl.gz", lambda: gzip.compress(b"", mtime=0) * 100_000, "archive"),
    Hostile(
        "gzip of nothing, later",
        "a.jsonl.gz",
        lambda: gzip.compress(line() * 2_000, mtime=0) + gzip.compress(b"", mtime=0) * 300_000,
        "archive",
    ),
    Hostile("gzip bomb", "a.jsonl.gz", gzip_bomb, "too_large"),
    Hostile("gzip of newlines", "a.jsonl.gz", gzip_of_newlines, "too_large"),
    Hostile("gzip in gzip", "a.jsonl.gz", lambda: gzip.compress(gzip.compress(line(), mtime=0)), "format"),
    Hostile("zip in gzip", "a.jsonl.gz", lambda: gzip.compress(b"PK\x03\x04" + bytes(100), mtime=0), "format"),
    Hostile("truncated gzip", "a.jsonl.gz", lambda: gzip.compress(line() * 1000, mtime=0)[:-10], "archive"),
    Hostile(
        "damaged gzip",
        "a.jsonl.gz",
        lambda: gzip.compress(line(), mtime=0)[:12] + b"\xff\xff\xff" + gzip.compress(line(), mtime=0)[15:],
        "archive",
    ),
    Hostile("zip", "a.csv", lambda: b"PK\x03\x04" + bytes(100), "format"),
    Hostile("workbook", "a.xlsx", lambda: b"PK\x03\x04" + bytes(100), "format"),
    Hostile("pickle", "a.jsonl", lambda: b"\x80\x04\x95" + bytes(100), "format"),
]
