"""Releases: what is in each format, that they reproduce, and that they hold one moment."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from kombu.exceptions import OperationalError
from rest_framework.test import APIClient

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.files.cells import unguard
from annotate.files.releases import make_release, note_download, open_release
from annotate.models import (
    AuditEntry,
    Criterion,
    LeftFile,
    Membership,
    Project,
    Release,
    Sample,
    User,
    Verdict,
    VerdictEvent,
)
from annotate.samples.claims_write import edit_claims
from annotate.verdicts.evidence_read import agreement
from config.celery import app as celery_app
from tests.annotate.factories import rewriting_history
from tests.clients import client_of
from tests.processes import Worker

NASTY = "=cmd|' /C calc'!A0\n\t\"x\",😀"


@pytest.fixture
def project(db: None) -> Project:
    project = Project.objects.create(slug="p", name="P")
    criteria = {}
    for position, (key, unit, scale, levels, passes) in enumerate(
        [
            ("support", "claim", "nominal", ["supported", "contradicted"], ["supported"]),
            ("relevance", "context", "ordinal", [0, 1, 2, 3], [2, 3]),
            ("relevancy", "answer", "ordinal", [1, 2, 3], [3]),
        ]
    ):
        criteria[key] = Criterion.objects.create(
            project=project, key=key, name=key, unit=unit, scale=scale, prompt=key, position=position, passes=passes,
            options=[{"value": level, "label": str(level)} for level in levels],
        )  # fmt: skip
    reviewer = User.objects.create_user("rev")
    for number in (1, 2):
        sample = Sample.objects.create(
            project=project,
            external_id=f"s {number}",
            question=NASTY,
            answer="One. Two.",
            reference="ref",
            contexts=[{"id": "doc 1", "text": NASTY, "score": None}, {"id": None, "text": "c1", "score": 0.5}],
            claims=[{"text": "One.", "start": 0, "end": 4}, {"text": "Two.", "start": 5, "end": 9}],
            content_hash=b"0" * 16,
        )
        votes = [{"rater": "=r", "value": "supported", "revision": 2, "label": 11}]
        said: list[tuple[str, str, Any]] = [
            ("claim:1", "support", "contradicted"),
            ("claim:0", "support", "supported"),
            ("answer", "relevancy", 3),
            ("context:0", "relevance", 3),
            ("context:1", "relevance", 0),
        ]
        for unit, key, value in said:
            Verdict.objects.create(
                sample=sample, unit=unit, criterion=criteria[key], state="settled", value=value, method="adjudicated",
                votes=votes, confidence=1.0, reason="-because", decided_by=reviewer,
            )  # fmt: skip
    Verdict.objects.filter(sample=sample, unit="claim:0").update(
        state="disputed", value=None, method="", confidence=None, decided_by=None
    )
    return project


def content(project: Project, file_format: str, **filters: Any) -> bytes:
    with open_release(make_release(project=project, user=None, file_format=file_format, filters=filters)) as file:
        return file.read()


def test_jsonl(project: Project) -> None:
    rows = [json.loads(line) for line in content(project, "jsonl").splitlines()]

    assert [(row["sample_id"], row["unit"]) for row in rows[:5]] == [
        ("s 1", unit) for unit in ("claim:0", "claim:1", "context:0", "context:1", "answer")
    ]
    assert len(rows) == 9
    first = rows[0]
    assert first.pop("updated_at").endswith("Z")
    assert first == {
        "sample_id": "s 1",
        "unit": "claim:0",
        "unit_text": "One.",
        "criterion": "support",
        "criterion_version": 1,
        "state": "settled",
        "value": "supported",
        "method": "adjudicated",
        "confidence": 1.0,
        "votes": [{"rater": "=r", "value": "supported"}],
        "decided_by": "rev",
        "reason": "-because",
        "approved_by": None,
        "approved_at": None,
        "proposal_shown": False,
        "labels": [{"label": 11, "revision": 2}],
        "claims_source": "file",
        "claims_revision": 1,
        "pipeline_version": None,
        "group_key": None,
        "retrieved_doc_ids": [],
        "relevant_doc_ids": [],
        "metadata": {},
        "abstained": False,
        "abstained_source": "rule",
    }


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet", "ragas", "deepeval", "qrels"])
def test_samples_are_read_by_the_hundred(project: Project, file_format: str, django_assert_num_queries: Any) -> None:
    """With all that a file says of them, and not again one by one."""
    with CaptureQueriesContext(connection) as few:
        content(project, file_format)
    sample = Sample.objects.get(external_id="s 1")
    verdicts = list(sample.verdicts.all())
    for number in range(3, 6):
        sample.pk, sample.external_id = None, f"s {number}"
        sample.save(force_insert=True)
        for verdict in verdicts:
            verdict.pk, verdict.sample = None, sample
            verdict.save(force_insert=True)
    with django_assert_num_queries(len(few)):
        content(project, file_format)


def test_numbers_on_a_scale_without_options(project: Project) -> None:
    """As the database has them, also where they have more digits than 64 bits hold."""
    criterion = project.criteria.get(key="relevancy")
    criterion.options, criterion.scale, criterion.passes = [], "interval", []
    criterion.save()
    for value in (2**64, 2.5):
        votes = [{"rater": "r", "value": value, "revision": 1, "label": 1}]
        Verdict.objects.filter(unit="answer").update(value=value, votes=votes)
        rows = list(csv.DictReader(io.StringIO(content(project, "csv", criteria=["relevancy"]).decode(), newline="")))
        assert {row["value"] for row in rows} == {str(value)}
        assert {row["votes"] for row in rows} == {f'[{{"rater": "r", "value": {value}}}]'}


def test_csv_is_formula_safe_and_comes_back(project: Project) -> None:
    rows = list(csv.DictReader(io.StringIO(content(project, "csv").decode(), newline="")))

    assert all(not cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row.values())
    assert rows[0]["reason"] == "'-because"
    assert unguard(rows[2]["unit_text"]) == NASTY
    assert json.loads(rows[0]["votes"]) == [{"rater": "=r", "value": "supported"}]
    assert [row["value"] for row in rows[:5]] == ["supported", "contradicted", "3", "0", "3"]


def test_parquet(project: Project) -> None:
    rows = pq.read_table(io.BytesIO(content(project, "parquet"))).to_pylist()

    assert [row["value"] for row in rows[:3]] == ["supported", "contradicted", "3"]
    assert [row["value_number"] for row in rows[:3]] == [None, None, 3.0]
    assert rows[2]["unit_text"] == NASTY
    assert rows[0]["labels"] == [{"label": 11, "revision": 2}]


def test_ragas(project: Project) -> None:
    one, two = [json.loads(line) for line in content(project, "ragas").splitlines()]

    assert one == {
        "sample_id": "s 1",
        "user_input": NASTY,
        "response": "One. Two.",
        "retrieved_contexts": [NASTY, "c1"],
        "retrieved_context_ids": ["doc 1", None],
        "reference_context_ids": [],
        "reference": "ref",
        "answer_b": None,
        "key_facts": [],
        "entities": [],
        "pipeline_version": None,
        "group_key": None,
        "metadata": {},
        "claims": ["One.", "Two."],
        "human_faithfulness": 0.5,
        "human_faithfulness_reason": None,
        "abstained": False,
        "abstained_source": "rule",
        "proposal_shown": [],
        "support": ["supported", "contradicted"],
        "relevance": [3, 0],
        "relevancy": 3,
    }
    assert (two["human_faithfulness"], two["human_faithfulness_reason"]) == (None, "unsettled")
    assert two["support"] == [None, "contradicted"]


def test_claims_that_were_dropped_have_no_entry(project: Project) -> None:
    """The first claim went before it was labelled, and a third came; each list says what the claims say."""
    sample = project.samples.get(external_id="s 1")
    with rewriting_history():
        first = sample.verdicts.get(unit="claim:0")
        first.events.all().delete()
        first.delete()
    for revision, change in enumerate([{"op": "drop", "claim": 0}, {"op": "add", "text": "Three."}], 1):
        edit_claims(
            actor=User.objects.get(), project=project, sample_id=sample.pk, change=change, expected_revision=revision
        )
    one = json.loads(content(project, "ragas").splitlines()[0])
    assert (one["claims"], one["support"], one["human_faithfulness"]) == (
        ["Two.", "Three."],
        ["contradicted", None],
        None,
    )
    rows = [json.loads(line) for line in content(project, "jsonl").splitlines()]
    said = {row["unit"]: (row["unit_text"], row["claims_source"], row["claims_revision"]) for row in rows[:4]}
    assert said == {
        "claim:1": ("Two.", "edited", 3),
        "context:0": (NASTY, None, None),
        "context:1": ("c1", None, None),
        "answer": ("One. Two.", None, None),
    }


def test_qrels(project: Project) -> None:
    assert content(project, "qrels").decode().splitlines()[:2] == ["s%201 0 doc%201 3", "s%201 0 s%201#context:1 0"]


def test_qrels_need_whole_grades(project: Project) -> None:
    Verdict.objects.filter(criterion__key="relevance").update(value="high")
    with pytest.raises(Invalid, match="whole numbers"):
        content(project, "qrels")
    assert not Release.objects.exists()


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet", "ragas", "deepeval", "qrels"])
def test_same_data_same_file(file_format: str, project: Project) -> None:
    first, second = (make_release(project=project, user=None, file_format=file_format) for _ in range(2))

    assert (first.number, second.number) == (1, 2)
    assert first.manifest["sha256"] == second.manifest["sha256"]
    with open_release(first) as file:
        assert hashlib.sha256(file.read()).hexdigest() == first.manifest["sha256"]


def test_manifest(project: Project) -> None:
    manifest = make_release(project=project, user=None, file_format="jsonl", filters={"criteria": ["support"]}).manifest

    assert (manifest["rows"], manifest["samples"], manifest["verdicts"]) == (3, 2, 3)
    assert manifest["criteria"] == [
        {"key": "support", "version": 1, "unit": "claim", "scale": "nominal", "verdicts": 3}
    ]
    assert manifest["states"] == {"units": 4, "settled": 3, "disputed": 1, "reopened": 0, "single": 0}
    assert manifest["percent_settled"] == 75.0
    assert manifest["filters"] == {"criteria": ["support"]}
    figures = agreement(project.criteria.get(key="support"), reader=SYSTEM)
    assert list(manifest["agreement"]) == ["support v1"]
    assert manifest["agreement"]["support v1"]["estimates"] == figures["estimates"]


def test_disputed_units_only_on_request(project: Project) -> None:
    rows = [json.loads(line) for line in content(project, "jsonl", include_disputed=True).splitlines()]
    assert [row["value"] for row in rows if row["state"] == "disputed"] == [None]
    assert len(rows) == 10


@pytest.mark.parametrize(
    "filters",
    [[], {"criterion": "support"}, {"criteria": ["nope"]}, {"criteria": "support"}, {"criteria": []}, {"batch": "1"},
     {"batch": 10**12}, {"batch": 99}, {"methods": ["magic"]}, {"include_disputed": 1},
     {"annotators": "all"}, {"annotators": ["named"]}],
)  # fmt: skip
def test_unknown_filters(filters: Any, project: Project) -> None:
    with pytest.raises(Invalid):
        make_release(project=project, user=None, file_format="jsonl", filters=filters)


def test_nothing_to_export(project: Project, settings: Any) -> None:
    with pytest.raises(Conflict):
        make_release(project=project, user=None, file_format="jsonl", filters={"methods": ["majority"]})
    assert not (settings.MEDIA_ROOT / "releases").exists()
    assert not LeftFile.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_one_moment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict that changes while the file is written is not half in it."""
    import threading

    from annotate.files import export_rows as exported_rows

    def change() -> None:
        Verdict.objects.filter(unit="answer").update(value=1)
        connection.close()

    def row_after_change(*given: Any, real: Any = exported_rows.verdict_row) -> dict[str, Any]:
        if not changed:
            changed.append(True)
            thread = threading.Thread(target=change)
            thread.start()
            thread.join()
        return real(*given)

    changed: list[bool] = []
    monkeypatch.setattr(exported_rows, "verdict_row", row_after_change)
    release = make_release(project=project, user=None, file_format="jsonl")
    with open_release(release) as file:
        rows = [json.loads(line) for line in file]

    assert changed
    assert {row["value"] for row in rows if row["unit"] == "answer"} == {3}
    assert set(Verdict.objects.filter(unit="answer").values_list("value", flat=True)) == {1}


def test_command_line(project: Project, tmp_path: Path) -> None:
    out = tmp_path / "truth.csv"
    call_command("export", "p", "--format", "csv", "--out", str(out), stdout=io.StringIO())

    manifest = json.loads((tmp_path / "truth.csv.manifest.json").read_text())
    assert hashlib.sha256(out.read_bytes()).hexdigest() == manifest["sha256"]
    with pytest.raises(CommandError, match="criteria"):
        call_command("export", "p", "--format", "csv", "--out", str(out), "--criterion", "nope")
    with pytest.raises(CommandError, match="Cannot write"):
        call_command("export", "p", "--format", "csv", "--out", str(tmp_path / "no" / "x"))


def test_command_line_leaves_no_half_written_file(project: Project, tmp_path: Path) -> None:
    out = tmp_path / "truth.csv"
    out.write_text("of before")
    (tmp_path / "truth.csv.partial").symlink_to("/dev/full")
    with pytest.raises(CommandError, match=r"truth\.csv: No space left on device\."):
        call_command("export", "p", "--format", "csv", "--out", str(out))
    assert list(tmp_path.glob("truth*")) == [out]
    assert out.read_text() == "of before"


def test_command_line_follows_a_link(project: Project, tmp_path: Path) -> None:
    """Such as /dev/stdout, which leads to a file where the shell says so."""
    link, target = tmp_path / "link.csv", tmp_path / "elsewhere.csv"
    target.write_text("of before")
    link.symlink_to(target)
    call_command("export", "p", "--format", "csv", "--out", str(link))
    assert link.is_symlink()
    assert target.read_text().startswith("sample")


def test_command_line_numbers_nothing_that_it_cannot_write(project: Project, tmp_path: Path) -> None:
    (tmp_path / "taken.manifest.json").mkdir()
    for out, said in (
        (str(tmp_path), "it is a folder"),
        (".", "it is a folder"),
        (str(tmp_path / "no" / "x"), "not found"),
        (str(tmp_path / "taken"), "manifest.json: it is a folder"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("export", "p", "--format", "csv", "--out", out)
    truth = str(tmp_path / "x")
    with pytest.raises(CommandError, match="no batch 99"):
        call_command("export", "p", "--format", "csv", "--out", truth, "--batch", "99")
    with pytest.raises(CommandError, match=r"no project “q”\. Projects: p\."):
        call_command("export", "q", "--format", "csv", "--out", truth)
    with rewriting_history():
        VerdictEvent.objects.all()._raw_delete(using="default")  # type: ignore[attr-defined]
        Verdict.objects.all()._raw_delete(using="default")  # type: ignore[attr-defined]
    with pytest.raises(CommandError, match=r"`manage\.py settle` makes verdicts of imported labels"):
        call_command("export", "p", "--format", "csv", "--out", truth)
    assert not Release.objects.exists()


def test_times_are_spelled_alike(project: Project) -> None:
    lines = [json.loads(line)["updated_at"] for line in content(project, "jsonl").splitlines()]
    cells = csv.DictReader(io.StringIO(content(project, "csv").decode(), newline=""))
    assert [row["updated_at"] for row in cells] == lines


def test_api(project: Project) -> None:
    admin, annotator = (User.objects.create_user(name) for name in ("ada", "ann"))
    Membership.objects.create(project=project, user=admin, role="admin")
    Membership.objects.create(project=project, user=annotator, role="annotator")
    client = client_of(admin)
    url = "/api/projects/p/releases/"

    made = client.post(url, {"format": "csv", "filters": {"criteria": ["support"]}}, format="json")
    assert made.status_code == 201
    assert client.post(url, {"format": "html"}, format="json").status_code == 422
    assert client.post(url, {}, format="json").status_code == 422
    assert [release["number"] for release in client.get(url).json()["results"]] == [1]
    file = client.get(f"{url}1/file/")
    assert file["Content-Disposition"].startswith("attachment")
    assert file["X-Content-Type-Options"] == "nosniff"
    assert hashlib.sha256(file.getvalue()).hexdigest() == made.json()["manifest"]["sha256"]
    assert client.get(f"{url}2/file/").status_code == 404

    client.force_authenticate(annotator)
    for path in ("", "1/", "1/file/"):
        assert client.get(url + path).status_code == 403
    assert client.post(url, {"format": "csv"}, format="json").status_code == 403


@pytest.fixture
def downloader(project: Project) -> APIClient:
    admin = User.objects.create_user("ada")
    Membership.objects.create(project=project, user=admin, role="admin")
    make_release(project=project, user=admin, file_format="jsonl")
    return client_of(admin)


def downloads() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(action="release.downloaded")
    return list(rows.values_list("actor__username", "subject", "details__format"))


def test_the_worker_notes_each_download_once(downloader: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, list[Any]]] = []
    monkeypatch.setattr(celery_app, "send_task", lambda name, args, **_: told.append((name, list(args))))
    for _ in range(2):
        assert downloader.get("/api/projects/p/releases/1/file/").getvalue()
    assert downloads() == []
    assert {name for name, _ in told} == {"annotate.tasks.note_download"}
    for _, arguments in (*told, *told):
        note_download(*arguments)
    assert downloads() == [("ada", "1", "jsonl")] * 2


def test_no_release_is_handed_out_unnoted(downloader: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object, **__: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(celery_app, "send_task", down)
    reply = downloader.get("/api/projects/p/releases/1/file/")
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "no_broker")
    assert reply["Retry-After"] == "5"


def test_a_worker_notes_it(worker: Worker, downloader: APIClient) -> None:
    reply = downloader.get("/api/projects/p/releases/1/file/")
    assert reply.status_code == 200
    assert reply.getvalue()
    worker.wait_for(lambda: downloads() == [("ada", "1", "jsonl")])
