"""Runs of judges that ask nobody, through a real worker's code and a real PostgreSQL."""

from __future__ import annotations

from random import Random

import pytest

from judges.models import Score
from judges.runs.places import place_of
from judges.runs.read import progress_of
from judges.runs.work import work
from judges.runs.write import start_run
from judges.versions.write import create_judge
from tests.annotate.factories import World, make_samples, make_world


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def test_a_run_scores_every_unit_once(world: World) -> None:
    make_samples(world.project, 30)
    judge = create_judge(
        project=world.project,
        name="overlap",
        kind="lexical",
        config={"measure": "token_overlap", "unit": "claim", "dimension": "overlap"},
    )
    version = judge.versions.get()
    run = start_run(version=version, scope={"all": True}, actor=world.alice)
    assert (run.state, run.planned) == ("running", 60)
    work(place_of(run), rng=Random(1), in_worker=False)
    run.refresh_from_db()
    progress = progress_of(run)
    assert (progress.state, progress.done, progress.by_status) == ("done", 60, {"ok": 60})
    assert Score.objects.filter(version=version).count() == 60
    again = start_run(version=version, scope={"all": True})
    assert (again.state, again.planned) == ("done", 0)
