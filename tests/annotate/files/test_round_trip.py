"""What was imported leaves, and comes in again as the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotate.core.units import units_of
from annotate.files.export_samples import SAMPLE_WRITERS
from annotate.models import Criterion, Project, Sample, User, Verdict
from annotate.samples.claims_write import edit_claims
from tests.clients import as_user

Write = Callable[..., Path]
Send = Callable[..., Any]

NASTY = '=1+1\t"x"\r\n😀 \u2028 \\N, ;\'\\'
ROWS: list[dict[str, Any]] = [
    {
        "id": "everything", "question": NASTY, "answer": "One. Two.", "answer_b": "'=B", "reference": "-r",
        "contexts": [
            {"id": "d1", "text": NASTY, "score": 0.5, "zebra": 1, "a": [{"k": None}]}, "c2", {"text": "", "score": 1},
        ],
        "claims": ["One.", {"text": "Two.", "start": 5, "end": 9, "topic": "t", "a": 1}, "not there"],
        "key_facts": ["f", NASTY], "entities": ["e"], "retrieved_doc_ids": ["d1", 2],
        "relevant_doc_ids": ['q"\\,', "[x]"], "pipeline_version": "v1", "group_key": "q 1", "note": None, "flag": True,
        "metadata": {"turn": 1, "b": {"z": 1.0, "a": 1e16}, "tags": ["x"], "claims": 3, "": NASTY},
    },
    {"id": "plain", "question": "q", "answer": "Cut by us. Twice.", "contexts": ["c1", "c2"]},
    {"id": "none", "question": "q", "answer": "No claims.", "claims": []},
    {"id": "golden", "query": "q", "relevant_doc_ids": ["kb/1"], "reference_answer": "r", "key_facts": ["k"]},
    {"id": "sourced", "question": "q", "ground_truth": "r", "source_doc_id": 7, "source_content": "[not JSON]"},
    {"id": "several", "question": "q", "answer": "a", "ground_truths": ["r1", "r2"]},
    {"id": "passages", "query": "q", "passages": [{"docid": 1, "passage": "p"}], "metadata": {"claims": ["kept"]}},
    {"id": "inside", "question": "q", "answer": "In it.", "metadata": {"claims": [{"text": "In it.", "why": "x"}]}},
    {"id": "empty", "question": "q", "answer": "a", "reference": "", "answer_b": "", "metadata": {"metadata": "m"}},
    {"question": "without an id", "answer": "a"},
]  # fmt: skip


def exported(api: APIClient, file_format: str, **filters: Any) -> bytes:
    made = api.post("/api/projects/p/releases/", {"format": file_format, "filters": filters}, format="json")
    assert made.status_code == 201, made.content
    file = api.get(f"/api/projects/p/releases/{made.json()['number']}/file/")
    return b"".join(file.streaming_content)


@pytest.fixture
def imported(send: Send, write: Write, project: Project, admin: User) -> Project:
    assert send(write("a.jsonl", ROWS))["status"] == "done"
    pushed = {"id": "kb", "question": "q", "answer": "Pushed.", "meta": {"n": 2}}
    client = as_user(admin)
    body = json.dumps({"version": "v7", "samples": [pushed]})
    assert client.post("/api/projects/p/samples/", body, content_type="application/json").status_code == 201
    return project


@pytest.mark.parametrize("file_format", SAMPLE_WRITERS)
def test_samples_leave_and_come_in_again_unchanged(
    file_format: str, imported: Project, api: APIClient, admin: User, send: Send, write: Write
) -> None:
    edited = Sample.objects.get(external_id="everything")
    for revision, change in enumerate([{"op": "drop", "claim": 0}, {"op": "add", "text": "Three."}], 1):
        edit_claims(actor=admin, project=imported, sample_id=edited.pk, change=change, expected_revision=revision)
    before = list(Sample.objects.order_by("pk").values())
    content = exported(api, file_format, rows="samples")
    suffix = {"ragas": "jsonl", "deepeval": "json"}.get(file_format, file_format)
    again = send(write(f"again.{suffix}", content))
    assert again["errors"] == []
    assert again["result"]["unchanged"] == len(ROWS) + 1
    assert list(Sample.objects.order_by("pk").values()) == before


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_another_installation_gets_all_of_it(
    file_format: str, imported: Project, api: APIClient, admin: User, send: Send, write: Write
) -> None:
    content = exported(api, file_format, rows="samples")
    said = {one.external_id: one for one in Sample.objects.all()}
    Sample.objects.all().delete()
    assert send(write(f"again.{file_format}", content))["result"]["created"] == len(said)
    columns = [
        "question", "answer", "contexts", "claims", "claims_source", "key_facts", "entities", "retrieved_doc_ids",
        "relevant_doc_ids", "pipeline_version", "group_key", "metadata",
    ]  # fmt: skip
    for one in Sample.objects.all():
        there = said[one.external_id]
        assert [getattr(one, name) for name in columns] == [getattr(there, name) for name in columns]


def test_a_changed_sample_is_still_a_conflict(imported: Project, api: APIClient, send: Send, write: Write) -> None:
    rows = [json.loads(line) for line in exported(api, "jsonl", rows="samples").splitlines()]
    for changes in ({"contexts": []}, {"relevant_doc_ids": ["kb/2"]}, {"metadata": {}}, {"answer": "Another."}):
        refused = send(write("b.jsonl", [{**rows[0], **changes}]))
        assert refused["status"] == "failed"
        assert {error["code"] for error in refused["errors"]} <= {"conflict", "span"}


def test_only_a_batch_narrows_a_file_of_samples(imported: Project, api: APIClient) -> None:
    for filters in ({"criteria": ["support"]}, {"annotators": "named"}, {"include_disputed": True}):
        refused = api.post(
            "/api/projects/p/releases/", {"format": "jsonl", "filters": {"rows": "samples", **filters}}, format="json"
        )
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_filters")
    for given in ({"format": "qrels", "filters": {"rows": "samples"}}, {"format": "csv", "filters": {"rows": "units"}}):
        assert api.post("/api/projects/p/releases/", given, format="json").status_code == 422


@pytest.fixture
def settled(imported: Project, admin: User) -> Project:
    """Every context and answer of two samples has a verdict."""
    for criterion in Criterion.objects.filter(project=imported, key__in=["relevance", "relevancy"]):
        for sample in Sample.objects.filter(external_id__in=["everything", "passages"]):
            for unit in units_of(sample, criterion.unit):
                Verdict.objects.create(
                    sample=sample, unit=unit, criterion=criterion, state="settled", value=3, method="adjudicated",
                    votes=[], confidence=1.0, decided_by=admin,
                )  # fmt: skip
    return imported


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_verdicts_leave_with_where_their_sample_comes_from(file_format: str, settled: Project, api: APIClient) -> None:
    content = exported(api, file_format)
    sample = Sample.objects.get(external_id="everything")
    if file_format == "jsonl":
        row = json.loads(content.splitlines()[0])
    elif file_format == "csv":
        import csv
        import io

        row = next(csv.DictReader(io.StringIO(content.decode(), newline="")))
    else:
        import io

        import pyarrow.parquet as pq

        row = pq.read_table(io.BytesIO(content)).to_pylist()[0]

    def read(value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    assert row["sample_id"] == "everything"
    assert row["pipeline_version"] == "v1"
    assert read(row["relevant_doc_ids"]) == sample.relevant_doc_ids == ['q"\\,', "[x]"]
    assert read(row["retrieved_doc_ids"]) == ["d1", "2"]
    assert read(row["metadata"]) == sample.metadata


@pytest.mark.parametrize(
    ("file_format", "names"),
    [
        ("ragas", ("user_input", "response", "reference", "retrieved_contexts", "reference_context_ids")),
        ("deepeval", ("input", "actual_output", "expected_output", "retrieval_context", "relevant_doc_ids")),
    ],
)
def test_evaluation_libraries_get_their_spelling(
    file_format: str, names: tuple[str, ...], settled: Project, api: APIClient
) -> None:
    content = exported(api, file_format)
    rows = json.loads(content) if file_format == "deepeval" else [json.loads(line) for line in content.splitlines()]
    one, golden = rows
    assert [one[name] for name in names] == [NASTY, "One. Two.", "-r", [NASTY, "c2", ""], ['q"\\,', "[x]"]]
    assert (one["relevance"], one["relevancy"], one["claims"]) == ([3, 3, 3], 3, ["One.", "Two.", "not there"])
    assert (one["pipeline_version"], one["metadata"]["turn"]) == ("v1", 1)
    assert (golden[names[1]], golden[names[3]], golden["relevance"]) == (None, ["p"], [3])
    assert "relevancy" not in golden


def test_the_page_makes_a_file_of_samples(imported: Project, admin: User) -> None:
    client = as_user(admin)
    made = client.post("/p/p/export/", {"file_format": "deepeval", "rows": "samples", "annotators": ""})
    assert made.status_code == 302
    release = imported.releases.get()
    assert (release.filters, release.manifest["rows"]) == ({"rows": "samples"}, len(ROWS) + 1)
    file = client.get(f"/p/p/export/{release.number}/")
    assert "p-1-samples-deepeval.json" in file["Content-Disposition"]
    assert len(json.loads(b"".join(file.streaming_content))) == len(ROWS) + 1
