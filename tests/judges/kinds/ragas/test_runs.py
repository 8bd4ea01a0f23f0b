"""Faithfulness and context precision for real: runs over samples, through the client, against the loopback server."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from annotate.core.blindness import SYSTEM
from annotate.models import Sample
from judges.core.scores_read import measured_by, whole_scores
from judges.endpoints.calls import TryLater
from judges.endpoints.client import open_client
from judges.kinds.base import Item
from judges.kinds.ragas import KIND
from judges.models import JudgeVersion, Reply, Run, RunState, Score, ScoreStatus
from judges.runs.read import failures, progress_of
from judges.runs.write import estimate_run, start_run
from judges.versions.write import create_judge
from tests.annotate.factories import World, make_world
from tests.judges.building import add_samples, unsaved_endpoint
from tests.judges.kinds.making import sample
from tests.judges.kinds.ragas.answering import answer
from tests.judges.kinds.ragas.scripted import config_of
from tests.judges.runs.building import endpoint_at, worked
from tests.openai_server import OpenAIServer, Request, chat, error
from tests.processes import Worker

RIGHT, WRONG, MORE = "Ada was born in London.", "Ada had a cat.", "Ada wrote a program."
CONTEXT = {"id": None, "score": None}
# External id -> answer, contexts, reference; faithfulness; context precision.
SAMPLES: dict[str, tuple[str, list[str], str | None, float | None, float | None]] = {
    "all-held": (f"{RIGHT} {MORE}", [f"{RIGHT} {MORE}"], RIGHT, 1.0, 1.0),
    "half-held": (f"{RIGHT} {WRONG}", ["Cats are warm.", RIGHT], RIGHT, 0.5, 0.5),
    "none-held": (WRONG, ["Cats are cold.", "Dogs bark."], RIGHT, 0.0, 0.0),
    "two-thirds": (f"{RIGHT} {WRONG} {MORE}", [RIGHT, "Cats are warm.", MORE], f"{RIGHT} {MORE}", 2 / 3, 5 / 6),
    "no-contexts": (RIGHT, [], RIGHT, None, None),
    "no-reference": (RIGHT, [RIGHT], None, 1.0, None),
}


@pytest.fixture
def world(transactional_db: None) -> World:
    world = make_world()
    Sample.objects.filter(project=world.project).delete()
    for name, (said, contexts, reference, _, _) in SAMPLES.items():
        texts = [{**CONTEXT, "text": text} for text in contexts]
        add_samples(world.project, [name], question="Who was Ada?", answer=said, contexts=texts, reference=reference)
    return world


@pytest.fixture
def server(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.answers(answer)
    return openai_server


def make_version(world: World, server: OpenAIServer, metric: str, **given: Any) -> JudgeVersion:
    endpoint_at(world, server)
    config = {"metric": metric, "model": "m", **given}
    judge = create_judge(project=world.project, name=f"ragas {metric}", kind="ragas", config=config, endpoint="loop")
    return judge.versions.select_related("judge__project", "endpoint").get()


def numbers(version: JudgeVersion) -> dict[str, float | None]:
    rows = Score.objects.filter(version=version, unit="answer")
    return dict(rows.values_list("sample__external_id", "number"))


@pytest.mark.parametrize(("metric", "column"), [("faithfulness", 3), ("context_precision", 4)])
def test_scores_land_per_sample(world: World, server: OpenAIServer, metric: str, column: int) -> None:
    version = make_version(world, server, metric)
    expected = {name: row[column] for name, row in SAMPLES.items() if row[column] is not None}
    estimate = estimate_run(version=version, scope={"all": True})
    run = worked(start_run(version=version, scope={"all": True}))
    progress = progress_of(run)
    assert (progress.state, progress.planned, progress.by_status) == ("done", len(expected), {"ok": len(expected)})
    assert numbers(version) == pytest.approx(expected, abs=1e-7)
    assert (estimate.asks, estimate.requests) == (len(expected), len(server.requests))
    assert {request.schema is not None for request in server.requests} == {True}
    # They are held against what people say of the parts.
    key = {"faithfulness": "support", "context_precision": "relevance"}[metric]
    criterion = world.project.criteria.get(key=key)
    assert measured_by(criterion, whole_scores(criterion, reader=SYSTEM)) == {metric: metric}
    # Nothing is asked twice, nothing is paid twice.
    server.requests.clear()
    again = worked(start_run(version=version, scope={"all": True}))
    assert (again.planned, server.requests) == (0, [])


def test_a_failed_row_shows_as_failed(world: World, server: OpenAIServer) -> None:
    """Each failure in its own words, among rows that succeed; and asked again later, it is replaced."""

    def troubled(request: Request) -> Any:
        found = answer(request)
        if WRONG in request.prompt and MORE not in request.prompt:
            if RIGHT in request.prompt.rpartition("input: ")[2]:
                return chat(None, refusal="I won't judge that.")
            return "I think it is faithful: 5/5"
        return found

    server.answers(troubled)
    version = make_version(world, server, "faithfulness")
    run = worked(start_run(version=version, scope={"all": True}))
    progress = progress_of(run)
    assert progress.by_status == {"ok": 3, "refused": 1, "parse_error": 1}
    assert progress.failed == 2
    assert numbers(version) == pytest.approx(
        {"all-held": 1.0, "two-thirds": 2 / 3, "no-reference": 1.0, "half-held": None, "none-held": None}, abs=1e-7
    )
    failed = {row.sample: row for row in failures(run, reader=SYSTEM)}
    assert {name: row.status for name, row in failed.items()} == {"half-held": "refused", "none-held": "parse_error"}
    assert failed["none-held"].raw == "I think it is faithful: 5/5"
    server.answers(answer)
    worked(start_run(version=version, scope={"all": True}, fresh=True))
    assert numbers(version)["half-held"] == 0.5
    assert set(Score.objects.values_list("status", flat=True)) == {ScoreStatus.OK}


def test_busy_and_broken_servers(world: World, server: OpenAIServer) -> None:
    """429 and 500 in the middle of a metric are tried again, from the request at which they came; 401 stops the run."""
    server.script({"statements": [RIGHT]}, error(429, retry_after=0), error(500))
    version = make_version(world, server, "faithfulness")
    scope = {"samples": ["no-reference"]}
    run = worked(start_run(version=version, scope=scope))
    assert progress_of(run).by_status == {"ok": 1}
    assert (len(server.requests), Reply.objects.count()) == (4, 2)
    server.key = "another"
    run = worked(start_run(version=version, scope={"all": True}))
    assert run.state == RunState.STOPPED
    assert Score.objects.filter(version=version).count() == 1


def test_at_a_real_worker(world: World, server: OpenAIServer, worker: Worker) -> None:
    version = make_version(world, server, "faithfulness")
    run = start_run(version=version, scope={"all": True}, repeats=2)
    worker.wait_for(lambda: Run.objects.get(pk=run.pk).state == RunState.DONE)
    assert progress_of(Run.objects.get(pk=run.pk)).by_status == {"ok": 10}
    rows = Score.objects.filter(version=version).values_list("sample__external_id", "repeat", "number")
    expected = {(name, repeat): row[3] for name, row in SAMPLES.items() if row[3] is not None for repeat in (0, 1)}
    assert {(name, repeat): number for name, repeat, number in rows} == pytest.approx(expected, abs=1e-7)


def test_eight_threads(server: OpenAIServer) -> None:
    """One scorer, one client, eight threads at once: every sample gets its own number."""
    many = [
        sample(at, question="q", answer="".join(f"It is {at} {n}." for n in range(4)), contexts=[f"It is {at} {n}."])
        for at in range(160)
        for n in [at % 4]
    ]
    together = threading.Barrier(8)

    def ask(number: int) -> list[float | None]:
        together.wait(30)
        mine = many[number::8]
        return [scorer.ask(Item(one, "answer"), client).scores[0].number for one in mine]

    server.latency = 0.01
    with (
        open_client(unsaved_endpoint(server, concurrency=8)) as client,
        KIND.open(JudgeVersion(config=config_of("faithfulness"))) as scorer,
        ThreadPoolExecutor(8) as threads,
    ):
        found = [number for numbers in threads.map(ask, range(8)) for number in numbers]
    assert found == [0.25] * 160
    assert len(server.requests) == 320
    assert 4 < server.most_at_once <= 8


def test_trouble_comes_through_the_client_as_it_is(server: OpenAIServer) -> None:
    server.script({"statements": [RIGHT]}, error(429, retry_after=7))
    with (
        open_client(unsaved_endpoint(server)) as client,
        KIND.open(JudgeVersion(config=config_of("faithfulness"))) as scorer,
        pytest.raises(TryLater) as found,
    ):
        scorer.ask(Item(sample(answer=RIGHT, contexts=[RIGHT]), "answer"), client)
    assert found.value.seconds == 7.0
    assert len(server.requests) == 2
