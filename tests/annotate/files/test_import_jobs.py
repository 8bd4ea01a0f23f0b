"""Import jobs over the API: upload, preview, start, watch; and what happens when a worker dies."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from rest_framework.test import APIClient

from annotate.files import import_engine as engine
from annotate.files import import_jobs as imports
from annotate.models import AuditEntry, ImportJob, Membership, Project, Sample, User
from config import celery_app
from tests.clients import client_of
from tests.processes import Worker

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
    rows = b"".join(b'{"id": "s%d", "question": "what?", "answer": "x"}\n' % n for n in range(imports.MANY_ROWS))
    assert api.post(URL, {"file": upload(rows), "kind": "samples"}, format="multipart").status_code == 201
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'annotate_sample'")
        assert cursor.fetchone()[0] == Sample.objects.count() == imports.MANY_ROWS


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

    assert (job["status"], job["errors"][0]["code"], job["can_start"]) == ("failed", "interrupted", True)
    assert ImportJob.objects.get(pk=shown["id"]).status == "running", "looking changes nothing"
    assert api.post(f"{URL}{shown['id']}/start/", {}, format="json").status_code == 201
    noted = AuditEntry.objects.filter(action__startswith="import.").order_by("pk")
    assert list(noted.values_list("action", flat=True)) == ["import.failed", "import.done"]


@pytest.mark.django_db(transaction=True)
def test_running_job_of_another_session_is_left_alone(api: APIClient, project: Project) -> None:
    import psycopg

    job = imports.create_job(project=project, user=None, kind="samples", upload=upload(), mapping={"q": "question"})
    ImportJob.objects.filter(pk=job.pk).update(status="running")
    parameters = {
        key: value
        for key, value in connection.get_connection_params().items()
        if key in ("dbname", "user", "host", "port", "password")
    }
    with psycopg.connect(**parameters) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [int.from_bytes(job.pk.bytes[:8], signed=True)])
        assert api.get(f"{URL}{job.pk}/").json()["status"] == "running"
        assert imports.run_job(job.pk).status == "running"
        assert not Sample.objects.exists()


def test_large_file_is_done_by_the_worker(worker: Worker, api: APIClient, settings: object) -> None:
    from config.settings import MEDIA_ROOT

    settings.MEDIA_ROOT = MEDIA_ROOT  # type: ignore[attr-defined]
    rows = [{"id": str(i), "question": "q", "answer": "x" * 600} for i in range(3000)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()

    reply = api.post(URL, {"file": upload(content), "kind": "samples"}, format="multipart")
    assert (reply.status_code, reply.json()["status"]) == (202, "waiting")
    address = f"{URL}{reply.json()['id']}/"
    worker.wait_for(lambda: api.get(address).json()["status"] not in ("waiting", "running"))

    job = api.get(address).json()
    assert (job["status"], job["result"]["created"], job["progress"]) == ("done", 3000, 1.0)
    assert Sample.objects.count() == 3000


def test_broker_down_keeps_the_job_waiting(
    api: APIClient, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    from kombu.exceptions import OperationalError

    def down(*_: object, **__: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(celery_app, "send_task", down)
    monkeypatch.setattr(imports, "INLINE_BYTES", 0)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        reply = api.post(URL, {"file": upload(), "kind": "samples"}, format="multipart")

    assert reply.status_code == 202
    assert reply.json()["can_start"]
