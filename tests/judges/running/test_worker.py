"""Runs at a real Celery worker."""

from __future__ import annotations

import time

import pytest

from judges.models import Run, RunState, Score
from judges.services.runs import start_run
from judges.services.versions import create_judge
from tests.annotate.factories import World, make_samples, make_world
from tests.conftest import Worker


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def test_it(world: World, worker: Worker) -> None:
    make_samples(world.project, 600)
    judge = create_judge(
        project=world.project,
        name="overlap",
        kind="lexical",
        config={"measure": "token_overlap", "unit": "claim", "dimension": "overlap"},
    )
    t = time.time()
    run = start_run(version=judge.versions.get(), scope={"all": True}, actor=world.alice)
    print("start", time.time() - t)
    worker.wait_for(lambda: Run.objects.get(pk=run.pk).state == RunState.DONE)
    print("done", time.time() - t)
    assert Score.objects.count() == 1200
    worker.kill()
    worker.start()
    t = time.time()
    run = start_run(version=judge.versions.get(), scope={"all": True}, repeats=2, actor=world.alice)
    worker.wait_for(lambda: Run.objects.get(pk=run.pk).state == RunState.DONE)
    print("with start", time.time() - t)
    print(worker.log.read_text())
