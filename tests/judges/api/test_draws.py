"""Draws by API: seen first, made a batch of afterwards, refused when something has changed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from annotate.models import Batch, Sample, Verdict
from tests.annotate.factories import World, make_sample, make_world
from tests.clients import client_of
from tests.database import copied_from_world
from tests.judges.building import GRADES, add_judge, add_samples

pytestmark = pytest.mark.django_db

OUTCOMES = {"by": "outcomes", "judge": "scorer", "threshold": 0.5}
WORTH = {"by": "worth", "count": 10, "judge": "scorer", "dimension": "grade"}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    samples: dict[str, Sample] = add_samples(world.project, [f"s{place:02}" for place in range(40)])
    rows = [(name, "answer", place % len(GRADES) / 4) for place, name in enumerate(samples)]
    add_judge(world.project, "scorer", samples, rows, dimension="grade")
    return world


world = copied_from_world()


def url(world: World, more: str = "") -> str:
    return f"/api/projects/{world.project.slug}/criteria/grade/draws/{more}"


@pytest.mark.parametrize("asked", [OUTCOMES, WORTH])
def test_seen_then_made(world: World, asked: dict[str, Any]) -> None:
    reviewer, admin = client_of(world.rita), client_of(world.alice)
    seen = admin.post(url(world), asked, format="json").json()
    assert (seen["frame"], seen["held_back"]) == (40, 0)
    assert not Batch.objects.exists()
    assert sum(row["drawn"] for row in seen["strata"]) == len(seen["samples"])
    assert sum(1 / row["probability"] for row in seen["samples"]) == pytest.approx(40)
    # The same seed, the same draw.
    again = {**asked, "seed": seen["seed"]}
    assert admin.post(url(world), again, format="json").json() == seen
    # To those who may have to decide about them the samples are not named: their strata say what a judge said.
    counted = reviewer.post(url(world), again, format="json").json()
    assert counted == {**seen, "samples": [], "held_back": len(seen["samples"])}

    batch = {"seed": seen["seed"], "plan": seen["plan"], "name": "Next", "annotators": ["ann", "ben"], "overlap": 2}
    assert reviewer.post(url(world, "batch/"), {**asked, **batch}, format="json").status_code == 403
    made = admin.post(url(world, "batch/"), {**asked, **batch}, format="json")
    assert made.status_code == 201
    rows = Batch.objects.get(number=made.json()["number"]).batch_samples
    stored = rows.values_list("sample__external_id", "probability", "stratum")
    assert set(stored) == {(row["sample_id"], row["probability"], row["stratum"]) for row in seen["samples"]}
    # Those samples wait in a batch now, so the draw is another one.
    again = admin.post(url(world, "batch/"), {**asked, **batch}, format="json")
    assert again.status_code in (409, 422)
    assert Batch.objects.count() == 1


def test_a_draw_tells_nothing_of_one_that_waits_for_a_decision(world: World) -> None:
    """Neither by its plan, which could be tried, nor by the places of others among those that are drawn."""
    settled = Sample.objects.filter(project=world.project).order_by("external_id")[:5]
    support = world.project.criteria.get(key="support")
    for sample in settled:
        Verdict.objects.create(
            sample=sample,
            unit="claim:0",
            criterion=support,
            state="settled",
            value="yes",
            method="majority",
            confidence=1,
        )
    for threshold in (0.3, 0.7):
        asked = {**OUTCOMES, "threshold": threshold, "fails": 1, "passes": 1, "seed": 1}
        seen = client_of(world.alice).post(url(world), asked, format="json").json()
        counted = client_of(world.rita).post(url(world), asked, format="json").json()
        assert (counted["samples"], counted["held_back"]) == ([], 40)
        chosen = sorted((one["sample_id"], (one["probability"], one["stratum"])) for one in seen["samples"])
        guessed = hashlib.sha256(json.dumps(chosen).encode()).hexdigest()[:32]
        assert len(chosen) == 40
        assert seen["plan"] == counted["plan"] != guessed


def test_changed_since(world: World) -> None:
    admin = client_of(world.alice)
    seen = admin.post(url(world), OUTCOMES, format="json").json()
    make_sample(world.project, 99)
    batch = {"seed": seen["seed"], "plan": seen["plan"], "name": "Next", "annotators": ["ann"], "overlap": 1}
    reply = admin.post(url(world, "batch/"), {**OUTCOMES, **batch}, format="json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "other_draw")
    assert not Batch.objects.exists()


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({}, "bad_by"),
        ({"by": "hand"}, "bad_by"),
        ({"by": ["worth"]}, "bad_by"),
        ({**WORTH, "passes": 0.2}, "unknown_field"),
        ({**WORTH, "count": "many"}, "bad_number"),
        ({**WORTH, "count": 99}, "bad_count"),
        ({**WORTH, "judge": "nobody"}, "unknown_judge"),
        ({"by": "outcomes"}, "missing_field"),
        ({**OUTCOMES, "threshold": "high"}, "bad_number"),
        ({**OUTCOMES, "threshold": None}, "no_threshold"),
        ({**OUTCOMES, "passes": 0}, "bad_share"),
        ({**OUTCOMES, "judge": 3}, "bad_text"),
        ({**OUTCOMES, "dimension": "support"}, "unknown_judge"),
        ({**OUTCOMES, "seed": -1}, "bad_number"),
    ],
)
def test_refusals(world: World, asked: dict[str, Any], code: str) -> None:
    reply = client_of(world.alice).post(url(world), asked, format="json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, code)
