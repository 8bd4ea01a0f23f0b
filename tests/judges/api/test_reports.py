"""Agreement, alignment and reports by API."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from kombu.exceptions import OperationalError

from annotate.core.blindness import SYSTEM
from annotate.models import User
from annotate.verdicts.evidence_read import agreement
from config.celery import app as celery_app
from judges import celery_tasks as tasks
from judges.models import AlignmentReport, JudgeVersion
from judges.reports.evidence import align
from judges.reports.write import freeze_report
from tests.annotate.factories import World, make_world
from tests.clients import client_of
from tests.database import copied_from_world
from tests.judges.building import GRADES, add_judge, add_labels, add_samples, scores_like
from tests.judges.certificates.decided import decided

pytestmark = pytest.mark.django_db

ROOT = "/api/projects/desk/"
Committing = Callable[..., AbstractContextManager[object]]


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    samples = add_samples(world.project, [f"s{place:02}" for place in range(24)])
    (grade,) = world.criteria("grade")
    rows = [(n, "answer", rater, GRADES[place % 8]) for place, n in enumerate(samples) for rater in ("x", "y")]
    add_labels(grade, samples, rows)
    add_judge(world.project, "good", samples, scores_like(samples), dimension="grade")
    add_judge(world.project, "other", samples, scores_like(samples, wrong_every=3), dimension="grade")
    return world


world = copied_from_world()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str]]:
    found: list[tuple[str]] = []
    monkeypatch.setattr(celery_app, "send_task", lambda name, args, **_: found.append(args))
    return found


def get(user: User, path: str) -> Any:
    reply = client_of(user).get(ROOT + path)
    assert reply.status_code == 200, reply.content
    return reply.json()


def test_figures_are_those_of_the_commands(world: World) -> None:
    (grade,) = world.criteria("grade")
    for reader in (world.alice, world.rita):
        figures = json.loads(json.dumps(agreement(grade, reader=reader)))
        assert get(reader, "criteria/grade/agreement/") == figures
    named = agreement(grade, reader=world.alice)
    assert named == agreement(grade, reader=SYSTEM)
    assert len(figures["raters"]) == len(named["raters"])
    assert all(name.startswith("Annotator ") for name in figures["raters"])
    assert figures["estimates"] == json.loads(json.dumps(named["estimates"]))
    # Which divides the samples; who asks only sees nothing before that.
    aligned = json.loads(json.dumps(align(grade)))
    assert get(world.rita, "criteria/grade/alignment/") == {**aligned, "looks": []}
    (row,) = get(world.rita, "criteria/grade/alignment/?judge=other")["judges"]
    assert row["judge"] == "other"


def test_after_a_look_both_say_what_it_said(world: World) -> None:
    """Whatever was reckoned on dev."""
    (grade,) = world.criteria("grade")
    freeze_report(criterion=grade)
    version = JudgeVersion.objects.get(judge__project=grade.project, judge__name="other")
    look = decided(version, "not_for_use", key="grade")
    said = {
        "judge": "other",
        "version": version.label,
        "dimension": look.dimension,
        "look": 1,
        "decision": json.loads(json.dumps(look.result["decision"])),
        "certificate": None,
        "ended": None,
    }
    assert get(world.rita, "criteria/grade/alignment/")["looks"] == [said]
    assert get(world.rita, "criteria/grade/alignment/?judge=good")["looks"] == []
    assert get(world.rita, "reports/1/")["looks"] == [said]


def test_asking_for_a_report(
    world: World, asked: list[tuple[str]], django_capture_on_commit_callbacks: Committing
) -> None:
    state = {"number": None, "is_out_of_date": False, "is_pending": False}
    assert get(world.rita, "criteria/grade/report/") == state
    client = client_of(world.rita)
    with django_capture_on_commit_callbacks(execute=True):
        replies = [client.post(ROOT + "reports/", {"criterion": "grade"}, format="json") for _ in range(2)]
    assert [(reply.status_code, reply.json()["requested"]) for reply in replies] == [(202, True), (202, False)]
    ((job,),) = asked
    assert get(world.rita, "criteria/grade/report/") == {**state, "is_pending": True}
    tasks.make_report(job)
    assert get(world.rita, "criteria/grade/report/") == {**state, "number": 1}
    (listed,) = get(world.rita, "reports/")["results"]
    assert (listed["number"], listed["criterion"]) == (1, "grade")


def test_a_broker_that_is_away_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Committing
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("no")

    monkeypatch.setattr(celery_app, "send_task", away)
    from annotate.core.errors import Unavailable
    from judges.reports.requests import request_report

    (grade,) = world.criteria("grade")
    with pytest.raises(Unavailable), django_capture_on_commit_callbacks(execute=True):
        request_report(criterion=grade)
    assert not get(world.rita, "criteria/grade/report/")["is_pending"]


def test_reports(world: World) -> None:
    grade, support = world.criteria("grade", "support")
    first = freeze_report(criterion=grade)
    freeze_report(criterion=support)
    listed = get(world.alice, "reports/")
    assert (listed["count"], [row["number"] for row in listed["results"]]) == (2, [2, 1])
    (row,) = get(world.alice, "reports/?criterion=grade")["results"]
    assert set(row) == {"number", "criterion", "criterion_version", "labels", "fingerprint", "created_at"}
    whole = get(world.alice, "reports/1/")
    assert whole == {**row, "parameters": whole["parameters"], "result": whole["result"], "looks": []}
    assert whole["result"] == json.loads(json.dumps(first.result))
    reply = client_of(world.alice).get(ROOT + "reports/1/download.html")
    assert reply.headers["Content-Type"].startswith("text/html")
    assert reply.headers["Content-Disposition"] == 'attachment; filename="desk-grade-report-1.html"'
    assert reply.content.decode().startswith("<!doctype html>")
    # One of an earlier version may lack figures that the file shows.
    AlignmentReport.objects.filter(pk=first.pk).update(parameters={**first.parameters, "figures": 5})
    reply = client_of(world.alice).get(ROOT + "reports/1/download.html")
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "earlier_version")


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("criteria/nothing/agreement/", 404, ""),
        ("criteria/nothing/alignment/", 404, ""),
        ("criteria/grade/alignment/?judge=nobody", 422, "Judge “nobody” not found"),
        ("criteria/grade/alignment/?jugde=good", 400, "jugde"),
        ("reports/9/", 404, "Report 9 not found"),
        ("reports/9/download.html", 404, "Report 9 not found"),
    ],
)
def test_what_is_not_there(path: str, status: int, said: str, world: World) -> None:
    reply = client_of(world.rita).get(ROOT + path)
    assert reply.status_code == status
    assert said in reply.content.decode()


def test_a_report_of_no_criterion(world: World, asked: list[tuple[str]]) -> None:
    for body in ({"criterion": "nothing"}, {}, {"criterion": "grade", "more": 1}):
        reply = client_of(world.rita).post(ROOT + "reports/", body, format="json")
        assert reply.status_code == 422, reply.content
    assert asked == []


def test_only_admins_and_reviewers(world: World, asked: list[tuple[str]]) -> None:
    freeze_report(criterion=world.criteria("grade")[0])
    paths = [
        "criteria/grade/agreement/",
        "criteria/grade/alignment/",
        "criteria/grade/report/",
        "reports/",
        "reports/1/",
        "reports/1/download.html",
    ]
    for user, status in ((world.ann, 403), (world.charlie, 404), (world.dora, 404), (None, 401)):
        client = client_of(user)
        assert {client.get(ROOT + path).status_code for path in paths} == {status}
        assert client.post(ROOT + "reports/", {"criterion": "grade"}, format="json").status_code == status
    for user in (world.alice, world.rita):
        assert {client_of(user).get(ROOT + path).status_code for path in paths} == {200}
    assert asked == []
