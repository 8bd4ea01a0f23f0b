"""The client against the server that `make run` starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from threading import Event, Lock
from typing import Any

import pytest
from touchstone_client import Answer, Asked, Client, Project, Question, Refused, Unreachable

from annotate.files import releases
from annotate.projects.accounts import make_token
from judges.reports.write import freeze_report
from systems.experiments.write import create_experiment
from systems.models import Response, SystemVersion
from tests.annotate.factories import World, make_world
from tests.judges.building import clicked_world, settle_all
from tests.processes import LiveApp

ROWS = [
    {"id": f"q{n}", "question": f"Which port has service {n}?", "reference": str(8000 + n), "relevant": {f"doc{n}": 2}}
    for n in range(5)
]


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def project(world: World, live_app: LiveApp) -> Iterator[Project]:
    _stored, token = make_token(actor=world.alice, scopes=["read", "push"])
    with Client(live_app.url, token) as client:
        yield client.project("desk")


@pytest.fixture
def ports(project: Project) -> str:
    project.push_questions("ports", ROWS)
    return project.freeze("ports")


def port(question: Question) -> str:
    return f"Port {question.reference}."


def test_questions_go_in_and_come_out_as_they_were_frozen(project: Project, ports: str) -> None:
    assert ports == "ports@1"
    assert project.freeze("ports") == "ports@1"
    project.push_questions("ports", [{**ROWS[0], "question": "Which port now?"}])
    assert project.freeze("ports") == "ports@2"
    first, now = project.questions("ports@1"), project.questions("ports@2")
    assert [one.id for one in first] == [one.id for one in now] == [row["id"] for row in ROWS]
    assert (first[0].text, now[0].text) == ("Which port has service 0?", "Which port now?")
    assert (first[0].reference, first[0].relevant) == ("8000", {"doc0": 2})
    with pytest.raises(ValueError, match="name it as name@number"):
        project.questions("ports")


def test_bad_questions_are_named_row_by_row(project: Project) -> None:
    with pytest.raises(Refused) as refused:
        project.push_questions("ports", [ROWS[0], {"id": "q9"}])
    assert [row["row"] for row in refused.value.rows] == [2]
    assert "row 2" in str(refused.value)
    with pytest.raises(Refused):
        project.freeze("ports")


def test_a_version_is_described_and_described_otherwise(project: Project) -> None:
    project.describe_version("v7", configuration={"top_k": 5}, commit="1a2b3c")
    project.describe_version("v7", tags=["night"])
    version = SystemVersion.objects.get(name="v7")
    assert (version.configuration, version.commit, version.tags) == ({"top_k": 5}, "1a2b3c", ["night"])


def test_a_system_is_asked_what_is_left(project: Project, ports: str) -> None:
    asked: list[str] = []

    def ask(question: Question) -> Answer:
        asked.append(question.id)
        context = {"id": "doc", "text": "A port.", "score": 0.5}
        return Answer(port(question), contexts=[context], cost=0.25, output_tokens=7, latency_ms=12.0)

    told: list[Any] = []
    assert project.ask("v7", ask, ports, repeats=2, on_progress=told.append) == Asked(answered=10)
    assert (told[-1].done, told[-1].of, told[-1].failed) == (10, 10, 0)
    assert sorted(asked) == sorted([row["id"] for row in ROWS] * 2)
    response = Response.objects.select_related("sample").get(question__external_id="q3", repeat=1)
    assert response.sample is not None
    assert (response.sample.answer, response.cost, response.latency_ms) == ("Port 8003.", 0.25, 12.0)
    assert response.output_tokens == 7
    # Nothing is left, and a third repeat is.
    assert project.ask("v7", ask, ports, repeats=2) == Asked(there=10)
    assert project.ask("v7", ask, ports, repeats=3) == Asked(answered=5, there=10)
    assert len(asked) == 15


def test_what_fails_is_a_failed_request_and_is_asked_again_when_wanted(project: Project, ports: str) -> None:
    calls: dict[str, int] = {}

    def ask(question: Question) -> str:
        calls[question.id] = calls.get(question.id, 0) + 1
        if question.id == "q1" or (question.id == "q2" and calls["q2"] == 1):
            raise TimeoutError("after 30 s")
        return port(question)

    assert project.ask("v7", ask, ports, retries=1) == Asked(answered=4, failed=1)
    assert (calls["q1"], calls["q2"], calls["q3"]) == (2, 2, 1)
    failed = Response.objects.get(question__external_id="q1")
    assert (failed.status, failed.error_text, failed.sample) == ("failed", "TimeoutError: after 30 s", None)
    assert failed.latency_ms is not None
    # It has a response, so it is not asked again unless that is wanted.
    assert project.ask("v7", port, ports) == Asked(there=5)
    assert project.ask("v7", port, ports, only_failed=True) == Asked(answered=1, there=4)
    assert Response.objects.get(question__external_id="q1").status == "ok"


def test_starting_twice_is_one_start(project: Project, ports: str) -> None:
    """Another process answers the same questions, otherwise, after this one has looked what is left."""

    def ask(question: Question) -> str:
        with once:
            if not other.is_set():
                other.set()
                rows = [{"question_id": row["id"], "answer": "From elsewhere."} for row in ROWS[:3]]
                assert project.push_responses("v7", rows) == Asked(answered=3)
        return port(question)

    once, other = Lock(), Event()
    assert project.ask("v7", ask, ports) == Asked(answered=2, there=3)
    said = Response.objects.order_by("question").values_list("sample__answer", flat=True)
    assert list(said) == ["From elsewhere."] * 3 + ["Port 8003.", "Port 8004."]


def test_what_was_answered_before_an_interruption_is_kept(project: Project, ports: str) -> None:
    def ask(question: Question) -> Any:
        return port(question) if question.id != "q4" else 5

    with pytest.raises(TypeError, match="a text or an Answer, not int"):
        project.ask("v7", ask, ports, concurrency=1)
    assert Response.objects.count() == 4
    assert project.ask("v7", port, ports) == Asked(answered=1, there=4)


def test_what_the_server_refuses_is_raised(project: Project, ports: str) -> None:
    with pytest.raises(Refused, match="no such question") as refused:
        project.push_responses("v7", [{"question_id": "q0", "answer": "8000."}, {"question_id": "q99", "answer": "?"}])
    assert [(row["row"], row["code"]) for row in refused.value.rows] == [(2, "unknown_question")]
    assert not Response.objects.exists()
    with pytest.raises(ValueError, match="1 or more"):
        project.ask("v7", port, ports, repeats=0)


def test_ground_truth_scores_and_reports_come_as_tables(project: Project, world: World) -> None:
    with pytest.raises(LookupError, match="no release"):
        project.ground_truth()
    with pytest.raises(LookupError, match="no judge 'nobody'"):
        project.scores("nobody")
    with pytest.raises(LookupError, match="no report"):
        project.report("grade")
    clicked_world(world)
    settle_all(world.project)
    report = freeze_report(criterion=world.criteria("grade")[0])
    release = releases.make_release(project=world.project, user=world.alice, file_format="jsonl", filters=None)
    truth = project.ground_truth()
    with releases.hand_out(release, actor=world.alice) as file:
        lines = file.read().decode().splitlines()
    assert len(truth) == len(lines)
    assert list(truth.columns) == list(json.loads(lines[0]))
    scores = project.scores("judge")
    assert len(scores) == 156
    assert set(scores["dimension"]) == {"grade"}
    (judge,) = project.report("grade").to_dict("records")
    kappa = report.result["judges"][0]["kappa"]
    assert (judge["judge"], judge["kappa"], judge["kappa_low"]) == ("judge", kappa["value"], kappa["low"])


def test_a_wrong_token_is_refused_and_a_server_that_is_not_there_is_unreachable(
    live_app: LiveApp, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    with Client(live_app.url, "ts_nothing") as client, pytest.raises(Refused, match="Token not found") as refused:
        client.project("desk").ground_truth()
    assert refused.value.status == 401
    monkeypatch.setattr("touchstone_client.server.TRIES", 1)
    with Client("http://127.0.0.1:9", "ts_nothing") as client, pytest.raises(Unreachable, match="Connect"):
        client.project("desk").ground_truth()


def test_an_experiment_comes_as_a_table(project: Project, ports: str, world: World) -> None:
    for version, first, step in (("v6", 100.0, 1.0), ("v7", 60.0, 2.0)):
        times = {row["id"]: first + step * number for number, row in enumerate(ROWS)}
        rows = [{"question_id": name, "answer": "8000.", "latency_ms": took} for name, took in times.items()]
        project.push_responses(version, rows)
    create_experiment(
        actor=world.alice,
        project=world.project,
        name="v7-or-v6",
        said={
            "set": ports,
            "versions": ["v6", "v7"],
            "metrics": [{"field": "latency_ms"}],
            "rule": {"primary": "latency_ms", "margin": 5, "guards": [], "level": 0.95},
        },
    )
    (row,) = project.experiment("v7-or-v6").to_dict("records")
    assert (row["metric"], row["role"], row["baseline"], row["version"]) == ("latency_ms", "primary", "v6", "v7")
    assert row["corrected"] == pytest.approx(-38)
    assert row["verdict"] == "better"
