"""What takes longer than a request is answered 202, with the address of a job; all jobs have one shape."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from celery import Celery
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotate import celery_tasks as annotate_tasks
from annotate.core.advisory import lock_key
from annotate.files import releases
from annotate.files.import_queue import run_job
from annotate.models import ImportJob, Job, Release
from config.celery import app as celery_app
from judges import celery_tasks as judges_tasks
from judges.models import Judge, JudgeVersion, Run
from tests.annotate.factories import World, make_world
from tests.clients import as_user
from tests.judges.building import clicked_world, settle_all

ROOT = "/api/projects/desk/"
SHAPE = ["status", "progress", "result", "error", "errors", "error_count", "created_at", "finished_at"]


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    monkeypatch.setattr(Celery, "send_task", lambda _self, name, args, **_: found.append((name, *args)))
    return found


def get(world: World, url: str, who: str = "alice") -> Any:
    return as_user(getattr(world, who)).get(url)


def post(world: World, path: str, body: Any = None, who: str = "alice") -> Any:
    return as_user(getattr(world, who)).post(ROOT + path, body, content_type="application/json")


def job_of(world: World, reply: Any, who: str = "alice") -> dict[str, Any]:
    """As it is now, from where the 202 says."""
    assert (reply.status_code, reply["Retry-After"]) == (202, "1"), reply.content
    assert reply["Location"].startswith(f"http://testserver{ROOT}")
    asked = get(world, reply["Location"], who)
    assert (asked.status_code, list(asked.json())) == (200, SHAPE), asked.content
    assert ("Retry-After" in asked) == (asked.json()["status"] in ("waiting", "running"))
    found: dict[str, Any] = asked.json()
    return found


def id_of(location: str) -> str:
    return location.rstrip("/").rpartition("/")[2]


@contextmanager
def held_elsewhere(job_id: uuid.UUID) -> Iterator[None]:
    """As by a worker that is at it."""
    own = connection.copy()
    try:
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [lock_key(job_id)])
            yield
            # Closing alone would let go of it only when the server's process has ended, which nothing waits for.
            cursor.execute("SELECT pg_advisory_unlock(%s)", [lock_key(job_id)])
    finally:
        own.close()


def test_an_import(world: World) -> None:
    rows = [json.dumps({"id": f"kb-{n}", "question": "Q?", "answer": "A. " * 30}) for n in range(3_000)]
    upload = SimpleUploadedFile("rows.jsonl", "\n".join([*rows, '{"id": "b", "answer": "A."}']).encode())
    reply = as_user(world.alice).post(f"{ROOT}imports/", {"kind": "samples", "file": upload})
    waiting = job_of(world, reply)
    assert (waiting["status"], waiting["progress"], waiting["result"]) == ("waiting", 0, None)
    run_job(ImportJob.objects.get().pk)
    failed = job_of(world, reply)
    assert (failed["status"], failed["result"], failed["error_count"]) == ("failed", None, 1)
    assert (failed["errors"][0]["row"], failed["errors"][0]["field"]) == (3_001, "question")
    assert failed["error"] == {name: failed["errors"][0][name] for name in ("code", "message")}


def test_a_release_of_many_samples(world: World, sent: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"format": "jsonl", "filters": {"criteria": ["grade"]}}
    clicked_world(world)
    settle_all(world.project)
    assert post(world, "releases/", body).status_code == 201
    monkeypatch.setattr(releases, "INLINE_SAMPLES", 0)
    reply = post(world, "releases/", body)
    assert job_of(world, reply)["status"] == "waiting"
    again = post(world, "releases/", body)
    assert again["Location"] == reply["Location"]
    assert [name for name, _ in sent] == ["annotate.tasks.make_release"]
    # What is wrong with the request is said at once, as ever.
    assert post(world, "releases/", {"format": "gif"}).status_code == 422
    for _ in range(2):  # a message may come twice
        annotate_tasks.make_release(sent[0][1])
    done = job_of(world, reply)
    assert (done["status"], done["result"]) == ("done", f"http://testserver{ROOT}releases/2/")
    assert get(world, done["result"]).json()["number"] == Release.objects.count() == 2


def test_a_release_of_nothing_says_so(
    world: World, sent: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "INLINE_SAMPLES", -1)
    reply = post(world, "releases/", {"format": "csv"})
    annotate_tasks.make_release(sent[0][1])
    failed = job_of(world, reply)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "nothing_to_export")
    assert not Release.objects.exists()
    assert post(world, "releases/", {"format": "csv"})["Location"] != reply["Location"]


def test_a_job_that_breaks_has_failed(
    world: World, sent: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "INLINE_SAMPLES", -1)
    reply = post(world, "releases/", {"format": "csv"})

    def broken(**_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(releases, "make_release", broken)
    annotate_tasks.make_release(sent[0][1])
    assert job_of(world, reply)["error"]["code"] == "internal"


def test_a_report(world: World, sent: list[tuple[str, Any]]) -> None:
    clicked_world(world)
    settle_all(world.project)
    reply = post(world, "reports/", {"criterion": "grade"}, who="rita")
    assert (reply.json()["requested"], job_of(world, reply, "rita")["status"]) == (True, "waiting")
    assert post(world, "reports/", {"criterion": "grade"}, who="rita").json()["requested"] is False
    judges_tasks.make_report(sent[0][1])
    done = job_of(world, reply, "rita")
    assert (done["status"], done["result"]) == ("done", f"http://testserver{ROOT}reports/1/")


def test_a_worker_that_is_not_told_leaves_no_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("no")

    monkeypatch.setattr(celery_app, "send_task", away)
    reply = post(world, "reports/", {"criterion": "grade"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "no_broker")
    assert not Job.objects.exists()
    assert get(world, f"{ROOT}criteria/grade/report/").json()["is_pending"] is False


def test_a_job_whose_message_was_lost_is_sent_again(
    world: World, sent: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "INLINE_SAMPLES", -1)
    lost, at_work, done = (post(world, "releases/", {"format": name})["Location"] for name in ("csv", "jsonl", "ragas"))
    report = post(world, "reports/", {"criterion": "grade"})["Location"]
    annotate_tasks.make_release(id_of(done))
    fresh = post(world, "releases/", {"format": "deepeval"})["Location"]
    annotate_tasks.look_for_lost_jobs()
    assert len(sent) == 5
    Job.objects.exclude(pk=id_of(fresh)).update(created_at=timezone.now() - timedelta(minutes=2))
    Job.objects.filter(pk=id_of(at_work)).update(status="running")
    sent.clear()
    with held_elsewhere(uuid.UUID(id_of(at_work))):
        annotate_tasks.look_for_lost_jobs()
    again = {("annotate.tasks.make_release", id_of(lost)), ("judges.tasks.make_report", id_of(report))}
    assert set(sent) == again
    annotate_tasks.look_for_lost_jobs()  # its worker died
    assert set(sent) == {*again, ("annotate.tasks.make_release", id_of(at_work))}


@pytest.mark.parametrize(
    ("state", "status", "code"),
    [("running", "running", None), ("paused", "paused", None), ("stopped", "failed", "budget"),
     ("cancelled", "cancelled", None), ("done", "done", None)],
)  # fmt: skip
def test_a_run(world: World, state: str, status: str, code: str | None) -> None:
    judge = Judge.objects.create(project=world.project, name="judge", kind="lexical")
    version = JudgeVersion.objects.create(judge=judge, number=1, label="1", config={}, content_hash="1")
    run = Run.objects.create(version=version, purpose="scores", state=state, scope={"all": True}, stop_code=code or "")
    job = get(world, f"{ROOT}runs/{run.pk}/job/", "rita").json()
    assert (list(job), job["status"], job["error"] and job["error"]["code"]) == (SHAPE, status, code)
    assert job["result"] == (f"http://testserver{ROOT}runs/{run.pk}/" if state == "done" else None)


def test_jobs_are_of_one_project_and_one_kind(
    world: World, sent: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "INLINE_SAMPLES", -1)
    job = id_of(post(world, "releases/", {"format": "csv"})["Location"])
    elsewhere = f"/api/projects/{world.other.slug}/"
    assert get(world, f"{ROOT}release-jobs/{job}/").status_code == 200
    for who, url, status in (
        ("alice", f"{ROOT}report-jobs/{job}/", 404),
        ("alice", f"{ROOT}release-jobs/{uuid.uuid4()}/", 404),
        ("alice", f"{elsewhere}release-jobs/{job}/", 404),
        ("rita", f"{ROOT}release-jobs/{job}/", 403),
        ("ann", f"{ROOT}report-jobs/{job}/", 403),
        ("charlie", f"{ROOT}release-jobs/{job}/", 404),
    ):
        assert get(world, url, who).status_code == status, (who, url)
