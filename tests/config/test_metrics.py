"""`/metrics`: scraped from a real gunicorn with two processes, as Prometheus does, and read by its own parser."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from annotate.models import ImportJob, Job
from annotate.projects.accounts import make_token
from config.supervisor import WEB
from tests.annotate.factories import World, make_sample, make_world
from tests.processes import LiveApp, environment, free_port

TOKEN = "a-token-of-this-test-alone"
Figures = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def app(tmp_path: Path, collected_static: Path, world: World) -> Iterator[LiveApp]:
    port = free_port()
    more = {"PORT": str(port), "WEB_WORKERS": "2", "METRICS_TOKEN": TOKEN, "WEB_HEARTBEAT_DIR": str(tmp_path)}
    app = LiveApp(WEB, {**environment(), **more}, tmp_path / "web.log", port=port)
    app.start()
    yield app
    app.stop()


def ask(app: LiveApp, path: str, body: Any = None, **headers: str) -> str:
    """Over a connection of its own, so that either process may get it."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(app.url + path, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return str(reply.read().decode())


def scrape(app: LiveApp) -> str:
    return ask(app, "/metrics", Authorization=f"Bearer {TOKEN}", Host="10.0.0.7")


def read(text: str) -> Figures:
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    figures = {(one.name, tuple(sorted(one.labels.items()))): one.value for one in samples}
    assert len(figures) == len(samples)
    return figures


def figure(found: Figures, name: str, **labels: str) -> float | None:
    return found.get((f"touchstone_{name}", tuple(sorted(labels.items()))))


def test_what_two_processes_answered_adds_up(app: LiveApp, world: World, tmp_path: Path) -> None:
    make_sample(world.project)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    ImportJob.objects.create(project=world.project, kind="samples", file_name="x.jsonl", status="waiting")
    report = Job.objects.create(project=world.project, kind="report", asked={}, created_by=world.alice)
    Job.objects.filter(pk=report.pk).update(created_at=report.created_at - timedelta(hours=1))
    Job.objects.create(project=world.project, kind="report", asked={}, created_by=world.alice, status="done")
    Job.objects.create(project=world.project, kind="release", asked={}, created_by=world.alice, status="running")
    _stored, token_of_ann = make_token(actor=world.ann, scopes=["read", "label"])
    token = {"Authorization": f"Token {token_of_ann}"}
    (folder,) = tmp_path.glob("touchstone-metrics-*")
    asked = 0
    while asked < 40 or len(list(folder.glob("histogram_*.db"))) < 2:
        ask(app, "/api/projects/", **token)
        asked += 1
        assert asked < 1000, "one process answers all of them, so this shows nothing"
    said = [("claim:0", "support", "yes"), ("claim:1", "support", "no"), ("answer", "grade", 4)]
    labels = [
        {"unit": unit, "criterion": key, "value": value, "revision": 0, "key": str(uuid.uuid4())}
        for unit, key, value in said
    ]
    for _ in range(2):  # the second changes nothing
        ask(app, f"/api/tasks/{task.pk}/labels/", {"labels": labels[:2]}, **token)
    ask(app, f"/api/tasks/{task.pk}/submit/", {"labels": labels[2:]}, **token)
    with pytest.raises(urllib.error.HTTPError):
        ask(app, f"/invite/{'x' * 43}/")

    for text in [scrape(app) for _ in range(6)]:  # whichever process is asked
        found = read(text)
        projects = {"route": "/api/projects/", "method": "GET"}
        assert figure(found, "requests_total", **projects, status="2xx") == asked
        assert figure(found, "request_duration_seconds_count", **projects) == asked
        assert figure(found, "request_duration_seconds_bucket", **projects, le="+Inf") == asked
        assert (figure(found, "request_duration_seconds_sum", **projects) or 0) > 0
        route = "/api/tasks/<int:task_id>/labels/"
        assert figure(found, "requests_total", route=route, method="POST", status="2xx") == 2
        assert figure(found, "requests_total", route="/invite/<str:token>/", method="GET", status="4xx") == 1
        assert figure(found, "labels_saved_total") == 3
        assert figure(found, "tasks_submitted_total") == 1
        assert figure(found, "jobs", kind="import", state="waiting") == 1
        assert figure(found, "jobs", kind="judge_run", state="running") == 0
        assert [figure(found, "jobs", kind="report", state=one) for one in ("waiting", "running")] == [1, 0]
        assert [figure(found, "jobs", kind="release", state=one) for one in ("waiting", "running")] == [0, 1]
        assert figure(found, "jobs", kind="report", state="done") is None
        assert (figure(found, "oldest_waiting_job_seconds", kind="report") or 0) >= 3600
        assert 0 < (figure(found, "oldest_waiting_job_seconds", kind="import") or 0) < 3600
        assert figure(found, "oldest_waiting_job_seconds", kind="release") == 0
        assert figure(found, "up", service="files") == 1
        assert figure(found, "up", service="database") == figure(found, "up", service="redis") == 1
        assert (figure(found, "web_memory_bytes") or 0) > 30e6
        for private in (world.project.slug, world.ann.username, "/metrics", "/readyz", "xxx"):
            assert private not in text

    app.stop()
    assert not folder.exists()


def test_only_who_knows_the_token_sees_it(app: LiveApp) -> None:
    for sent in ("", TOKEN, "Bearer ", f"Bearer {TOKEN}x", "Bearer é"):
        with pytest.raises(urllib.error.HTTPError) as refusal:
            ask(app, "/metrics", Authorization=sent)
        assert (refusal.value.code, refusal.value.headers["WWW-Authenticate"], refusal.value.read()) == (
            401,
            "Bearer",
            b"",
        )


def test_it_is_off_by_default(client: Client) -> None:
    assert client.get("/metrics").status_code == 404
