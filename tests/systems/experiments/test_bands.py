"""Bands and targets of metrics: the usual ones, those that an admin stored, and what figures say by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.core.errors import Invalid
from annotate.models import AuditEntry
from judges.endpoints.duplicate import duplicate_project
from systems.experiments.bands_read import Bands, bands_of
from systems.experiments.bands_write import change_bands
from systems.models import Experiment, ExperimentFigures, MetricBands
from tests.annotate.factories import World
from tests.clients import as_user
from tests.systems.experiments.building import create, draw, figures, label, metric
from tests.systems.experiments.conftest import SPEC

Write = Callable[..., Path]
API = "/api/projects/desk/bands/"


def test_the_usual_ones_hold_until_an_admin_stores_others(world: World) -> None:
    found = bands_of(world.project)
    assert not found.is_stored
    # The project asks nothing of relevancy, which has usual ones too.
    assert {name: (one.limits, one.target) for name, one in found.metrics.items()} == {
        "faithfulness": ((0.5, 0.7, 0.85), 0.85),
        "recall_at_5": ((0.5, 0.65, 0.8), 0.8),
    }
    wanted = {"faithfulness": {"limits": [0.6, 0.8, 0.9], "target": None}, "latency_ms": {"limits": [9e3, 5e3, 1e3]}}
    stored = change_bands(actor=world.alice, project=world.project, metrics=wanted)
    assert (stored.is_stored, set(stored.metrics)) == (True, {"faithfulness", "latency_ms"})
    assert stored.metrics["latency_ms"] == Bands((9e3, 5e3, 1e3))
    change_bands(actor=world.alice, project=world.project, metrics=wanted)
    (entry,) = AuditEntry.objects.filter(action="bands.changed")
    assert (entry.actor, entry.details) == (world.alice, {"metrics": ["faithfulness", "latency_ms"]})


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ([], "metrics: must be an object"),
        ({"bleu": {"limits": []}}, "“bleu” is no metric of this project"),
        ({"faithfulness": [0.5]}, "must be an object with"),
        ({"faithfulness": {"bars": []}}, "must be an object with"),
        ({"faithfulness": {"limits": [0.5, 0.7]}}, "must be three numbers"),
        ({"faithfulness": {"limits": [0.5, 0.7, True]}}, "must be three numbers"),
        ({"faithfulness": {"limits": [0.5, 0.7, 10**400]}}, "must be three numbers"),
        ({"faithfulness": {"limits": [0.5, 0.5, 0.7]}}, "each must be better"),
        ({"latency_ms": {"limits": [100, 200, 300]}}, "each must be better"),
        ({"faithfulness": {"target": "high"}}, "target: must be a number"),
    ],
)
def test_what_they_cannot_be(world: World, metrics: Any, told: str) -> None:
    with pytest.raises(Invalid) as refused:
        change_bands(actor=world.alice, project=world.project, metrics=metrics)
    assert (refused.value.code, told in refused.value.message) == ("bad_bands", True)
    assert not MetricBands.objects.exists()


def test_a_duplicate_of_the_project_has_them_too(world: World) -> None:
    plain = duplicate_project(actor=world.alice, project=world.project, slug="plain", name="Plain")
    assert not bands_of(plain).is_stored
    change_bands(actor=world.alice, project=world.project, metrics={"grade": {"limits": [0.2, 0.4, 0.6]}})
    made = duplicate_project(actor=world.alice, project=world.project, slug="made", name="Made")
    assert bands_of(made).metrics == {"grade": Bands((0.2, 0.4, 0.6))}


def test_figures_have_the_band_of_their_interval_and_are_out_of_date_with_others(compared: World, write: Write) -> None:
    create(write, SPEC)
    assert [one["band"] for one in metric(figures(), "faithfulness")["levels"]] == [None, None]
    label(compared, draw(12), lambda task, unit: "yes")
    found = metric(figures(), "faithfulness")
    assert found["bands"] == {"limits": [0.5, 0.7, 0.85], "target": 0.85}
    low = found["levels"][0]["people"]["low"]
    assert 0.7 <= low < 0.85
    assert found["levels"][0]["band"] == ["good", "excellent"]
    assert found["levels"][1]["band"] == ["good", "excellent"]
    before = ExperimentFigures.objects.count()
    change_bands(actor=compared.alice, project=compared.project, metrics={"faithfulness": {"limits": [0.1, 0.2, 0.3]}})
    assert as_user(compared.rita).get("/api/projects/desk/experiments/v2-or-v1/figures/").json()["is_out_of_date"]
    assert metric(figures(), "faithfulness")["levels"][0]["band"] == ["excellent", "excellent"]
    assert ExperimentFigures.objects.count() == before + 1
    assert Experiment.objects.get().rules.count() == 1


def test_by_api(world: World) -> None:
    admin = as_user(world.alice)
    found = admin.get(API).json()
    assert (found["stored"], found["metrics"]["faithfulness"]["target"]) == (False, 0.85)
    assert found["metrics"]["grade"] == {"limits": [], "target": None}

    def put(client: Any, metrics: Any) -> Any:
        return client.put(API, json.dumps({"metrics": metrics}), content_type="application/json")

    stored = put(admin, {"grade": {"limits": [0.2, 0.4, 0.6], "target": 0.5}})
    assert (stored.status_code, stored.json()["stored"]) == (200, True)
    assert admin.get(API).json()["metrics"]["faithfulness"] == {"limits": [], "target": None}
    assert put(admin, {"grade": {"limits": [3]}}).json()["error"]["code"] == "bad_bands"
    assert put(as_user(world.rita), {}).status_code == 403
    assert as_user(world.rita).get(API).status_code == 200
    assert as_user(world.ann).get(API).status_code == 403
    assert as_user(world.charlie).get(API).status_code == 404
