"""Log lines: one JSON object each, with the request or task that they belong to and nothing secret."""

from __future__ import annotations

import json
import logging
import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.secret_links import new_token
from annotate.models import ImportJob
from annotate.projects.accounts import make_token
from config import logs
from config.supervisor import WEB
from tests.annotate.factories import World, make_world
from tests.clients import as_user
from tests.config.test_settings import Load, load  # noqa: F401 (a fixture)
from tests.processes import AppProcess, LiveApp, Worker, environment, forget_messages, free_port

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Lines]:
    """What was written up to now, as JSON."""
    written: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(self.format(record))

    handler = Handler()
    handler.setFormatter(logs.Json())
    logging.getLogger().addHandler(handler)
    caplog.set_level(logging.INFO)
    yield lambda: [json.loads(line) for line in written]
    logging.getLogger().removeHandler(handler)


def of(lines: Lines, logger: str) -> dict[str, Any]:
    return next(line for line in lines() if line["logger"] == logger)


@pytest.mark.django_db
def test_a_request_has_a_line_with_what_is_known_of_it(lines: Lines, django_user_model: Any) -> None:
    ada = django_user_model.objects.create_user(username="ada", password="irrelevant")
    reply = as_user(ada).get("/account/?secret=1", headers={"X-Request-ID": "proxy-7.a_B"})
    assert reply["X-Request-ID"] == "proxy-7.a_B"
    line = of(lines, "touchstone.request")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line.pop("time"))
    assert line.pop("duration_ms") >= 0
    assert line == {
        "level": "INFO", "logger": "touchstone.request", "message": "GET /account/ 200", "request_id": "proxy-7.a_B",
        "method": "GET", "path": "/account/", "status": 200, "user_id": ada.pk,
    }  # fmt: skip


def test_what_django_says_of_a_response_belongs_to_the_request(lines: Lines, client: Client) -> None:
    reply = client.get("/api/nowhere/?key=abc")
    line = of(lines, "django.request")
    assert line["request_id"] == reply["X-Request-ID"]
    assert (line["level"], line["message"], line["status"]) == ("WARNING", "Not Found: /api/nowhere/", 404)
    assert logs.request_id() is None


@pytest.mark.parametrize("sent", ["", "a" * 65, "a b", "a\nb", "é", 'x","level":"ERROR'])
def test_what_looks_like_no_id_is_replaced(client: Client, sent: str) -> None:
    one, other = (client.get("/api/nowhere/", HTTP_X_REQUEST_ID=sent)["X-Request-ID"] for _ in range(2))
    assert re.fullmatch("[0-9a-f]{16}", one)
    assert one != other


@pytest.mark.django_db
def test_no_secret_no_query_and_no_name_is_written(lines: Lines, admin_client: Client) -> None:
    token, _ = new_token()
    for name in ("invite", "reset", "shared-report"):
        admin_client.get(reverse(name, args=[token]))
    admin_client.get(f"/invite/{token}?next=/{token}/")  # the slash is missing
    admin_client.get("/p/desk/members/ottilie/change/?query=sesame")
    logging.getLogger("gunicorn.error").error("Error handling request %s", "/api/tasks/?token=sesame")
    written = json.dumps(lines())
    assert "touchstone.request" in written
    assert '"path": "/invite/***/"' in written
    assert "/p/desk/members/***/change/" in written
    for secret in (token, "ottilie", "sesame", "?"):
        assert secret not in written


def test_text_is_one_line_however_a_path_is_spelled(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    caplog.handler.setFormatter(logs.Text())
    reply = client.get("/api/a%0Ab/")
    last = caplog.text.splitlines()[-2:]
    assert last[0].endswith(f"INFO touchstone.request [{reply['X-Request-ID']}]: GET /api/a%0Ab/ 404")
    assert last[1].endswith(f"WARNING django.request [{reply['X-Request-ID']}]: Not Found: /api/a\\nb/")


def test_a_fault_is_in_the_same_line(lines: Lines) -> None:
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        logging.getLogger("annotate").exception("It stopped")
    line = of(lines, "annotate")
    assert line["message"] == "It stopped"
    assert line["exception"].endswith("RuntimeError: broken")


@pytest.mark.parametrize(("said", "django"), [("ERROR", "ERROR"), ("WARNING", "WARNING"), ("DEBUG", "INFO")])
def test_the_level_is_djangos_too_but_never_shows_its_sql(load: Load, said: str, django: str) -> None:  # noqa: F811
    assert load(LOG_LEVEL=said)["LOGGING"]["loggers"]["django"]["level"] == django


def test_the_format_is_one_that_there_is(load: Load) -> None:  # noqa: F811
    with pytest.raises(Exception, match="LOG_FORMAT is 'xml', but should be one of text, json"):
        load(LOG_FORMAT="xml")


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def written(process: AppProcess) -> list[dict[str, Any]]:
    """Its whole log, each line an object."""
    return [json.loads(line) for line in process.log.read_text().splitlines()]


def test_web_worker_and_importer_write_json_and_a_task_names_its_request(
    tmp_path: Path, collected_static: Path, world: World
) -> None:
    # Celery warns of root before there are logs; the supervisor has decided so, as has who runs the tests.
    common = {**environment(), "LOG_FORMAT": "json", "LOG_LEVEL": "INFO"}
    port = free_port()
    web = LiveApp(WEB, {**common, "PORT": str(port), "WEB_WORKERS": "1"}, tmp_path / "web.log", port=port)
    worker = Worker(["config.worker", "--concurrency", "1"], common, tmp_path / "worker.log")
    importer = Worker(["config.importer"], common, tmp_path / "importer.log")
    forget_messages()
    job = ImportJob.objects.create(project=world.project, kind="samples", file_name="gone.jsonl", status="waiting")
    _, token = make_token(actor=world.rita, scopes=["admin"])
    try:
        for process in (web, worker, importer):
            process.start()
        status = ask_for_report(f"{web.url}/api/projects/{world.project.slug}/reports/", token)
        assert status == 202
        worker.wait_for(lambda: "make_report: " in worker.log.read_text())
        importer.wait_for(lambda: "import: " in importer.log.read_text())
        child = psutil.Process(worker.pid).children()[0]
        child.kill()
        worker.wait_for(lambda: "signal 9" in worker.log.read_text())
    finally:
        for process in (web, worker, importer):
            process.kill()  # Celery says goodbye in words of its own

    (line,) = [line for line in written(web) if line["logger"] == "touchstone.request"]  # and none of /readyz
    assert (line["request_id"], line["user_id"], line["status"]) == ("pipeline-1", world.rita.pk, 202)
    lines = [line for line in written(worker) if line.get("task") == "judges.tasks.make_report"]
    assert {line["request_id"] for line in lines} == {"pipeline-1"}
    (done,) = [line for line in lines if line["logger"] == "touchstone.task"]
    assert done["message"] == "judges.tasks.make_report: success"
    assert done["task_id"]
    assert done["duration_ms"] > 0
    (done,) = [line for line in written(importer) if line["logger"] == "touchstone.task"]
    assert (done["task"], done["task_id"], done["message"]) == ("import", str(job.pk), "import: failed")


def ask_for_report(url: str, token: str) -> int:
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json", "X-Request-ID": "pipeline-1"}
    body = json.dumps({"criterion": "grade"}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers), timeout=30) as reply:
        return int(reply.status)
