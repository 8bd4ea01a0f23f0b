# ruff: noqa: E501 - one input per line reads better
"""What becomes of good files: every spelling, text as it was, the same again changes nothing."""

from __future__ import annotations

import csv
import gzip
import io
import json
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.core.texts import is_blank
from annotate.files.cells import guard, unguard
from annotate.files.import_engine import preview, run
from annotate.models import Project, Sample

Write = Callable[..., Path]


def load(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("import_samples", "p", str(path), *options, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.mark.parametrize(
    "row",
    [
        {"user_input": "q", "response": "a", "retrieved_contexts": ["c"], "reference": "r"},
        {"question": "q", "answer": "a", "contexts": ["c"], "ground_truth": "r"},
        {"question": "q", "answer": "a", "contexts": ["c"], "ground_truths": ["r"]},
        {"query": "q", "contexts": ["c"], "answer": "a", "ground_truth": "r"},
        {"input": "q", "actual_output": "a", "expected_output": "r", "retrieval_context": ["c"]},
        {"sample_id": "1", "question": "q", "rag_answer": "a", "context": "c", "reference_answer": "r"},
        {"Question": "q", "ANSWER": "a", "Retrieved Contexts": ["c"], "Ground Truth": "r"},
        {"userInput": "q", "Response": "a", "contexts": [{"doc_id": 7, "page_content": "c"}], "reference-answer": "r"},
    ],
)
def test_spellings(row: dict[str, Any], project: Project, write: Write) -> None:
    load(write("a.jsonl", [row]))

    sample = Sample.objects.get()
    assert (sample.question, sample.answer, sample.reference) == ("q", "a", "r")
    assert [context["text"] for context in sample.contexts] == ["c"]
    assert sample.metadata == {}


def test_everything_a_sample_can_have(project: Project, write: Write) -> None:
    row = {
        "id": 7,
        "query": "q?",
        "answer": "One 😀. Two.",
        "answer_b": "B",
        "contexts": [{"id": "d1", "text": "c1", "score": 0.5, "title": "T"}, "c2"],
        "claims": ["One 😀.", {"text": "Two.", "start": 7, "end": 11, "topic": "t"}, "not there"],
        "key_facts": ["f"],
        "entities": ["e1", "e2"],
        "retrieved_doc_ids": ["d1", 2],
        "relevant_doc_ids": ['quote"\\ and, comma'],
        "pipeline_version": "v1",
        "metadata": {"turn": 1, "tags": ["x"]},
        "model": "m",
        "tokens": 12.0,
    }
    load(write("a.jsonl", [row]))

    sample = Sample.objects.get()
    assert sample.external_id == "7"
    assert sample.answer_b == "B"
    assert sample.contexts == [
        {"id": "d1", "text": "c1", "score": 0.5, "title": "T"},
        {"id": None, "text": "c2", "score": None},
    ]
    assert sample.claims == [
        {"text": "One 😀.", "start": 0, "end": 6},
        {"text": "Two.", "start": 7, "end": 11, "topic": "t"},
        {"text": "not there", "start": None, "end": None},
    ]
    assert sample.claims_source == "file"
    assert (sample.key_facts, sample.entities) == (["f"], ["e1", "e2"])
    assert (sample.retrieved_doc_ids, sample.relevant_doc_ids) == (["d1", "2"], ['quote"\\ and, comma'])
    assert sample.pipeline_version == "v1"
    assert sample.metadata == {"turn": 1, "tags": ["x"], "model": "m", "tokens": 12.0}


def test_claims_are_split_when_there_are_none(project: Project, write: Write) -> None:
    load(
        write(
            "a.jsonl",
            [
                {"id": "en", "question": "q", "answer": " Dr. Smith 😀 left.\n\n- It rained!  "},
                {"id": "zh", "question": "q", "answer": "你好。我很好！你呢？"},
                {"id": "none", "question": "q", "answer": "One. Two.", "claims": []},
            ],
        )
    )

    found = {sample.external_id: sample for sample in Sample.objects.all()}
    assert [claim["text"] for claim in found["zh"].claims] == ["你好。", "我很好！", "你呢？"]
    assert found["none"].claims == []
    assert found["none"].claims_source == "file"
    assert found["en"].claims_source == "split"
    assert found["en"].claims[0]["text"] == "Dr. Smith 😀 left."
    for sample in found.values():
        for claim in sample.claims:
            assert sample.answer[claim["start"] : claim["end"]] == claim["text"]


def test_a_repeated_claim_is_found_in_its_next_place(project: Project, write: Write) -> None:
    load(write("a.jsonl", [{"question": "q", "answer": "Yes. No. Yes.", "claims": ["Yes.", "No.", "Yes.", "No."]}]))

    assert [claim["start"] for claim in Sample.objects.get().claims] == [0, 5, 9, 5]


def test_metadata_claims_are_claims(project: Project, write: Write) -> None:
    metadata = {"claims": [{"id": "claim:0", "text": "No.", "evidence": []}]}
    load(write("a.jsonl", [{"question": "q", "answer": "Yes. No.", "metadata": metadata}]))

    sample = Sample.objects.get()
    assert sample.claims == [{"text": "No.", "start": 5, "end": 8}]
    assert sample.metadata == metadata


def test_several_ground_truths_keep_the_list(project: Project, write: Write) -> None:
    load(write("a.jsonl", [{"question": "q", "answer": "a", "ground_truths": ["r1", "r2"]}]))

    sample = Sample.objects.get()
    assert sample.reference == "r1"
    assert sample.metadata == {"ground_truths": ["r1", "r2"]}


def test_of_two_spellings_the_likelier_wins_and_the_other_is_kept(project: Project, write: Write) -> None:
    load(write("a.jsonl", [{"input": "q", "output": "a", "context": ["ideal"], "retrieval_context": ["found"]}]))

    sample = Sample.objects.get()
    assert sample.contexts[0]["text"] == "found"
    assert sample.metadata == {"context": ["ideal"]}


def test_chosen_mapping(project: Project, write: Write) -> None:
    path = write("a.csv", "q,a,note,answer\nwhat?,because,n,old\n")
    load(path, "--map", "q=question", "--map", "a=answer", "--map", "note=ignore")

    sample = Sample.objects.get()
    assert (sample.question, sample.answer, sample.metadata) == ("what?", "because", {"answer": "old"})


@pytest.mark.parametrize("pair", ["q=nonsense", "q", "nowhere=question"])
def test_bad_mapping(pair: str, project: Project, write: Write) -> None:
    with pytest.raises(CommandError):
        load(write("a.csv", "q,answer\nx,y\n"), "--map", pair)
    assert not Sample.objects.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "a.jsonl",
            b'\xef\xbb\xbf{"id": "a", "question": "q", "answer": "x"}\r\n\r\n{"id": "b", "question": "q", "answer": "y"}',
        ),
        (
            "a.ndjson.gz",
            gzip.compress(
                b'{"id": "a", "question": "q", "answer": "x"}\n{"id": "b", "question": "q", "answer": "y"}\n', mtime=0
            ),
        ),
        ("a.json", b'[{"id": "a", "question": "q", "answer": "x"},\n {"id": "b", "question": "q", "answer": "y"}]'),
        (
            "a.json",
            b'{"version": {"a": [1]}, "n": 1.5, "t": true,\n"samples": [{"id": "a", "question": "q", "answer": "x"}, {"id": "b", "question": "q", "answer": "y"}], "z": "]"}',
        ),
        (
            "upload",
            b'{"data": [{"id": "a", "question": "q", "answer": "x"}, {"id": "b", "question": "q", "answer": "y"}]}',
        ),
        ("a.json", b'{"id": "a", "question": "q", "answer": "x"}\n{"id": "b", "question": "q", "answer": "y"}\n'),
        ("a.csv", b"\xef\xbb\xbfid,question,answer\na,q,x\nb,q,y\n"),
        ("a.csv", b"id;question;answer\r\na;q;x\r\n\r\nb;q;y\r\n"),
        ("a.tsv", b"id\tquestion\tanswer\na\tq\tx\nb\tq\ty"),
    ],
)
def test_formats(name: str, content: bytes, project: Project, write: Write) -> None:
    load(write(name, content))

    assert dict(Sample.objects.values_list("external_id", "answer")) == {"a": "x", "b": "y"}


def test_json_list_is_cut_right_across_blocks(project: Project, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from annotate.files import sources

    monkeypatch.setattr(sources.Stream, "read", lambda self, size=0, read=sources.Stream.read: read(self, 7))
    rows = [
        {"id": str(i), "question": 'q"]}\\', "answer": "[{" * 20 + '\\"', "metadata": {"x": [{}]}} for i in range(300)
    ]
    head = '{"notes": ' + "[" * 30 + "]" * 30 + ', "samples": '
    load(write("a.json", head + json.dumps(rows, indent=1) + "}"))

    assert Sample.objects.count() == 300
    assert set(Sample.objects.values_list("answer", flat=True)) == {rows[0]["answer"]}


def test_csv_cells(project: Project, write: Write) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["id", "question", "answer", "contexts", "claims", "metadata", "reference", "note"])
    writer.writerow(["1", "q", "a b", '[{"id": "d", "text": "c"}]', '["a", "b"]', '{"n": 1}', "", "=1+1"])
    writer.writerow(["2", "q", "a b", "['it''s', \"x\"]".replace("''", "\\'"), "", "", "r", "'=1+1"])
    writer.writerow(["3", "q", "a b", "[1] A source that only begins like a list", "", "", "[not a list]", "3"])
    load(write("a.csv", text.getvalue()))

    one, two, three = Sample.objects.order_by("external_id")
    assert one.contexts == [{"id": "d", "text": "c", "score": None}]
    assert [claim["text"] for claim in one.claims] == ["a", "b"]
    assert one.metadata == {"n": 1, "note": "=1+1"}
    assert one.reference is None
    assert [context["text"] for context in two.contexts] == ["it's", "x"]
    assert two.metadata == {"note": "=1+1"}
    assert three.contexts[0]["text"] == "[1] A source that only begins like a list"
    assert three.reference == "[not a list]"


def test_the_same_again_changes_nothing(project: Project, write: Write) -> None:
    rows = [{"id": f"ü{i}", "question": "q", "answer": "One. Two.", "contexts": ["c\t\\"]} for i in range(4500)]
    path = write("a.jsonl", rows)
    assert "rows 4500, created 4500, unchanged 0" in load(path)
    before = list(Sample.objects.values())

    assert "rows 4500, created 0, unchanged 4500" in load(path)
    assert list(Sample.objects.values()) == before

    more = write("b.json", json.dumps([{"id": "new", "question": "q", "answer": "x"}, *rows]))
    assert "rows 4501, created 1, unchanged 4500" in load(more)


def test_other_content_under_a_known_id_is_refused(project: Project, write: Write) -> None:
    load(write("a.jsonl", [{"id": "a", "question": "q", "answer": "x"}]))
    path = write("b.jsonl", [{"id": "b", "question": "q", "answer": "x"}, {"id": "a", "question": "q", "answer": "X"}])
    stderr = io.StringIO()

    with pytest.raises(CommandError):
        call_command("import_samples", "p", str(path), stderr=stderr)

    assert stderr.getvalue().startswith("row 2, line 2, field id: conflict: ")
    assert list(Sample.objects.values_list("external_id", "answer")) == [("a", "x")]


def test_ids_made_from_content_are_stable(project: Project, write: Write) -> None:
    rows = [{"question": "q", "answer": str(i)} for i in range(3)]
    load(write("a.jsonl", rows))
    assert "unchanged 3" in load(write("b.json", json.dumps(rows[::-1])))


def test_an_address_in_a_context_is_a_text(project: Project, write: Write) -> None:
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.setblocking(False)
        texts = ["file:///etc/passwd", f"http://127.0.0.1:{canary.getsockname()[1]}/"]
        load(write("a.jsonl", [{"question": "q", "answer": "a", "contexts": texts}]))
        with pytest.raises(BlockingIOError):
            canary.accept()
    assert [one["text"] for one in Sample.objects.get().contexts] == texts


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(
    lambda text: not is_blank(text)
)
_nasty = st.sampled_from(
    ["\\N", "\\.", "a\\", "\t", "\r\n", "\r", "\n", "\u2028\u2029\x85", "=1+1", "'=1", "''-", "-1", "@x", "+", "\t=", '"', '""',
     ",", ";", "[", "{}", "\ufeff", "e\u0301é", "😀字", "\u202eabc", "\u200b", "</script>", "\x01\x1f\x7f", " x ", "null", "\\u0000"]
)  # fmt: skip
_nasty_text = (
    st.lists(st.one_of(_nasty, _text), min_size=1, max_size=4).map("".join).filter(lambda text: not is_blank(text))
)


@given(
    st.lists(
        st.fixed_dictionaries({"question": _nasty_text, "answer": _nasty_text, "c": _nasty_text}),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("file_format", ["jsonl", "json", "csv", "parquet"])
def test_text_comes_back_as_it_was(file_format: str, project: Project, rows: list[dict[str, str]]) -> None:
    Sample.objects.all().delete()
    full = [
        {"id": f"{index}", "question": row["question"], "answer": row["answer"], "reference": row["c"], "contexts": [row["c"]],
         "claims": [row["answer"]], "retrieved_doc_ids": [row["c"]], "note": row["c"]}
        for index, row in enumerate(rows)
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{file_format}"
        path.write_bytes(written(full, file_format))
        outcome = run(project=project, kind="samples", path=path, file_name=path.name, mapping={})

    assert outcome.errors == []
    for row, sample in zip(full, Sample.objects.order_by("pk"), strict=True):
        assert sample.question == row["question"]
        assert sample.answer == row["answer"]
        assert sample.reference == row["reference"]
        assert sample.contexts[0]["text"] == row["contexts"][0]
        assert sample.claims[0]["text"] == row["answer"]
        assert sample.retrieved_doc_ids == row["retrieved_doc_ids"]
        assert sample.metadata == {"note": row["note"]}


def written(rows: list[dict[str, Any]], file_format: str) -> bytes:
    if file_format == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    if file_format == "json":
        return json.dumps(rows).encode()
    if file_format == "parquet":
        out = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), out)
        return out.getvalue()
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([guard(cell) if isinstance(cell, str) else json.dumps(cell) for cell in row.values()])
    return text.getvalue().encode()


@given(st.one_of(st.text(alphabet="'=+-@\t\rx"), st.text()))
def test_guarded_cells_come_back(text: str) -> None:
    assert unguard(guard(text)) == text
    assert guard(text)[:1] not in ("=", "+", "-", "@", "\t", "\r") or not text


def test_preview_shows_the_first_rows_and_the_guess(project: Project, write: Write) -> None:
    rows = [{"user_input": "q", "response": str(i), "x": None} for i in range(50)]
    shown = preview(
        project=project, kind="samples", path=write("a.jsonl", rows), file_name="a.jsonl", mapping={"x": "ignore"}
    )

    assert shown.columns == ["user_input", "response", "x"]
    assert shown.mapping == {"user_input": "question", "response": "answer", "x": "ignore"}
    assert len(shown.rows) == 10
    assert shown.errors == []
