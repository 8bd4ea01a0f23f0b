"""A stored key and one from the environment, through a whole day of everything that goes wrong: they are nowhere after.

What is looked through: what web and worker logged at their most talkative, all that went to and is in Redis, every page
and every answer of the API, the downloads, and every column of the database.
"""

from __future__ import annotations

import base64
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import connection

from annotate.models import Project, User
from annotate.projects.write import set_member
from judges.models import Endpoint, Judge, JudgeVersion, Run, RunState
from judges.versions.write import judge_spec
from tests.annotate.api.routes import ALL, Route
from tests.judges.building import graded_project
from tests.openai_server import OpenAIServer, Reply, Request, chat, error
from tests.processes import LiveApp, Worker, environment, forget_messages

STORED = "sk-planted-stored-0123456789abcdef"
VARIABLE = "sk-planted-variable-fedcba9876543210"
REPLACED = "sk-planted-and-replaced-00112233"
KEYS = (STORED, VARIABLE, REPLACED)
NAME = "JUDGE_KEY_PLANTED"
SAMPLES = 16
FINE = {"reason": "so", "value": 3}


def escapes(key: str) -> list[str]:
    """As a server may repeat it: in JSON's escapes, once and twice, in those of HTML and of an address, and as
    hexadecimal within base64."""
    in_json = "".join(f"\\u{ord(letter):04x}" for letter in key)
    return [
        in_json,
        json.dumps(in_json)[1:-1],
        "".join(f"&#{ord(letter)};" for letter in key),
        "".join(f"%{ord(letter):02X}" for letter in key),
        base64.b64encode(key.encode().hex().encode()).decode(),
    ]


def spellings(key: str) -> set[bytes]:
    """The key as it is, in hexadecimal, in base64 wherever in a longer text it stands, and in escapes."""
    plain = key.encode()
    found = {plain, plain.hex().encode(), plain[::-1], plain.upper()}
    for way in escapes(key):
        # Once more as it is in a JSON text.
        found |= {way.encode(), json.dumps(way)[1:-1].encode()}
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + plain)
        # Without the characters that what stands before and after has a part in.
        found.add(whole[-(-before * 8 // 6) : (before + len(plain)) * 8 // 6])
    return found


NEEDLES = frozenset(needle for key in KEYS for needle in spellings(key))


def hits(text: bytes) -> list[str]:
    return [needle.decode() for needle in NEEDLES if needle in text]


def test_a_key_in_any_of_these_spellings_would_be_found() -> None:
    for key in KEYS:
        for before in range(4):
            inside = b"x" * before + key.encode() + b"yz"
            assert hits(base64.b64encode(inside))
            assert hits(inside.hex().encode())


def everything_that_goes_wrong(elsewhere: str) -> Any:
    """By the judge's model and by the sample's number; most of it repeats what was sent."""

    def answer(request: Request) -> Any:
        sent = request.headers.get("authorization", "")
        in_json, twice, in_html, in_address, in_base64 = escapes(sent.removeprefix("Bearer "))
        what, number = request.json["model"].split()[0], request.prompt.partition("answer ")[2][:2]
        if what == "refuses":
            return error(401, f"Incorrect key: {sent}", headers={"X-Sent": sent})
        if what == "redirects":
            return Reply(b"", 302, headers={"Location": f"{elsewhere}/v1/chat/completions?key={sent}"})
        return {
            "00": error(500, f"Traceback: Authorization: {sent}", retry_after="0", headers={"X-Sent": sent}),
            "01": error(400, f"Bad request with {sent}"),
            "02": Reply(f"<html>Authorization: {sent}</html>".encode()),
            "03": chat(sent, refusal=sent),
            "04": chat(json.dumps({**FINE, "reason": f"You sent {sent}."}), model=sent),
            "05": chat(f"{sent} is no JSON"),
            "06": error(404, sent),
            "07": chat(sent, finish_reason="length"),
            # What the judge reads as its reason, or doesn't understand, is the key in clear.
            "08": chat(f'{{"reason": "You sent {in_json}.", "value": 3}}'),
            "09": chat(f'{{"reason": "You sent {twice}.", "value": 3}}', model=in_html),
            "10": chat(json.dumps({**FINE, "reason": f"{in_html} {in_address} {in_base64} {sent.upper()}"})),
            "11": Reply(f'{{"error": "{in_json} {in_address}"}}'.encode()),
        }.get(number, FINE)

    return answer


@contextmanager
def overheard() -> Iterator[list[str]]:
    """Every command that Redis gets meanwhile, from any client, with the bodies of messages as they read."""
    heard: list[str] = []
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=None) as client, client.monitor() as monitor:

        def listen() -> None:
            for command in monitor.listen():
                heard.append(command["command"])
                if "the end" in command["command"]:
                    return

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield heard
        finally:
            with redis.Redis.from_url(settings.REDIS_URL) as other:
                other.echo("the end")
            thread.join(30)


def everything_in_redis() -> bytes:
    found = []
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for key in client.scan_iter():
            read = {
                b"string": client.get,
                b"list": lambda name: client.lrange(name, 0, -1),
                b"hash": client.hgetall,
                b"set": client.smembers,
                b"zset": lambda name: client.zrange(name, 0, -1, withscores=True),
            }[client.type(key)]
            found.append(repr((key, read(key))).encode())
    return b"\n".join(found)


class Browser:
    """Alice at the real web process: everything that she got."""

    def __init__(self, app: LiveApp, alice: User) -> None:
        cookie = app.session_cookie(alice)
        self._cookie = f"{cookie['name']}={cookie['value']}"
        self._app = app
        self._connection = http.client.HTTPConnection("localhost", app.port, timeout=30)
        self.got: dict[str, bytes] = {}

    def close(self) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, data: Any = None, **headers: str) -> Any:
        """The answer's JSON; None for anything else."""
        headers = {"Cookie": self._cookie, "Content-Type": "application/json", **headers}
        if method != "GET":
            token = "0" * 32
            headers["Cookie"] += f"; {settings.CSRF_COOKIE_NAME}={token}"
            headers |= {"X-CSRFToken": token, "Origin": self._app.url}
        self._connection.request(method, path, None if data is None else json.dumps(data), headers)
        reply = self._connection.getresponse()
        body = reply.read()
        assert reply.status < 500, f"{method} {path}: {reply.status}"
        self.got[f"{len(self.got)} {method} {path} {reply.status}"] = str(reply.getheaders()).encode() + body
        return json.loads(body) if reply.headers.get("Content-Type", "").startswith("application/json") else None


@pytest.fixture
def project(transactional_db: None) -> Project:
    project, samples = graded_project("desk", count=SAMPLES)
    for number, sample in enumerate(samples.values()):
        sample.answer = f"answer {number:02}"
        sample.claims = [{"text": "It is.", "start": None, "end": None}]
        sample.save(update_fields=["answer", "claims"])
    set_member(project=project, user=User.objects.create_user("alice"), role="admin")
    return project


@pytest.fixture
def processes(
    project: Project, collected_static: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[tuple[LiveApp, Worker, list[Path]]]:
    """Of our own: the key is in their environment from the beginning, and they say all that they could."""
    monkeypatch.setenv(NAME, VARIABLE)
    logs = [tmp_path / "web", tmp_path / "worker"]
    port = _free_port()
    web = LiveApp(
        ["gunicorn", "--config", "python:config.gunicorn_conf", "--log-level", "debug", "config.wsgi"],
        {**environment(), "PORT": str(port), "WEB_WORKERS": "1"},
        logs[0],
        port=port,
    )
    command = ["celery", "--app", "config", "worker", "--concurrency", "1", "--loglevel", "DEBUG"]
    worker = Worker([*command, "--without-gossip", "--without-mingle"], environment(), logs[1])
    forget_messages()
    try:
        web.start()
        yield web, worker, logs
    finally:
        web.stop()
        worker.kill()
        forget_messages()


def _free_port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_the_keys_are_nowhere(
    project: Project, processes: tuple[LiveApp, Worker, list[Path]], openai_server: OpenAIServer
) -> None:
    web, worker, logs = processes
    browser = Browser(web, User.objects.get(username="alice"))
    with closing(browser), OpenAIServer() as elsewhere, overheard() as heard:
        openai_server.answers(everything_that_goes_wrong(elsewhere.url))
        describe(browser, openai_server.url)
        make_and_start(browser)
        queued = everything_in_redis()
        assert b"work_on_runs" in queued
        worker.start()
        worker.wait_for(lambda: not Run.objects.filter(state=RunState.RUNNING).exclude(purpose="import").exists())
        for endpoint in Endpoint.objects.all():
            for what in WAYS:
                browser.ask("POST", f"{API}endpoints/{endpoint.name}/try/", {"model": what})
        make_downloads(browser, worker)
        read_everything(browser)
        assert not elsewhere.requests
    found = {name: hits(body) for name, body in browser.got.items()}
    found |= {log.name: hits(log.read_bytes()) for log in logs}
    found |= {"sent to Redis": hits(decoded("\n".join(heard).encode())), "in Redis": hits(everything_in_redis())}
    found |= {"queued in Redis": hits(decoded(queued))}
    found |= {f"spec {version}": hits(json.dumps(judge_spec(version)).encode()) for version in ours()}
    found |= {f"table {table}": hits(rows) for table, rows in tables()}
    assert {place: what for place, what in found.items() if what} == {}
    assert_it_was_a_real_day(browser, openai_server)


API = "/api/projects/desk/"
# What the server does -> why the run stops by itself.
WAYS = {"echoes": "", "refuses": "refused_key", "redirects": "redirect"}


def describe(browser: Browser, url: str) -> None:
    """Endpoints with both kinds of key, and every way in which that is refused."""
    add = f"{API}endpoints/"
    plain = {"base_url": url, "concurrency": 2, "price_in": 1, "price_out": 1}
    browser.ask("POST", add, {**plain, "name": "stored", "key": REPLACED})
    browser.ask("POST", add, {**plain, "name": "variable", "key_variable": NAME})
    for wrong in ({"name": "stored"}, {"name": "Bad Name"}, {"name": "x", "base_url": "http://10.0.0.1"}, {}):
        browser.ask("POST", add, {**plain, "key": STORED, **wrong})
    browser.ask("POST", add, {**plain, "name": "y", "key": STORED, "key_variable": STORED})
    browser.ask("POST", add, {**plain, "name": "z", "key": [STORED]})
    browser.ask("POST", add, {**plain, "name": "stored", "unknown": STORED})
    change = f"{add}stored/"
    browser.ask("PATCH", change, {"key": STORED}, **{"If-Match": '"9"'})
    browser.ask("PATCH", change, {"base_url": "http://127.0.0.1:1/v1"}, **{"If-Match": '"1"'})
    assert browser.ask("PATCH", change, {"key": STORED}, **{"If-Match": '"1"'})["revision"] == 2


def make_and_start(browser: Browser) -> None:
    """At each endpoint a judge that gets all kinds of replies, one whose key is refused, and one that is sent away."""
    for endpoint in ("stored", "variable"):
        for what in WAYS:
            model = f"{what} at {endpoint}"  # of its own: what is kept from the other endpoint would not be asked here
            judge = browser.ask(
                "POST",
                f"{API}judges/",
                {
                    "name": model,
                    "kind": "llm",
                    "endpoint": endpoint,
                    "config": {"criterion": "grade", "model": model, "prompt": "How good is it?\n{{answer}}"},
                },
            )
            budget = None if what == "echoes" else 5
            run = browser.ask("POST", f"{API}judges/{judge['id']}/runs/", {"scope": {"all": True}, "budget": budget})
            assert run["state"] == "running"


def make_downloads(browser: Browser, worker: Worker) -> None:
    browser.ask("POST", f"{API}reports/", {"criterion": "grade"})
    browser.ask("POST", f"{API}releases/", {"format": "jsonl"})
    worker.wait_idle()


def ours() -> list[JudgeVersion]:
    return list(JudgeVersion.objects.exclude(endpoint=None).select_related("judge", "endpoint"))


def read_everything(browser: Browser) -> None:
    """Every page and every answer there is, of every judge, run and endpoint."""
    sample = Project.objects.get(slug="desk").samples.order_by("pk")[4]
    common = {"slug": "desk", "key": "grade", "sample_id": sample.pk, "number": 1, "step": "x", "start": "llm"}
    common |= {"form": "zip", "image_name": "0" * 32}
    several: dict[str, list[Any]] = {
        "judge_id": list(Judge.objects.exclude(kind="imported").values_list("pk", flat=True)),
        "run_id": list(Run.objects.exclude(purpose="import").values_list("pk", flat=True)),
        "name": list(Endpoint.objects.values_list("name", flat=True)),
    }
    for route in ALL:
        if route.path.startswith(("/static/", "/logout")) or not is_read(route):
            continue
        named = next((name for name in several if name in route.parameters and route.path.startswith(ABOUT)), None)
        for value in several[named] if named else [None]:
            values = {**common, **({named: value} if named else {})}
            if set(route.parameters) <= values.keys():
                browser.ask("GET", route.url(values))


ABOUT = ("/p/<slug:slug>/judges/", "/p/<slug:slug>/runs/", "/api/projects/<slug:slug>/")


def is_read(route: Route) -> bool:
    return "GET" in route.methods or not route.path.startswith("/api/")


def assert_it_was_a_real_day(browser: Browser, server: OpenAIServer) -> None:
    """The keys went where they belong, what came back was kept and shown, and it failed in all these ways."""
    sent = {request.headers["authorization"] for request in server.requests}
    assert sent == {f"Bearer {STORED}", f"Bearer {VARIABLE}"}
    runs = Run.objects.exclude(purpose="import")
    assert dict(runs.values_list("version__judge__name", "stop_code")) == {
        f"{what} at {endpoint}": code for what, code in WAYS.items() for endpoint in ("stored", "variable")
    }
    for run in runs.filter(stop_code=""):
        assert run.state == RunState.DONE
        statuses = set(run.asks.values_list("status", flat=True))
        assert statuses == {"ok", "error", "refused", "parse_error", "truncated"}
        (shown,) = [body for name, body in browser.got.items() if f"GET {API}runs/{run.pk}/failures/ 200" in name]
        assert b"[key]" in shown
    for words in (".zip 200", "trail.csv 200", "releases/1/", "judges/endpoints/ 200", "versions/1/export/ 200"):
        assert [name for name in browser.got if words in name], words


def decoded(messages: bytes) -> bytes:
    """With the bodies of Celery's messages, which are in base64."""
    _, *bodies = messages.replace(b"\\", b"").split(b'"body": "')
    assert bodies
    return b"\n".join([messages, *(base64.b64decode(body.split(b'"', 1)[0]) for body in bodies)])


def tables() -> Iterator[tuple[str, bytes]]:
    """Every row of every table, with all its columns as text; bytes are in hexadecimal there."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT t::text FROM "{table}" AS t')
            yield table, b"\n".join(str(row).encode() for (row,) in cursor.fetchall())
