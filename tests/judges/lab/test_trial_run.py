"""A trial that is really run: committed, since runs are worked on other connections."""

from __future__ import annotations

from random import Random

import pytest

from annotate.core.blindness import SYSTEM
from judges.lab.read import is_under_way, one_trial, trial_figures
from judges.lab.write import MOST_SAMPLES
from judges.models import Run, RunState, Score
from judges.reports.evidence import settled_on_dev
from judges.runs.places import place_of
from judges.runs.work import work
from tests.judges.lab.test_trials import CONFIG, make_world, start


@pytest.mark.django_db(transaction=True)
def test_from_start_to_figures() -> None:
    _project, judge = make_world()
    trial = start(judge, samples=MOST_SAMPLES)
    assert len(trial.samples) == len(settled_on_dev(trial.criterion)) == 12
    for run in Run.objects.filter(state=RunState.RUNNING):
        work(place_of(run), rng=Random(1), in_worker=False)
    trial = one_trial(judge, trial.pk)
    assert not is_under_way(trial)
    assert set(Score.objects.values_list("sample__external_id", flat=True)) == set(trial.samples)
    figures = trial_figures(trial, reader=SYSTEM).figures
    assert [one["scored"] for one in figures["coverage"]] == [36, 36]
    assert figures["own"][1]["kappa"]["value"] == 1.0
    # The version in use has its scores now: only a new one is run.
    again = start(judge, {**CONFIG, "share": "recall"}, samples=7)
    assert again.base_run is None
    assert set(again.samples) < set(trial.samples)
