"""Experiments by API: made, drawn, worked out and read; by whom, and by whom not yet."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.models import Batch, Task
from systems.models import Experiment, ExperimentFigures
from tests.annotate.factories import World, finish
from tests.clients import client_of
from tests.systems.api.test_api import get, post
from tests.systems.experiments.building import label, metric
from tests.systems.experiments.conftest import QUESTIONS, SPEC

BODY = {"name": "v2-or-v1", **SPEC}


@pytest.fixture
def made(compared: World) -> World:
    reply = post(compared.alice, "experiments/", BODY)
    assert reply.status_code == 201, reply.content
    return compared


def test_it_is_made_and_read(compared: World) -> None:
    for user in (compared.rita, compared.ann):
        assert post(user, "experiments/", BODY).status_code == 403
    reply = post(compared.alice, "experiments/", BODY)
    assert (reply.status_code, reply.json()["is_new"]) == (201, True)
    assert post(compared.alice, "experiments/", BODY).status_code == 200
    (listed,) = get(compared.rita, "experiments/")["results"]
    assert (listed["name"], listed["set"], listed["versions"], listed["baseline"]) == (
        "v2-or-v1",
        "support@1",
        ["v1", "v2"],
        "v1",
    )
    assert (listed["rule"]["primary"], listed["rule"]["set_by"]) == ("faithfulness", "alice")
    changed = post(compared.alice, "experiments/", {**BODY, "rule": {**SPEC["rule"], "margin": 0.1}})
    assert (changed.status_code, changed.json()["is_changed"]) == (200, True)
    whole = get(compared.rita, "experiments/v2-or-v1/")
    assert [one["margin"] for one in whole["rules"]] == [0.1, 0.05]
    assert (whole["seed"], whole["draws"], whole["created_by"]) == (None, [], "alice")
    refused = post(compared.alice, "experiments/", {**BODY, "versions": ["v2", "v1"]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "other_experiment")
    refused = post(compared.alice, "experiments/", {**BODY, "metrics": []})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_experiment")


def test_labels_are_drawn(made: World) -> None:
    body = {"questions": 4, "seed": 7, "annotators": ["ann"], "overlap": 1}
    assert post(made.rita, "experiments/v2-or-v1/draw/", body).status_code == 403
    reply = post(made.alice, "experiments/v2-or-v1/draw/", body)
    assert reply.status_code == 201, reply.content
    assert reply.json() == {"batch": 1, "status": "open", "questions": 4, "samples": 8, "population": QUESTIONS}
    more = post(made.alice, "experiments/v2-or-v1/draw/", {**body, "open": False}).json()
    assert more["status"] == "draft"
    assert post(made.alice, "experiments/v2-or-v1/draw/", {**body, "seed": 8}).status_code == 409
    assert post(made.alice, "experiments/v2-or-v1/draw/", {**body, "questions": 0}).status_code == 422
    assert [one["groups"] for one in get(made.rita, "experiments/v2-or-v1/")["draws"]] == [4, 4]


def test_figures_are_frozen_and_read(made: World) -> None:
    path = "experiments/v2-or-v1/figures/"
    get(made.rita, path, 404)
    assert post(made.rita, path, {}).status_code == 403
    reply = post(made.alice, path, {})
    assert reply.status_code == 201, reply.content
    assert get(made.rita, path) == reply.json()
    assert (reply.json()["made_by"], reply.json()["is_out_of_date"]) == ("alice", False)
    assert reply.json()["figures"]["schema"] == 1
    post(made.alice, "experiments/v2-or-v1/draw/", {"questions": 4, "seed": 7})
    assert get(made.alice, path)["is_out_of_date"] is True
    assert ExperimentFigures.objects.count() == 1


def test_who_still_has_to_label_is_told_no_figures(made: World) -> None:
    path = "experiments/v2-or-v1/figures/"
    post(made.alice, path, {})
    body = {"questions": QUESTIONS, "seed": 7, "annotators": ["rita"], "overlap": 1}
    assert post(made.alice, "experiments/v2-or-v1/draw/", body).status_code == 201
    assert get(made.rita, path, 409)["error"]["code"] == "still_to_label"
    for task in Task.objects.filter(annotator=made.rita):
        finish(task)
    assert post(made.alice, path, {}).status_code == 201
    levels = metric(get(made.rita, path)["figures"], "faithfulness")["levels"]
    assert levels[0]["labelled"] == QUESTIONS


def test_the_trend_has_what_each_experiment_found_and_holds_back_the_same(made: World) -> None:
    assert get(made.rita, "trend/") == {"metrics": [], "held_back": 0, "left_out": 0}
    found = post(made.alice, "experiments/v2-or-v1/figures/", {}).json()["figures"]
    trend = get(made.rita, "trend/")
    assert {one["metric"] for one in trend["metrics"]} == {one["metric"] for one in found["metrics"]}
    (faithfulness,) = (one for one in trend["metrics"] if one["metric"] == "faithfulness")
    assert (faithfulness["direction"], faithfulness["unit"]) == ("higher", "share")
    (point,) = faithfulness["points"]
    assert (point["experiment"], point["changes"]) == ("v2-or-v1", [])
    assert [(one["version"], one["is_baseline"]) for one in point["levels"]] == [("v1", True), ("v2", False)]
    assert [one["level"] for one in point["levels"]] == metric(found, "faithfulness")["levels"]
    body = {"questions": 4, "seed": 7, "annotators": ["rita"], "overlap": 1}
    assert post(made.alice, "experiments/v2-or-v1/draw/", body).status_code == 201
    assert get(made.rita, "trend/") == {"metrics": [], "held_back": 1, "left_out": 0}
    assert get(made.alice, "trend/")["held_back"] == 0


def test_an_admin_who_labels_makes_no_figures(made: World) -> None:
    body = {"questions": 4, "seed": 7, "annotators": ["alice"], "overlap": 1}
    post(made.alice, "experiments/v2-or-v1/draw/", body)
    refused = post(made.alice, "experiments/v2-or-v1/figures/", {})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "still_to_label")
    assert not ExperimentFigures.objects.exists()


def test_another_project_has_experiments_of_its_own(made: World) -> None:
    for path in ("experiments/", "experiments/v2-or-v1/", "experiments/v2-or-v1/figures/", "trend/"):
        assert client_of(made.dora).get(f"/api/projects/desk/{path}").status_code == 404
        assert client_of(made.ann).get(f"/api/projects/desk/{path}").status_code == 403
    assert client_of(made.dora).get("/api/projects/next-door/experiments/").json()["results"] == []
    assert client_of(made.dora).get("/api/projects/next-door/experiments/v2-or-v1/").status_code == 404


def test_an_annotator_is_not_told_the_version(made: World) -> None:
    post(made.alice, "experiments/v2-or-v1/draw/", {"questions": 4, "seed": 7})
    batch = Batch.objects.get()
    assert "v1" not in batch.name
    assert "v2" not in batch.name
    reply: Any = client_of(made.ann).post("/api/projects/desk/work/", {}, content_type="application/json")
    text = reply.content.decode()
    assert "It opens at nine" in text
    assert "v1" not in text.replace("/v1", "")
    assert "@v2" not in text
    label(made, batch, lambda *_: "yes")
    assert Experiment.objects.get().seed == 7
