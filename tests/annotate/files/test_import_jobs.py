"""Import jobs over the API: upload, preview, start, watch; and what happens when a process dies."""

from __future__ import annotations

import gzip
import json
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from rest_framework.test import APIClient

from annotate.core import advisory
from annotate.files import import_engine as engine
from annotate.files import import_jobs as imports
from annotate.files import import_queue as queue
from annotate.files.import_jobs import import_file
from annotate.models import AuditEntry, ImportJob, Membership, Project, Sample, User
from annotate.projects.criteria import add_criteria
from annotate.projects.write import change_project, set_member
from tests.annotate.factories import concurrently
from tests.annotate.files.hostile import parquet
from tests.annotate.files.jobs import imported
from tests.clients import client_of

Write = Callable[..., Path]

URL = "/api/projects/p/imports/"
GOOD = b'{"id": "a", "q": "what?", "answer": "x"}\n'


def upload(content: bytes = GOOD, name: str = "a.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def kept_files() -> list[str]:
    folder = Path(settings.MEDIA_ROOT) / "imports"
    return os.listdir(folder) if folder.exists() else []


def test_preview_then_start_with_a_mapping(api: APIClient) -> None:
    reply = api.post(URL, {"file": upload(), "kind": "samples", "preview": "1"}, format="multipart")
    assert reply.status_code == 200
    shown = reply.json()
    assert shown["preview"]["mapping"] == {"id": "id", "q": "metadata", "answer": "answer"}
    assert shown["preview"]["rows"] == [{"id": "a", "q": "what?", "answer": "x"}]
    assert not Sample.objects.exists()

    again = api.post(f"{URL}{shown['id']}/preview/", {"mapping": {"q": "question"}}, format="json")
    assert again.json()["mapping"]["q"] == "question"
    done = api.post(f"{URL}{shown['id']}/start/", {"mapping": {"q": "question"}}, format="json")

    assert done.status_code == 201
    assert done.json()["result"]["created"] == 1
    assert Sample.objects.get().question == "what?"
    assert kept_files() == []
    assert api.post(f"{URL}{shown['id']}/start/", {}, format="json").status_code == 409


def test_after_a_large_import_postgresql_knows_how_large_the_tables_are(api: APIClient) -> None:
    """Else the next statements go by plans made for a small one, until PostgreSQL measures by itself."""
    rows = b"".join(b'{"id": "s%d", "question": "what?", "answer": "x"}\n' % n for n in range(queue.MANY_ROWS))
    reply = api.post(URL, {"file": upload(rows), "kind": "samples"}, format="multipart")
    assert reply.status_code == 201
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'annotate_sample'")
        assert cursor.fetchone()[0] == Sample.objects.count() == queue.MANY_ROWS


def test_failed_import_can_be_started_with_another_mapping(api: APIClient) -> None:
    failed = api.post(URL, {"file": upload(), "kind": "samples"}, format="multipart")
    assert failed.status_code == 422
    csv = api.get(f"{URL}{failed.json()['id']}/errors.csv")
    assert csv["Content-Type"].startswith("text/csv")
    assert csv["Content-Disposition"].startswith("attachment")
    assert csv.content.decode().splitlines()[1].startswith("1,1,question,missing,")

    mapping = {"mapping": {"q": "question"}}
    assert api.post(f"{URL}{failed.json()['id']}/start/", mapping, format="json").status_code == 201
    listed = api.get(URL).json()["results"]
    assert [(job["status"], job["progress"]) for job in listed] == [("done", 1.0)]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"kind": "samples"}, 422),
        ({"kind": "pictures", "file": GOOD}, 422),
        ({"kind": "samples", "file": GOOD, "mapping": "{"}, 422),
        ({"kind": "samples", "file": GOOD, "mapping": '["q"]'}, 422),
        ({"kind": "samples", "file": GOOD, "mapping": '{"q": "nonsense"}'}, 422),
        ({"kind": "samples", "file": GOOD, "mapping": '{"q": "answer", "id": "answer"}'}, 422),
    ],
)
def test_bad_requests(fields: dict[str, object], status: int, api: APIClient) -> None:
    if "file" in fields:
        fields = {**fields, "file": upload(GOOD)}

    assert api.post(URL, fields, format="multipart").status_code == status
    assert kept_files() == []


def test_file_name_is_never_a_path(api: APIClient) -> None:
    content = b'{"question": "q", "answer": 1}\n'
    reply = api.post(URL, {"file": upload(content, "..\\../../x<script>.jsonl"), "kind": "samples"}, format="multipart")

    assert "/" not in reply.json()["file_name"]
    assert kept_files() == [reply.json()["id"]]


def test_too_large_upload(api: APIClient, settings: object) -> None:
    settings.IMPORT_MAX_FILE_BYTES = 10  # type: ignore[attr-defined]
    assert api.post(URL, {"file": upload(), "kind": "samples"}, format="multipart").status_code == 413


@pytest.mark.parametrize("role", ["reviewer", "annotator", None])
def test_only_admins_import(role: str | None, project: Project) -> None:
    user = User.objects.create_user("u")
    if role:
        Membership.objects.create(project=project, user=user, role=role)
    client = client_of(user)
    job = ImportJob.objects.create(project=project, kind="samples", file_name="x")
    status = 403 if role else 404

    assert client.get(URL).status_code == status
    assert client.post(URL, {"file": upload(), "kind": "samples"}, format="multipart").status_code == status
    for path, method in [("", "get"), ("start/", "post"), ("preview/", "post"), ("errors.csv", "get")]:
        assert getattr(client, method)(f"{URL}{job.pk}/{path}").status_code == status


def test_job_of_another_project(api: APIClient) -> None:
    other = ImportJob.objects.create(project=Project.objects.create(slug="o"), kind="samples", file_name="x")
    assert api.get(f"{URL}{other.pk}/").status_code == 404


def test_a_fault_of_ours_is_shown_and_leaves_nothing(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(engine, "run", fail)
    reply = api.post(URL, {"file": upload(), "kind": "samples"}, format="multipart")

    assert reply.status_code == 422
    assert reply.json()["errors"][0]["code"] == "internal"
    assert "secret" not in reply.content.decode()


def test_interrupted_job_is_noticed_and_can_start_again(api: APIClient) -> None:
    shown = api.post(URL, {"file": upload(), "kind": "samples", "preview": "1"}, format="multipart").json()
    ImportJob.objects.filter(pk=shown["id"]).update(status="running", mapping={"q": "question"})

    job = api.get(f"{URL}{shown['id']}/").json()

    assert (job["status"], job["errors"], job["can_start"]) == ("waiting", [], True)
    assert ImportJob.objects.get(pk=shown["id"]).status == "running", "looking changes nothing"
    assert api.post(f"{URL}{shown['id']}/start/", {}, format="json").status_code == 201
    noted = AuditEntry.objects.filter(action__startswith="import.").order_by("pk")
    assert list(noted.values_list("action", flat=True)) == ["import.done"]


def test_interrupted_job_whose_file_is_gone_has_failed(api: APIClient, project: Project) -> None:
    """As a pipeline's push: what it sent was never stored."""
    job = ImportJob.objects.create(project=project, kind="samples", file_name="v1.json", status="running")
    shown = api.get(f"{URL}{job.pk}/").json()
    assert (shown["status"], shown["errors"][0]["code"], shown["can_start"]) == ("failed", "interrupted", False)
    assert queue.run_job(job.pk).status == "failed"


@pytest.mark.django_db(transaction=True)
def test_running_job_of_another_session_is_left_alone(api: APIClient, project: Project) -> None:
    job = imports.create_job(project=project, user=None, kind="samples", upload=upload(), mapping={"q": "question"})
    ImportJob.objects.filter(pk=job.pk).update(status="running")
    with other_session() as other:
        other.execute("SELECT pg_advisory_lock(%s)", [int.from_bytes(job.pk.bytes[:8], signed=True)])
        assert api.get(f"{URL}{job.pk}/").json()["status"] == "running"
        assert queue.run_job(job.pk).status == "running"
        assert queue.to_do(set()) == []
        assert not Sample.objects.exists()
        again = api.post(f"{URL}{job.pk}/start/", {}, format="json")
        assert (again.status_code, again.json()["error"]["code"]) == (409, "already_started")


@contextmanager
def other_session() -> Iterator[psycopg.Connection]:
    parameters = {
        key: value
        for key, value in connection.get_connection_params().items()
        if key in ("dbname", "user", "host", "port", "password")
    }
    with psycopg.connect(**parameters) as other:
        yield other


@pytest.mark.django_db(transaction=True)
def test_an_upload_never_waits_for_another_import(api: APIClient, project: Project) -> None:
    """It stays in the queue, and the thread that took it goes on."""
    with other_session() as other:
        other.execute("SELECT pg_advisory_xact_lock(%s, %s)", [advisory.IMPORTING, project.pk])
        reply = api.post(URL, {"file": upload(GOOD.replace(b"q", b"question")), "kind": "samples"}, format="multipart")
        assert (reply.status_code, reply.json()["status"]) == (202, "waiting")
        assert queue.to_do(set()) == [], "not while the other is written"
        pushed = api.post("/api/projects/p/samples/", {"version": "v1", "samples": []}, format="json")
        assert (pushed.status_code, pushed.json()["error"]["code"]) == (503, "busy")
        assert pushed["Retry-After"]
    assert [str(job) for job in queue.to_do(set())] == [reply.json()["id"]]
    assert imported(api, reply)["status"] == "done"
    assert ImportJob.objects.count() == 1, "what was pushed in vain leaves nothing"


def test_what_is_pushed_is_never_taken_from_the_queue(
    api: APIClient, project: Project, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is with who took it: the process for imports, which looks four times a second, would not find it."""
    seen = []
    run_job = imports.run_job
    monkeypatch.setattr(imports, "run_job", lambda *a, **k: (seen.append(queue.to_do(set())), run_job(*a, **k))[1])
    sample = {"question": "q", "answer": "x"}
    assert (
        api.post("/api/projects/p/samples/", {"version": "v1", "samples": [sample]}, format="json").status_code == 201
    )
    import_file(project=project, user=None, kind="samples", path=write("a.jsonl", rows(2)), mapping={})
    assert seen == [[], []]


def test_a_waiting_job_without_a_file_has_failed(project: Project) -> None:
    """Who pushed it died before reading it."""
    job = ImportJob.objects.create(project=project, kind="samples", file_name="v1.json", status="waiting")
    assert [error["code"] for error in queue.run_job(job.pk).errors] == ["interrupted"]


@pytest.mark.django_db(transaction=True)
def test_an_import_keeps_no_row_that_others_change(project: Project, admin: User, write: Write) -> None:
    """Members, criteria and settings of a project can be changed while a file is written into it."""
    import_file(project=project, user=None, kind="samples", path=write("a.jsonl", rows(2)), mapping={})
    with transaction.atomic():
        import_file(project=project, user=None, kind="samples", path=write("b.jsonl", rows(9)), mapping={})

        def change() -> None:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '1s'")
            change_project(project=project, actor=admin, name="Another", guidelines="")
            set_member(project=project, user=admin, role="admin", actor=admin)
            add_criteria(project=project, specs=["relevancy"], actor=admin)

        (failed,) = concurrently(change)
    assert failed is None, failed


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.parquet", parquet(id=["a"], question=["q"], answer=["x"])), ("a.jsonl.gz", gzip.compress(GOOD, mtime=0))],
)
def test_what_may_become_much_is_left_to_the_importer(name: str, content: bytes, api: APIClient) -> None:
    mapping = '{"q": "question"}' if name.endswith("gz") else ""
    sent = {"file": upload(content, name), "kind": "samples", "mapping": mapping}
    reply = api.post(URL, sent, format="multipart")
    assert (reply.status_code, reply.json()["status"]) == (202, "waiting")
    assert imported(api, reply)["status"] == "done"


def test_a_preview_reads_only_the_beginning(api: APIClient) -> None:
    """Of a text a megabyte; of Parquet, in a process of its own, the first rows."""
    long = json.dumps({"id": "a", "question": "q", "answer": "x" * 1_000_000, "context": "y" * 1_000_000}).encode()
    (sent,) = preview_of(api, "a.jsonl", long + b"\n")["errors"]
    assert sent["code"] == "no_preview"
    broken = gzip.compress(GOOD * 100_000, mtime=0)[:-2_000]
    shown = preview_of(api, "a.jsonl.gz", broken)
    assert (len(shown["rows"]), shown["errors"]) == (10, [])
    shown = preview_of(api, "a.parquet", parquet(id=["a", "b"], question=["q", "r"], answer=["x", "y"]))
    assert [row["id"] for row in shown["rows"]] == ["a", "b"]
    assert shown["mapping"] == {"id": "id", "question": "question", "answer": "answer"}
    refused = preview_of(api, "a.parquet", b"PAR1 and nothing more")
    assert [error["code"] for error in refused["errors"]] == ["parquet"]


def preview_of(api: APIClient, name: str, content: bytes) -> dict[str, Any]:
    sent = {"file": upload(content, name), "kind": "samples", "preview": "1"}
    return api.post(URL, sent, format="multipart").json()["preview"]


@pytest.mark.parametrize(("status", "code"), [(-6, "memory"), (-11, "memory"), (-24, "too_slow")])
def test_a_process_that_broke_a_limit_leaves_a_sentence(status: int, code: str, api: APIClient) -> None:
    job = kept(api, status="running")
    queue.process_ended(job, status)
    shown = api.get(f"{URL}{job}/").json()
    assert (shown["status"], shown["errors"][0]["code"]) == ("failed", code)


def test_an_import_that_another_host_has_taken_up_is_left_to_it(api: APIClient) -> None:
    """Its end there is its end; what became of it here is looked at again until then."""
    job = kept(api, status="running")
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}) as other:
        # Of the transaction: given back before the connection closes, not whenever the server's process has ended.
        other.execute("SELECT pg_advisory_xact_lock(%s)", [advisory.lock_key(job)])
        assert not queue.process_ended(job, -6)
        assert api.get(f"{URL}{job}/").json()["status"] == "running"
    assert queue.process_ended(job, -6)
    assert api.get(f"{URL}{job}/").json()["status"] == "failed"


def test_a_job_that_kills_three_processes_is_given_up(api: APIClient) -> None:
    job = kept(api, status="running", deaths=queue.DEADLY - 1)
    for status in (-9, 1):
        queue.process_ended(job, status)
        assert queue.to_do(set()) == [job], "killed by others: it is run again"
    assert queue.run_job(job).status == "failed"
    assert queue.to_do(set()) == []


def test_a_process_that_dies_before_it_reads_is_not_started_for_ever(api: APIClient) -> None:
    job = kept(api, status="waiting")
    for left in ([job], [job], []):
        queue.process_ended(job, 1)
        assert queue.to_do(set()) == left
    assert api.get(f"{URL}{job}/").json()["errors"][0]["code"] == "interrupted"


def test_imports_of_one_project_come_one_after_the_other(api: APIClient) -> None:
    first, second = kept(api, status="waiting"), kept(api, status="waiting")
    other = ImportJob.objects.create(project=Project.objects.create(slug="o"), kind="samples", status="waiting")
    assert queue.to_do(set()) == [first, other.pk]
    assert queue.to_do({first}) == [other.pk]
    assert second != first


def test_planner_knows_a_project_that_is_small_among_others(api: APIClient) -> None:
    """Whose the rows are is measured again, however many there were; their texts are not."""
    other = Project.objects.create(slug="o")
    many = queue.GROWN * queue.MANY_ROWS + 1
    same = {"project": other, "question": "q", "answer": "x", "abstained": False}
    made = [Sample(external_id=str(number), **same) for number in range(many)]
    Sample.objects.bulk_create(made, batch_size=2_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotate_sample")
    content = b"".join(json.dumps(row | {"question": "other"}).encode() + b"\n" for row in rows(queue.MANY_ROWS))
    assert imported(api, api.post(URL, {"file": upload(content), "kind": "samples"}, format="multipart"))
    assert str(Project.objects.get(slug="p").pk) in common("project_id")
    assert "other" not in common("question")


def common(column: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT most_common_vals::text FROM pg_stats WHERE tablename = 'annotate_sample' AND attname = %s", [column]
        )
        return str(cursor.fetchone()[0])


def kept(api: APIClient, **changes: Any) -> uuid.UUID:
    """A file that was uploaded, with its job in this state."""
    shown = api.post(URL, {"file": upload(), "kind": "samples", "preview": "1"}, format="multipart").json()
    ImportJob.objects.filter(pk=shown["id"]).update(**changes)
    return uuid.UUID(shown["id"])


def rows(count: int) -> list[dict[str, str]]:
    return [{"id": str(number), "question": "q", "answer": "x"} for number in range(count)]


def test_a_mapping_that_names_no_column_is_refused(api: APIClient) -> None:
    """Also of rows that have no header: a misspelled column would be imported as something else, silently."""
    rows = b'{"question": "q", "answer": "x", "note": "n"}\n{"question": "r", "answer": "x", "hint": "h"}\n'
    good = '{"note": "reference", "hint": "ignore"}'
    wrong = '{"note": "reference", "hints": "ignore"}'
    refused = api.post(URL, {"file": upload(rows), "kind": "samples", "mapping": wrong}, format="multipart")
    assert [(error["code"], error["field"]) for error in refused.json()["errors"]] == [("missing_column", "hints")]
    assert not Sample.objects.exists()
    assert (
        api.post(URL, {"file": upload(rows), "kind": "samples", "mapping": good}, format="multipart").status_code == 201
    )


def test_a_preview_gives_lists_as_lists(api: APIClient) -> None:
    row = {"question": "q", "answer": "x" * 500, "contexts": ["c"] * 12, "meta": {"tags": ["a", True]}}
    kept = api.post(
        URL, {"file": upload(json.dumps(row).encode()), "kind": "samples", "preview": "1"}, format="multipart"
    ).json()
    assert kept["preview"]["rows"] == [
        {"question": "q", "answer": "x" * 300 + "…", "contexts": [*["c"] * 10, "…"], "meta": {"tags": ["a", True]}}
    ]
