"""Files that no well-meant person uploads: samples in shapes that tests/annotate/files/hostile.py lacks, labels,
scores, questions, judgements, rankings, criteria and images.

Each has the code of its first error and, where one is at fault, the row and the field.
"""

# The tables stay tables.
# fmt: off
from __future__ import annotations

import bz2
import dataclasses
import gzip
import io
import json
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq


@dataclass(frozen=True)
class Upload:
    kind: str
    name: str
    file_name: str
    make: Callable[[], bytes]
    code: str
    row: int | None = None
    where: str | None = None
    form: dict[str, str] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


def upload(kind: str, name: str, data: bytes | Callable[[], bytes], code: str, row: int | None = None,
    where: str | None = None,
           file: str = "a.jsonl", **form: str) -> Upload:
    return Upload(kind, name, file, data if callable(data) else lambda: data, code, row, where, form)


def rows(*given: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in given)


def zipped(*names: str, content: bytes = b"id,question,answer\na,q,x\n") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return out.getvalue()


def linked(name: str, target: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        link = tarfile.TarInfo(name)
        link.type, link.linkname = tarfile.SYMTYPE, target
        archive.addfile(link)
    return out.getvalue()


def parquet(columns: dict[str, Any], **how: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **how)
    return out.getvalue()


def in_parquet(**columns: Any) -> bytes:
    return parquet({"id": ["s1"], "question": ["q"], "answer": ["x"], **columns})


def repeated(name: str) -> bytes:
    table = pa.Table.from_arrays([pa.array(["a"])] * 4, ["id", "question", "answer", name])
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def arrow() -> bytes:
    out = io.BytesIO()
    feather.write_feather(pa.table({"id": ["a"]}), out)
    return out.getvalue()


def deep_struct(depth: int) -> pa.Array:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return pa.array([value])


GOOD = {"id": "s1", "question": "q", "answer": "x"}
HEAD = b"id,question,answer\n"
CSV: dict[str, Any] = {"file": "a.csv"}
PQ: dict[str, Any] = {"file": "a.parquet"}
LIST: dict[str, Any] = {"file": "a.json"}
GZ: dict[str, Any] = {"file": "a.jsonl.gz"}


def samples(name: str, data: Any, code: str, row: int | None = None, where: str | None = None, **more: str) -> Upload:
    return upload("samples", name, data, code, row, where, **more)


SAMPLES = [
    # what is no table at all
    samples("zip with a way out", zipped("../../etc/cron.d/x"), "format", **CSV),
    samples("zip of a million zeros", zipped("a.csv", content=b"0" * 1_000_000), "format", **CSV),
    samples("workbook that is one", zipped("[Content_Types].xml", "xl/workbook.xml"), "format", file="a.xlsx"),
    samples("workbook of old", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), "format", file="a.xls"),
    samples("tar", linked("a", "/etc/passwd"), "format", file="a.tar.gz"),
    samples("tar, named as lines", linked("a", "/etc/passwd"), "format", **GZ),
    samples("bzip2", bz2.compress(rows(GOOD)), "format", file="a.jsonl.bz2"),
    samples("xz", lzma.compress(rows(GOOD)), "format", file="a.jsonl.xz"),
    samples("zstd", b"\x28\xb5\x2f\xfd" + bytes(40), "format", file="a.jsonl.zst"),
    samples("7z", b"7z\xbc\xaf\x27\x1c" + bytes(40), "format", file="a.7z"),
    samples("SQLite", b"SQLite format 3\0" + bytes(84), "format", file="a.db"),
    samples("PDF", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "format", file="a.pdf"),
    samples("HTML", b"<!doctype html><script>alert(1)</script>", "missing_column", None, "question", file="a.html"),
    samples("XML with an entity", b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
        "missing_column", None, "question", file="a.xml"),
    samples("YAML", b"!!python/object/apply:os.system [id]\n", "missing_column", None, "question", file="a.yaml"),
    samples("a program", b"\x7fELF\x02\x01\x01" + bytes(60), "format", file="a.csv"),
    samples("Arrow", arrow, "format", file="a.feather"),
    samples("Avro", b"Obj\x01\x04\x16avro.schema" + bytes(20), "format", file="a.avro"),
    samples("a notebook", b'{"cells": [], "metadata": {}, "nbformat": 4}', "missing", 1, "question", file="a.ipynb"),
    # encodings
    samples("UTF-32", rows(GOOD).decode().encode("utf-32"), "encoding", 1),
    samples("UTF-32 without a mark", rows(GOOD).decode().encode("utf-32-le"), "encoding", 1),
    samples("UTF-16 with the bytes turned", (HEAD + b"a,q,x\n").decode().encode("utf-16-be"), "encoding", 1, **CSV),
    samples("Shift-JIS", HEAD + "a,質問,答え\n".encode("shift_jis"), "encoding", **CSV),
    samples("GBK", HEAD + "a,问题,答案\n".encode("gbk"), "encoding", **CSV),
    samples("EBCDIC", (HEAD + b"a,q,x\n").decode().encode("cp500"), "encoding", **CSV),
    samples("half of a letter at the end", rows(GOOD) + '{"id": "字'.encode()[:-1], "encoding", 2),
    samples("UTF-8 beyond Unicode", rows(GOOD) + b'{"id": "\xf4\x90\x80\x80"}\n', "encoding", 2),
    samples("five bytes of UTF-8", rows(GOOD) + b'{"id": "\xf8\x88\x80\x80\x80"}\n', "encoding", 2),
    samples("surrogates in a pair, in UTF-8", rows(GOOD) + b'{"id": "\xed\xa0\xbd\xed\xb8\x80"}\n', "encoding", 2),
    samples("a mark between header and rows", HEAD + b"\xef\xbb\xbfs1,q,x\n", "encoding", 1, **CSV),
    # JSON and lines
    samples("a comma behind each line", b",\n".join(rows(GOOD).splitlines() * 2) + b",\n", "json", 1),
    samples("carriage returns only", rows(GOOD, GOOD).replace(b"\n", b"\r"), "json", 1),
    samples("Python's way", b"{'id': 's1', 'question': 'q', 'answer': None}\n", "json", 1),
    samples("a comment", b"// rows\n" + rows(GOOD), "format", 1),
    samples("NaN in a column", b'{"question": ["q", "r"], "answer": ["x", NaN]}', "number", 2, **LIST),
    samples("columns of two lengths", b'{"question": ["q", "r"], "answer": ["x"]}', "columns", **LIST),
    samples("a column that is a text", b'{"question": ["q"], "answer": "x"}', "type", 1, "question", **LIST),
    samples("a column twice", b'{"question": ["q"], "answer": ["x"], "answer": ["y"]}', "duplicate_column", None,
        "answer", **LIST),
    samples("rows within rows", b'{"data": {"data": {"data": [' + rows(GOOD) + b"]}}}", "shape", **LIST),
    samples("10,000 brackets", b"[" * 10_000 + b"]" * 10_000, "not_object", 1, **LIST),
    samples("10,000 keys in one another", b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "depth", **LIST),
    samples("a text of escapes that stops", rows(GOOD) + b'{"id": "\\u12"}\n', "json", 2),
    samples("a bell in a text", rows(GOOD) + b'{"id": "\x07"}\n', "json", 2),
    samples("an unknown escape", rows(GOOD) + b'{"id": "\\x41"}\n', "json", 2),
    samples("a number that begins with 0", rows(GOOD) + b'{"id": 007, "question": "q"}\n', "json", 2),
    samples("-0 and 0 as ids", rows({**GOOD, "id": 0}) + b'{"id": -0, "question": "q", "answer": "x"}\n',
        "duplicate_id", 2, "id"),
    samples("ids of zero width", rows({**GOOD, "id": "\u200b"}), "missing", 1, "id"),
    samples("a question of zero width", rows({**GOOD, "question": "\u200b\ufeff"}), "missing", 1, "question"),
    samples("a second answer without a first", rows({"id": "a", "question": "q", "answer_b": "x"}), "no_answer", 1,
        "answer_b"),
    samples("claims without an answer", rows({"id": "a", "question": "q", "claims": ["x"]}), "no_answer", 1, "claims"),
    samples("abstained as a number", rows({**GOOD, "abstained": 2}), "type", 1, "abstained"),
    samples("a span of true and false", rows({**GOOD, "claims": [{"text": "x", "start": False, "end": True}]}), "span",
        1, "claims[0]"),
    samples("a span beyond 32 bits", rows({**GOOD, "claims": [{"text": "x", "start": 0, "end": 2**40}]}), "span", 1,
        "claims[0]"),
    samples("a claim within a claim", rows({**GOOD, "claims": [{"text": {"text": "x"}}]}), "type", 1, "claims[0]"),
    samples("a context of null", rows({**GOOD, "contexts": [None]}), "type", 1, "contexts[0]"),
    samples("a context's score of NaN as text", rows({**GOOD, "contexts": [{"text": "c", "score": "NaN"}]}), "type", 1,
        "contexts[0].score"),
    samples("documents in one another", rows({**GOOD, "retrieved_doc_ids": [["a"]]}), "type", 1,
        "retrieved_doc_ids[0]"),
    samples("a group that is an object", rows({**GOOD, "group_key": {}}), "type", 1, "group_key"),
    samples("another answer under an id that is there", rows({"id": "kb-001", "question": "q", "answer": "other"}),
        "conflict", 1, "id"),
    # CSV
    samples("Excel's first line", b"sep=;\nid;question;answer\na;q;x\n", "missing_column", None, "question", **CSV),
    samples("a header of empty names", b",,\na,q,x\n", "empty", **CSV),
    samples("a header within quotes over lines", b'"id\n",question,answer\na,q\n', "columns", 1, **CSV),
    samples("names that differ in case only", b"id,question,Question,answer\na,q,r,x,\n", "columns", 1, **CSV),
    samples("a quote never opened", HEAD + b'a,q",x\nb,q,"x\n', "csv", 2, **CSV),
    samples("line ends of three kinds", HEAD.replace(b"\n", b"\r\n") + b"a,q,x\rb,q,x\nc,q\r\n", "csv", 1, **CSV),
    samples("a carriage return in a cell", HEAD + b"a,q\rb,x\n", "csv", 1, **CSV),
    samples("two separators", b"id;question,answer\na;q,x\n", "missing_column", None, "question", **CSV),
    samples("JSON in a cell that goes deep", HEAD[:-1] + b",contexts\na,q,x,\"" + b"[" * 5_000 + b"]" * 5_000 + b'"\n',
        "depth", 1, "contexts", **CSV),
    samples("Python that would be run in a cell",
        HEAD[:-1] + b",contexts\na,q,x,\"[__import__('os').system('id')]\"\n", "json", 1, "contexts", **CSV),
    samples("a million empty cells", HEAD + b"," * 1_000_000 + b"\n", "columns", 1, **CSV),
    # gzip
    samples("gzip and something behind it", gzip.compress(rows(GOOD), mtime=0) + b"tail", "archive", **GZ),
    samples("gzip with another checksum", gzip.compress(rows(GOOD), mtime=0)[:-8] + bytes(8), "archive", **GZ),
    samples("gzip with a kind nobody knows", b"\x1f\x8b\x07" + gzip.compress(rows(GOOD), mtime=0)[3:], "archive", **GZ),
    samples("gzip with a name that never ends", b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 200_000, "archive", **GZ),
    samples("zlib", zlib.compress(rows(GOOD)), "format", file="a.jsonl.gz"),
    # Parquet
    samples("Parquet that is encrypted", b"PARE" + bytes(40) + b"PARE", "parquet", **PQ),
    samples("Parquet with a footer of 4 GiB", b"PAR1" + bytes(40) + struct.pack("<I", 2**32 - 1) + b"PAR1", "parquet",
        **PQ),
    samples("Parquet without rows", parquet({"id": pa.array([], pa.string()), "question": pa.array([], pa.string())}),
        "empty", **PQ),
    samples("Parquet without columns", parquet({}), "missing_column", None, "question", **PQ),
    samples("Parquet with a column twice", repeated("answer"), "duplicate_column", None, "answer", **PQ),
    samples("Parquet with a zero in a list", in_parquet(contexts=[["c\0"]]), "nul", 1, "contexts[0]", **PQ),
    samples("Parquet of 30 structs in one another", in_parquet(m=deep_struct(30)), "column_type", None, "m", **PQ),
    samples("Parquet with a date of the year 292,000", in_parquet(t=pa.array([2**62], pa.timestamp("us"))), "number",
        1, "t", **PQ),
    samples("Parquet with days beyond any", in_parquet(t=pa.array([None, 2**30], pa.date32())[1:]), "number", 1, "t",
        **PQ),
    samples("Parquet with decimals", in_parquet(d=pa.array([None], pa.decimal256(76, 10))), "column_type", None, "d",
        **PQ),
    samples("Parquet with an answer of nulls", in_parquet(answer=pa.nulls(1), claims=[["x"]]), "no_answer", 1,
        "claims", **PQ),
    samples("Parquet with bytes in a list", in_parquet(m=pa.array([[b"\xff"]])), "column_type", None, "m", **PQ),
    # mapping
    samples("a mapping of a column that is not there", rows(GOOD), "missing_column", None, "zz",
        mapping='{"zz": "answer"}'),
]


def labels(name: str, changes: Any, code: str, where: str | None = None, row: int | None = 1, **more: str) -> Upload:
    good = {"sample_id": "kb-001", "unit": "claim:0", "criterion": "support", "rater": "zoe", "value": "supported"}
    data = changes if isinstance(changes, bytes) else rows({**good, **changes})
    return upload("labels", name, data, code, row, where, **more)


LABELS = [
    labels("of a sample nobody has", {"sample_id": "nobody"}, "unknown_sample", "sample_id"),
    labels("of a sample with a zero", {"sample_id": "a\0"}, "nul", "sample_id"),
    labels("of claim -1", {"unit": "claim:-1"}, "unknown_unit", "unit"),
    labels("of claim 10**30", {"unit": "claim:" + "9" * 30}, "unknown_unit", "unit"),
    labels("of a claim in Arabic digits", {"unit": "claim:٠"}, "unknown_unit", "unit"),
    labels("of another kind of unit", {"unit": "context:0"}, "unit_kind", "unit"),
    labels("of a criterion nobody knows", {"criterion": "__class__"}, "unknown_criterion", "criterion"),
    labels("by nobody", {"rater": "\u200b"}, "missing", "rater"),
    labels("by 201 letters", {"rater": "r" * 201}, "too_long", "rater"),
    labels("by a list", {"rater": ["zoe"]}, "type", "rater"),
    labels("with another spelling", {"value": "SUPPORTED"}, "not_an_option", "value"),
    labels("with an object", {"value": {"a": 1}}, "not_an_option", "value"),
    labels("with null", {"value": None}, "missing", "value"),
    labels("with true", {"value": True}, "not_an_option", "value"),
    labels("with a comment of 10,001", {"comment": "c" * 10_001}, "too_long", "comment"),
    labels("with evidence of nowhere", {"evidence": [{"context": 99, "start": 0, "end": 1, "quote": "x"}]},
        "bad_evidence", "evidence"),
    labels("with evidence that is a text", {"evidence": "context 0"}, "bad_evidence", "evidence"),
    labels("with other words of the unit", {"unit_text": "something else"}, "unit_text", "unit_text"),
    labels("twice, in two ways",
        rows(*({"sample_id": "kb-001", "unit": "claim:0", "criterion": "support", "rater": "zoe", "value": value}
                                        for value in ("supported", "contradicted"))), "duplicate", None, 2),
    labels("without a criterion", b"sample_id,unit,rater,value\nkb-001,claim:0,zoe,supported\n", "missing_column",
        "criterion", None, **CSV),
]


def scores(name: str, changes: Any, code: str, where: str | None = None, row: int | None = 1, **more: str) -> Upload:
    good = {"sample_id": "kb-001", "unit": "claim:0", "criterion": "support", "judge": "new-judge", "score": 0.5}
    data = changes if isinstance(changes, bytes) else rows({**good, **changes})
    return upload("scores", name, data, code, row, where, **more)


LABEL = {"sample_id": "kb-001", "unit": "claim:0", "criterion": "support"}
SCORES = [
    scores("1e101", {"score": 1e101}, "not_a_number", "score"),
    scores("NaN", b'{"sample_id": "kb-001", "judge": "j", "score": NaN}\n', "number"),
    scores("a list", {"score": [0.5]}, "not_a_number", "score"),
    scores("a word", {"score": "high"}, "not_a_number", "score"),
    scores("a number in Arabic digits", {"score": "٠٫٥"}, "not_a_number", "score"),
    scores("a status nobody knows", {"status": "maybe"}, "unknown_status", "status"),
    scores("a judge with a zero", {"judge": "j\0"}, "nul", "judge"),
    scores("a judge of 201", {"judge": "j" * 201}, "too_long", "judge"),
    scores("a dimension of 121", {"criterion": "d" * 121}, "type", "criterion"),
    scores("a repeat below nothing", {"repeat": -1}, "type", "repeat"),
    scores("a repeat beyond 32 bits", {"repeat": 2**40}, "type", "repeat"),
    scores("better when 2", {"higher_is_better": 2}, "type", "higher_is_better"),
    scores("two that contradict",
        rows(*({**LABEL, "judge": "j", "score": 0.5, "repeat": int(up), "higher_is_better": up}
                                         for up in (True, False))), "conflict", "higher_is_better", 2),
    scores("a wide row that fits two samples", rows({"question": "zz", "answer": "zz", "faithfulness": 0.5}),
        "unknown_sample"),
    scores("no judge and no number", rows({"sample_id": "kb-001", "note": "x"}), "missing_column", "judge", None),
]


def questions(name: str, changes: Any, code: str, where: str | None = None, row: int | None = 1) -> Upload:
    data = changes if isinstance(changes, bytes) else rows({"id": "hq1", "question": "q?", **changes})
    return upload("questions", name, data, code, row, where, set="hostile")


QUESTIONS = [
    questions("of a kind nobody knows", {"type": "trick"}, "unknown_type", "type"),
    questions("with grades below nothing", {"relevant": {"d1": -1}}, "bad_grade", "relevant[d1]"),
    questions("with grades that are true", {"relevant": {"d1": True}}, "bad_grade", "relevant[d1]"),
    questions("with a grade beyond 32 bits", {"relevant": {"d1": 2**40}}, "bad_grade", "relevant[d1]"),
    questions("with turns that are texts", {"earlier_turns": ["hello"]}, "type", "earlier_turns[0]"),
    questions("with turns without words", {"earlier_turns": [{"role": "user"}]}, "missing", "earlier_turns[0].text"),
    questions("with 100,001 turns", {"earlier_turns": [{"role": "u", "text": "t"}] * 40_000}, "too_many_values"),
    questions("twice", rows({"id": "hq1", "question": "q?"}, {"id": "hq1", "question": "r?"}), "duplicate_id", "id", 2),
    questions("without words", {"question": " "}, "missing", "question"),
    questions("with a difficulty that is a list", {"difficulty": []}, "type", "difficulty"),
]


def trec(kind: str, name: str, text: str | bytes, code: str, row: int = 1, **form: str) -> Upload:
    data = text if isinstance(text, bytes) else text.encode()
    return upload(kind, name, data, code, row, file="a.txt", **{"set": "common@1", **form})


RUN: dict[str, Any] = {"version": "v3"}
TREC = [
    trec("qrels", "three columns", "t-001 0 d1\n", "columns"),
    trec("qrels", "a grade that is a word", "t-001 0 d1 yes\n", "bad_grade"),
    trec("qrels", "a grade below nothing", "t-001 0 d1 -1\n", "bad_grade"),
    trec("qrels", "a grade of 40 digits", "t-001 0 d1 " + "9" * 40 + "\n", "bad_grade"),
    trec("qrels", "a question nobody asked", "zz 0 d1 1\n", "unknown_question"),
    trec("qrels", "a document twice", "t-001 0 d1 1\nt-001 0 d1 2\n", "duplicate_document", 2),
    trec("qrels", "a zero", "t-001 0 d\0 1\n", "nul"),
    trec("qrels", "Latin-1", b"t-001 0 caf\xe9 1\n", "encoding"),
    trec("run", "a rank twice", "t-001 Q0 d1 1 .9 x\nt-001 Q0 d2 1 .8 x\n", "duplicate_rank", 2, **RUN),
    trec("run", "a score that rises", "t-001 Q0 d1 1 .1 x\nt-001 Q0 d2 2 .9 x\n", "score_against_rank", 2, **RUN),
    trec("run", "a score of NaN", "t-001 Q0 d1 1 nan x\n", "bad_score", 1, **RUN),
    trec("run", "a score of infinity", "t-001 Q0 d1 1 1e999 x\n", "bad_score", 1, **RUN),
    trec("run", "a rank of 1.5", "t-001 Q0 d1 1.5 .9 x\n", "bad_rank", 1, **RUN),
]

UPLOADS = [*SAMPLES, *LABELS, *SCORES, *QUESTIONS, *TREC]


# Criteria and images answer at once, with one sentence: its status, and a word of it.
@dataclass(frozen=True)
class Sent:
    to: str
    name: str
    data: bytes
    says: str
    file_name: str = "a.json"
    status: int = 422

    def __str__(self) -> str:
        return f"{self.to.strip('/')}: {self.name}"


def criterion(name: str, changes: Any, says: str) -> Sent:
    good = {"key": "h", "unit": "claim", "scale": "binary", "prompt": "?", "options": [{"value": "a"}, {"value": "b"}]}
    data = changes if isinstance(changes, bytes) else json.dumps([{**good, **changes}]).encode()
    return Sent("criteria/", name, data, says)


def image(name: str, data: bytes, file_name: str = "a.png", says: str = "PNG, JPEG", status: int = 400) -> Sent:
    return Sent("guidelines/images/", name, data, says, file_name, status)


def png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunk(*one) for one in chunks) + chunk(b"IEND", b"")


SENT = [
    criterion("not JSON", b"key: h", "JSON"),
    criterion("a scale nobody knows", {"scale": "ratio"}, "scale"),
    criterion("a unit nobody knows", {"unit": "token"}, "unit"),
    criterion("three options of two", {"options": [{"value": v} for v in "abc"]}, "options"),
    criterion("51 options", {"scale": "nominal", "options": [{"value": v} for v in range(51)]}, "50"),
    criterion("a value of 201", {"options": [{"value": "a" * 201}, {"value": "b"}]}, "200"),
    criterion("a value beyond 2**53", {"options": [{"value": 2**53 + 1}, {"value": 1}]}, "value"),
    criterion("passes what it has not", {"pass": ["c"]}, "pass"),
    criterion("a hotkey that is taken", {"options": [{"value": "a", "hotkey": "j"}, {"value": "b"}]}, "hotkey"),
    criterion("two with one hotkey", {"options": [{"value": "a", "hotkey": "q"}, {"value": "b", "hotkey": "q"}]},
        "hotkey"),
    criterion("a key with a blank", {"key": "a b"}, "key"),
    criterion("a key that is a number", {"key": 1}, "key"),
    criterion("required in words", {"required": "no"}, "required"),
    criterion("an answer that is no claim", {"prefill": "answer"}, "prefill"),
    criterion("a word nobody knows", {"optoins": []}, "optoins"),
    criterion("a key twice", b'[{"key": "h", "key": "i"}]', "key"),
    image("nothing but a head", b"\x89PNG\r\n\x1a\n"),
    image("a picture that stops", png(2, 2, (b"IDAT", b""))[:-9]),
    image("a picture of 2**31 by 2**31", png(2**31 - 1, 2**31 - 1, (b"IDAT", zlib.compress(bytes(14)))), says="pixels"),
    image("a bomb of 30,000 by 30,000", png(30_000, 30_000, (b"IDAT", zlib.compress(bytes(1_000_000)))), says="pixels"),
    image("nothing by nothing", png(0, 0, (b"IDAT", b""))),
    image("a drawing with a script", b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        "a.svg"),
    image("a drawing that says it is a picture", b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
    image("a page that says it is a picture", b"GIF89a<script>alert(1)</script>", "a.gif"),
    image("a page", b"<!doctype html><script>alert(1)</script>", "a.png"),
    image("a PDF", b"%PDF-1.7\n", "a.pdf"),
    image("a PostScript", b"%!PS-Adobe-3.0\n(/etc/passwd) (r) file", "a.jpg"),
    image("noise", bytes(range(256)) * 8, "a.webp"),
    image("20 MB", b"\x89PNG\r\n\x1a\n" + bytes(20_000_000), says="at most", status=413),
]
