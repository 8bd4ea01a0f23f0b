"""A GET changes no row: every route is asked under a database role that may not write, and answers as usual.

Sessions aside, and what counts guesses and says when a token was last used: they are no part of what the application
knows. Nor does a GET have the worker write in its place, but
for one: the trail's note of who downloaded a release.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone
from knox.models import get_token_model
from rest_framework.test import APIClient

from annotate.core.blindness import SYSTEM
from annotate.models import AuditSchedule, GoldAnswer, ImportJob, Invite, Project, Release, Sample, Task, User, Verdict
from config.celery import app as celery_app
from judges.core.split import sides_of
from judges.kinds.lexical import KIND
from judges.models import Alignment, Ask, CascadeLook, Judge, JudgeVersion, Rule, Run, Trial
from judges.reports.read import report_state
from judges.reports.write import freeze_report
from judges.versions.write import create_judge
from tests.annotate.api.conftest import Both, _both
from tests.annotate.api.routes import API, PAGES, Route
from tests.annotate.api.test_access import PUBLIC
from tests.annotate.factories import finish, must_take, run_out
from tests.clients import client_of
from tests.database import ONLY_READS, taken_back

# Each stands for a role: no login, a user of no project, and the three roles of one.
STRANGERS = (None, "outsider")
ROLES = (*STRANGERS, "ann", "rita", "alice")
# What differs from one reply to the next.
_OF_THE_MOMENT = re.compile(
    r'csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": ?"\w+"|nonce="[^"]+"|name="[\w-]*seed" value="\d+"'
    r'|name="key" value="[0-9a-f-]{36}"'
)
NOTED = {"annotate.tasks.note_download"}
# Of a prompt about claims.
_LLM = {"criterion": "support", "model": "m", "template": "claim_support"}


@pytest.fixture(scope="module")
def _unrepaired(module_transaction: None) -> Both:
    """Something of everything, in states that invite a reader to put them right."""
    both = _both()
    world = both.world
    grade = world.criteria("grade")[0]
    batch = world.batch(strategy="pull", overlap=1)
    freeze_report(criterion=grade)
    # Since then a sample came that is neither dev nor test.
    for _ in range(2):
        finish(must_take(world.ben, batch))
    run_out(must_take(world.ann, world.batch(strategy="pull", overlap=1)))
    ImportJob.objects.create(project=world.project, kind="samples", status="running", file_name="f", file_format="csv")
    for release in Release.objects.all():
        default_storage.save(release.stored_as, ContentFile(b"{}\n"))
    for version in JudgeVersion.objects.all():
        version.config = KIND.complete(version.config, world.project)
        version.save()
    llm = create_judge(project=world.project, name="llm", kind="llm", endpoint=both.own["name"], config=_LLM)
    for purpose in ("scores", "canaries", "probes", "claims"):
        run = Run.objects.create(
            version=llm.versions.get(), purpose=purpose, state="running", scope={"samples": ["s1"]}, planned=1,
            terms={"set": 1, "seed": 1},
        )  # fmt: skip
        Ask.objects.create(
            run=run, sample_id=both.own["sample_id"], unit="sample", state="done", status="error", detail="No words."
        )
    for user in User.objects.all():
        get_token_model().objects.create(user)
    get_token_model().objects.update(expiry=timezone.now() - timedelta(days=1))
    # Once: in each transaction anew, it had PostgreSQL forget what it knows of all tables each time.
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ONLY_READS}")
        cursor.execute(f"GRANT INSERT, UPDATE, DELETE ON django_session, annotate_attempts TO {ONLY_READS}")
        cursor.execute(f"GRANT UPDATE (last_used) ON annotate_apitoken TO {ONLY_READS}")
    return both


@pytest.fixture
def both(_unrepaired: Both, db: None) -> Both:
    cache.clear()
    return copy.deepcopy(_unrepaired)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the worker was asked to do."""
    found: list[str] = []
    monkeypatch.setattr(celery_app, "send_task", lambda name, *_, **__: found.append(name))
    return found


Committing = Callable[..., AbstractContextManager[list[Any]]]


@contextmanager
def only_reading() -> Iterator[None]:
    """As a role that may read everything, and write what the module's docstring names."""
    with taken_back(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {ONLY_READS}")
        yield


def asked_of(route: Route, both: Both) -> Iterator[tuple[str | None, str]]:
    """Who asks, and of what in Alice's project the route could be about: one thing will do for those who have no part
    in it."""
    urls = urls_of(route, both)
    for name in ROLES:
        for url in urls[:1] if name in STRANGERS else urls:
            yield name, url


def urls_of(route: Route, both: Both) -> list[str]:
    models: dict[str, Any] = {
        "run_id": Run, "trial_id": Trial, "alignment_id": Alignment, "rule_id": Rule, "look_id": CascadeLook,
        "verdict_id": Verdict, "sample_id": Sample, "task_id": Task,
        "gold_id": GoldAnswer, "job_id": ImportJob, "invite_id": Invite, "judge_id": Judge,
        "schedule_id": AuditSchedule,
    }  # fmt: skip
    many = {}
    for name, model in models.items():
        known = list(model.objects.order_by("pk").values_list("pk", flat=True))
        many[name] = sorted({*known[:1], *known[-3:]})
    many |= {
        "link_id": [1],
        "view_id": [1],
        "of": ["samples", "units"],
        "what": ["waive", "withdraw"],
        "form": ["json", "html", "pdf", "zip"],
        "number": [both.own["number"], both.own["number"] + 100],
    }
    many |= {"key": ["grade", "support"], "token": ["no-such-invitation"], "start": ["lexical-token-overlap"]}
    many |= {"step": ["keep", "open"], "what": ["waive"], "path": ["statistics"], "version": [1]}
    for name, value in both.own.items():
        many.setdefault(name, [value])
    names = route.parameters
    values = product(*(many[name] for name in names))
    return sorted({route.url({**both.own, **dict(zip(names, one, strict=True))}) for one in values})


def answer(client: Client, url: str) -> tuple[int, str]:
    reply = client.get(url)
    body = b"".join(reply.streaming_content) if reply.streaming else reply.content
    for close in reply._resource_closers:  # a file; all of `close()` would close the database's connection too
        close()
    # Its own bytes have the time in them.
    return reply.status_code, "" if url.endswith(".zip") else _OF_THE_MOMENT.sub("", body.decode(errors="replace"))


def ask_as_both(client: Client, url: str) -> None:
    with only_reading():
        told = answer(client, url)
    cache.clear()
    with taken_back():
        usual = answer(client, url)
    assert told == usual, url
    assert told[0] < 500, url


@pytest.mark.parametrize("route", [route for route in API if "GET" in route.methods], ids=str)
def test_no_endpoint_writes(
    both: Both, route: Route, told: list[str], django_capture_on_commit_callbacks: Committing
) -> None:
    with django_capture_on_commit_callbacks() as later:
        clients = {name: client_of(None if name is None else User.objects.get(username=name)) for name in ROLES}
        for name, url in asked_of(route, both):
            if route.path not in PUBLIC or name == ROLES[-1]:
                ask_as_both(clients[name], url)
    assert later == []
    assert set(told) == (NOTED if route.path.endswith("releases/<int:number>/file/") else set())


@pytest.mark.parametrize("route", PAGES, ids=str)
def test_no_page_writes(
    both: Both, route: Route, told: list[str], django_capture_on_commit_callbacks: Committing
) -> None:
    with django_capture_on_commit_callbacks() as later:
        for name, url in asked_of(route, both):
            # One for each: what a reply leaves for the next page to say would be there once only.
            client = Client()
            if name is not None:
                client.force_login(User.objects.get(username=name))
            ask_as_both(client, url)
    assert later == []
    assert set(told) == (NOTED if route.path.endswith("/export/<int:number>/") else set())


def test_no_program_writes_by_its_token(both: Both) -> None:
    """Also where it has tokens that ran out."""
    _, good = get_token_model().objects.create(both.world.ann)
    old, expired = get_token_model().objects.create(both.world.ann)
    get_token_model().objects.filter(pk=old.pk).update(expiry=timezone.now() - timedelta(days=1))
    for token, status in ((good, 200), (expired, 401)):
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
        with only_reading():
            assert client.get("/api/projects/").status_code == status


def test_there_is_something_to_put_right(both: Both) -> None:
    """And the role may not."""
    grade = both.world.criteria("grade")[0]
    state = report_state(grade, reader=SYSTEM)
    assert state.is_out_of_date
    names = set(Sample.objects.values_list("external_id", flat=True))
    assert names - sides_of(grade, names).keys()
    assert ImportJob.objects.filter(status="running").exists()
    assert Task.objects.filter(lease_expires_at__lt=timezone.now()).exists()
    assert JudgeVersion.objects.filter(state="trial").exists()
    for model in (Project, Task):
        with only_reading(), pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            model.objects.select_for_update().first()
    with only_reading(), pytest.raises((ProgrammingError, IntegrityError), match="permission denied"):
        Project.objects.update(name="x")
