"""Web behind a real PgBouncer in transaction mode, with fewer sessions than it has threads: what people do works, and
leaves nothing on a session for whoever has it next."""

from __future__ import annotations

import gzip
import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management import call_command

from annotate.models import ImportJob, Sample, Task, User, Verdict
from judges.models import Look
from tests.annotate.factories import TRISTATE, World, finish, make_samples, make_world
from tests.judges.building import add_judge, graded_project, scores_like
from tests.pgbouncer import SESSIONS, PgBouncer
from tests.processes import LiveApp, Worker, environment, free_port

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 2 * SESSIONS
ROWS = [{"id": f"r{number}", "question": "Which port?", "answer": f"Port {number}."} for number in range(20)]
FILE = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


@pytest.fixture(scope="module")
def pooler(django_db_setup: None, django_db_blocker: Any) -> Iterator[PgBouncer]:
    with django_db_blocker.unblock():
        pooler = PgBouncer()
        pooler.start()
        yield pooler
        pooler.stop()


@pytest.fixture(scope="module")
def own_environment(pooler: PgBouncer, django_db_blocker: Any) -> dict[str, str]:
    """The same for web, worker and importer, as an operator would give it."""
    with django_db_blocker.unblock():
        return {**environment(), "DATABASE_POOLER_URL": pooler.url}


@pytest.fixture(scope="module")
def web(
    own_environment: dict[str, str], collected_static: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveApp]:
    port = free_port()
    command = ["gunicorn", "--config", "python:config.gunicorn_conf", "config.wsgi"]
    more = {"PORT": str(port), "WEB_WORKERS": "2", "WEB_THREADS": str(THREADS // 2)}
    process = LiveApp(command, {**own_environment, **more}, tmp_path_factory.mktemp("pooled") / "log", port=port)
    process.start()
    yield process
    process.stop()


@pytest.fixture(autouse=True)
def _nothing_is_left(pooler: PgBouncer) -> Iterator[None]:
    yield
    assert pooler.left() == set()


@pytest.fixture
def world() -> World:
    return make_world()


class Browser(httpx2.Client):
    """Sends again what can't be answered just now, as the workspace does."""

    tries = 20

    def request(self, *given: Any, **more: Any) -> httpx2.Response:
        for _ in range(self.tries):
            reply = super().request(*given, **more)
            if reply.status_code != 503:
                break
        return reply


Visit = Callable[[User], Browser]


@pytest.fixture
def visit(web: LiveApp) -> Iterator[Visit]:
    """`visit(user)`: a browser's connection, logged in."""
    with ExitStack() as open_ones:

        def visit(user: User) -> Browser:
            session = web.session_cookie(user)
            cookies = {session["name"]: session["value"], settings.CSRF_COOKIE_NAME: "a" * 32}
            headers = {"X-CSRFToken": "a" * 32}
            return open_ones.enter_context(Browser(base_url=web.url, cookies=cookies, headers=headers, timeout=120))

        yield visit


def ok(reply: httpx2.Response) -> Any:
    assert reply.is_success, f"{reply.status_code} {reply.text[:500]}"
    return reply.json() if "json" in reply.headers["Content-Type"] else reply.text


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as threads:
        return [call.result() for call in [threads.submit(call) for call in calls]]


# What people do


def test_somebody_logs_in(web: LiveApp, world: World) -> None:
    world.ann.password = PBKDF2PasswordHasher().encode("ann-secret-words", "salt", iterations=10)
    world.ann.save()
    with httpx2.Client(base_url=web.url, follow_redirects=True) as browser:
        assert browser.get("/login/").status_code == 200
        form = {"username": "ann", "password": "ann-secret-words"}
        form["csrfmiddlewaretoken"] = browser.cookies[settings.CSRF_COOKIE_NAME]
        page = browser.post("/login/", data=form, headers={"Origin": web.url})
        assert (page.status_code, page.url.path) == (200, "/")
        assert "Support desk" in page.text


def test_annotators_take_label_and_submit_at_once(visit: Visit, world: World) -> None:
    people = [world.ann, world.ben, world.chen, world.rita, world.alice]
    make_samples(world.project, 10)
    world.batch(annotators=people, overlap=2, strategy="pull")

    def work(browser: httpx2.Client) -> int:
        done = 0
        while task := ok(browser.post("/api/projects/desk/work/", json={}))["task"]:
            said = [("answer", "grade", 4), ("claim:0", "support", "yes"), ("claim:1", "support", "no")]
            labels = [
                {"unit": unit, "criterion": criterion, "value": value, "revision": 0, "key": str(uuid.uuid4())}
                for unit, criterion, value in said
            ]
            ok(browser.post(f"/api/tasks/{task['id']}/submit/", json={"active_seconds": 9, "labels": labels}))
            done += 1
        return done

    browsers = [visit(user) for user in people]
    assert sum(at_once(*(partial(work, browser) for browser in browsers))) == 20
    assert set(Task.objects.values_list("status", flat=True)) == {"submitted"}
    assert set(Counter(Task.objects.values_list("sample", flat=True)).values()) == {2}
    call_command("trail", "verify")


def test_of_two_decisions_at_once_one_counts(visit: Visit, world: World) -> None:
    make_samples(world.project, 6)
    batch = world.batch(annotators=[world.ann, world.ben])
    for task in batch.tasks.all():
        finish(task, grade=4 if task.annotator == world.ann else 1)
    disputes = list(Verdict.objects.filter(state="disputed"))
    assert len(disputes) == 6
    reviewers = [visit(world.rita), visit(world.alice)]
    for dispute in disputes:
        replies = at_once(*(partial(_decided, browser, dispute) for browser in reviewers))
        assert sorted(replies) == [200, 412]
    assert not Verdict.objects.filter(state="disputed").exists()


def _decided(browser: httpx2.Client, dispute: Verdict) -> int:
    said, seen = {"value": 4, "reason": "So."}, {"If-Match": f'"{dispute.revision}"'}
    return browser.put(f"/api/projects/desk/disputes/{dispute.pk}/", json=said, headers=seen).status_code


def test_files_are_imported_by_web_and_by_the_importer(
    visit: Visit, world: World, own_environment: dict[str, str], tmp_path: Path
) -> None:
    """What web reads itself holds its lock in a transaction of its own; what is packed is left to the importer."""
    alice, dora = visit(world.alice), visit(world.dora)
    small = [_uploaded(alice, "desk", FILE, "a.jsonl"), _uploaded(dora, "next-door", FILE, "a.jsonl")]
    replies = at_once(lambda: ok(alice.post(small[0])), lambda: ok(dora.post(small[1])))
    assert [reply["status"] for reply in replies] == ["done", "done"]
    assert Sample.objects.count() == 2 * len(ROWS)

    packed = gzip.compress(FILE.replace(b'"r', b'"packed-r'))
    assert ok(alice.post(_uploaded(alice, "desk", packed, "a.jsonl.gz")))["status"] == "waiting"
    importer = Worker(["config.importer"], own_environment, tmp_path / "importer.log")
    importer.start()
    try:
        importer.wait_for(lambda: not ImportJob.objects.exclude(status="done").exists())
    finally:
        importer.stop()
    assert world.project.samples.count() == 2 * len(ROWS)


def _uploaded(browser: httpx2.Client, project: str, content: bytes, name: str) -> str:
    """Where its import is started."""
    reply = browser.post(
        f"/api/projects/{project}/imports/", data={"kind": "samples", "preview": "1"}, files={"file": (name, content)}
    )
    return f"/api/projects/{project}/imports/{ok(reply)['id']}/start/"


def test_more_imports_at_once_than_there_are_sessions(visit: Visit, world: World, pooler: PgBouncer) -> None:
    """Each has the session of its lock, and waits for one to write: they give up, or leave it to the importer, and
    nothing is lost."""
    files = [FILE.replace(b'"r', f'"{number}-r'.encode()) for number in range(THREADS - 1)]
    browsers = [visit(world.alice) for _ in files]
    for browser in browsers:
        browser.tries = 1
    starts = [_uploaded(*given, "a.jsonl") for given in zip(browsers, ["desk"] * len(files), files, strict=True)]
    with pooler.patience(1):
        replies = at_once(*(partial(browser.post, to) for to, browser in zip(starts, browsers, strict=True)))
    assert {reply.status_code for reply in replies} <= {201, 202, 503}
    again = visit(world.alice)
    for start in starts:
        # 409: it is done, also where the reply that said so found no session any more.
        assert again.post(start).status_code in (201, 409)
    assert set(ImportJob.objects.values_list("status", flat=True)) == {"done"}
    assert world.project.samples.count() == len(files) * len(ROWS)


def test_what_is_made_and_downloaded_of_one_moment(visit: Visit, world: World) -> None:
    """Cursors on the server within a transaction; outside one, the audit log's rows."""
    make_samples(world.project, 12)
    for task in world.batch(annotators=[world.ann, world.ben]).tasks.all():
        finish(task)
    alice, again, ann = visit(world.alice), visit(world.alice), visit(world.ann)
    asked = {"format": "jsonl", "filters": None}
    made, own, trail = at_once(
        lambda: ok(alice.post("/api/projects/desk/releases/", json=asked)),
        lambda: ok(ann.get("/account/data/")),
        lambda: ok(again.get("/p/desk/audit/trail.csv")),
    )
    release = alice.get(f"/api/projects/desk/releases/{made['number']}/file/")
    assert (release.status_code, hashlib.sha256(release.content).hexdigest()) == (200, made["manifest"]["sha256"])
    assert len(own["labels"]) == 36
    assert "batch.opened" in trail


def test_a_look_is_taken_once(visit: Visit, world: World) -> None:
    project, samples = graded_project("graded")
    add_judge(project, "judge", samples, scores_like(samples), dimension="grade")
    world.alice.is_superuser = True
    world.alice.save()
    asked = {"criterion": "grade", "judge": "judge"}
    browsers = [visit(world.alice) for _ in range(3)]
    replies = at_once(*(partial(browser.post, "/api/projects/graded/looks/", json=asked) for browser in browsers))
    assert [reply.status_code for reply in replies] == [201] * 3, replies[0].text
    assert Look.objects.count() == 1


def test_a_criterion_changes_with_what_was_said(visit: Visit, world: World) -> None:
    """By tables of the transaction."""
    make_samples(world.project, 4)
    for task in world.batch(criteria=["support"], annotators=[world.ann, world.ben]).tasks.all():
        finish(task, support="yes" if task.annotator == world.ann else "no")
    changed = {**TRISTATE, "options": [{"value": "yes"}, {"value": "unsure"}]}
    alice, path = visit(world.alice), "/api/projects/desk/criteria/"
    asked = {"criterion": {name: value for name, value in changed.items() if name != "key"}}
    assert ok(alice.post(f"{path}support/impact/", json=asked))["touched"] == 8
    ok(alice.post(path, json=[changed]))
    done = ok(alice.post(f"{path}support/relabel/", json={"from_version": 1}))
    assert (done["carried"], done["asked"]) == (8, 8)


# The pooler itself


def test_more_requests_than_sessions_wait_for_their_turn(visit: Visit, world: World, pooler: PgBouncer) -> None:
    browsers = [visit(world.alice) for _ in range(THREADS)]
    with pooler.all_taken(patience=0) as taken, ThreadPoolExecutor(THREADS) as threads:
        asked = [threads.submit(browser.get, "/api/projects/desk/batches/") for browser in browsers]
        # All of them may be one process's, which has so many threads.
        while pooler.pool()["cl_waiting"] < THREADS // 2:
            assert not any(one.done() for one in asked)
        for one in taken:
            one.close()
        assert [one.result().status_code for one in asked] == [200] * THREADS


def test_who_gets_no_session_is_told_to_come_again(visit: Visit, world: World, pooler: PgBouncer) -> None:
    browser = visit(world.alice)
    browser.tries = 1
    with pooler.all_taken(patience=1):
        for path in ("/api/projects/desk/batches/", "/p/desk/"):
            reply = browser.get(path)
            assert (reply.status_code, int(reply.headers["Retry-After"]) > 0) == (503, True), reply.text
    assert browser.get("/p/desk/").status_code == 200


def test_a_pooler_that_restarts_costs_no_request(visit: Visit, world: World, pooler: PgBouncer) -> None:
    browsers = [visit(world.alice) for _ in range(THREADS)]
    for _ in range(2):
        replies = at_once(*(partial(browser.get, "/p/desk/") for browser in browsers))
        assert [reply.status_code for reply in replies] == [200] * THREADS
        pooler.stop()
        pooler.start()


@pytest.mark.parametrize(
    "broken",
    [
        "SET work_mem = '8MB'",
        "RESET lock_timeout",
        "SELECT pg_advisory_lock(7)",
        "LISTEN somebody",
        "CREATE TEMPORARY TABLE left_behind ()",
        "PREPARE one AS SELECT 1",
        "DECLARE rows CURSOR WITH HOLD FOR SELECT 1",
    ],
)
def test_what_would_be_left_is_seen(pooler: PgBouncer, broken: str) -> None:
    with pooler.connect(autocommit=True) as web:
        web.execute(broken)  # type: ignore[call-overload]
    assert pooler.left()
    pooler.forget()
