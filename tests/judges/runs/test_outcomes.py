"""Nothing that is not a value gets through as one, and whose numbers have to lie on a criterion's scale."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.models import Sample
from judges.kinds.base import Scored
from judges.models import ScoreStatus
from judges.runs.outcomes import Gate
from tests.annotate.factories import World, make_sample, make_world
from tests.judges.building import make_project
from tests.judges.kinds import making

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(module_transaction: None) -> tuple[World, Sample]:
    world = make_world()
    return world, make_sample(world.project)


@pytest.fixture
def sample(made: tuple[World, Sample]) -> Sample:
    return made[1]


@pytest.fixture
def gate(made: tuple[World, Sample]) -> Gate:
    return Gate(made[0].project)


def _one(gate: Gate, sample: Sample, **fields: Any) -> Scored:
    said = Scored(**{"unit": "claim:0", "dimension": "worth", **fields})
    (scored,) = gate.checked([said], [(said.dimension, said.unit)], sample)
    return scored


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"number": 0.5}, (0.5, None)),
        ({"number": 1}, (1.0, None)),
        ({"dimension": "support", "label": "yes"}, (None, "yes")),
        ({"dimension": "support", "number": 0.7}, (0.7, None)),
        ({"dimension": "grade", "unit": "answer", "label": 4}, (4.0, None)),
        ({"dimension": "grade", "unit": "answer", "number": 4.5}, (4.5, None)),
    ],
)
def test_values_are_kept(gate: Gate, sample: Sample, said: dict[str, Any], kept: tuple[Any, Any]) -> None:
    scored = _one(gate, sample, **said)
    assert (scored.status, (scored.number, scored.label)) == (ScoreStatus.OK, kept)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"number": float("nan")},
        {"number": float("inf")},
        {"number": 1e101},
        {"number": True},
        {"number": "0.5"},
        {"number": 10**400},
        {"number": 0.5, "label": "yes"},
        {"label": "yes"},
        {"dimension": "support", "label": "perhaps"},
        {"dimension": "grade", "unit": "answer", "number": 6},
        {"dimension": "grade", "unit": "answer", "number": 0.5},
        {"dimension": "grade", "unit": "answer", "label": 7},
        {"number": 0.5, "status": "fine"},
    ],
)
def test_what_is_no_value_is_a_failure(gate: Gate, sample: Sample, said: dict[str, Any]) -> None:
    scored = _one(gate, sample, **said)
    assert (scored.status, scored.number, scored.label) == (ScoreStatus.ERROR, None, None)
    assert scored.detail


def test_a_failure_has_no_value(gate: Gate, sample: Sample) -> None:
    scored = _one(gate, sample, status=ScoreStatus.REFUSED, number=0.5)
    assert (scored.status, scored.number) == (ScoreStatus.REFUSED, None)


def test_what_was_not_said_is_missing_and_what_is_no_unit_is_not_kept(gate: Gate, sample: Sample) -> None:
    said = [
        Scored("claim:0", "worth", number=1.0),
        Scored("claim:1", "worth", number=1.0),
        Scored("claim:1", "worth", number=0.0),
        Scored("claim:9", "worth", number=1.0),
        Scored("nothing", "worth", number=1.0),
        Scored("claim:0", "w" * 121, number=1.0),
        "not even a score",
    ]
    wanted = [("worth", "claim:0"), ("worth", "claim:1"), ("worth", "answer")]
    kept = {scored.unit: scored for scored in gate.checked(said, wanted, sample)}
    assert kept.keys() == {"claim:0", "claim:1", "answer"}
    assert kept["claim:0"].number == 1.0
    assert (kept["claim:1"].status, kept["claim:1"].number) == (ScoreStatus.ERROR, None)  # scored twice, differently
    assert kept["answer"].status == ScoreStatus.ERROR


def test_a_rationale_is_made_storable(gate: Gate, sample: Sample) -> None:
    assert _one(gate, sample, number=1.0, rationale="a\x00b").rationale == "a\ufffdb"
    assert _one(gate, sample, number=1.0, rationale=None).rationale == ""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("is_on_scale", "number", "status"),
    [
        (True, 1, ScoreStatus.OK),
        (True, 0.25, ScoreStatus.ERROR),
        (False, 0.25, ScoreStatus.OK),
        (False, float("inf"), ScoreStatus.ERROR),
    ],
)
def test_a_share_may_be_said_of_a_criterion_from_one_to_five(
    is_on_scale: bool, number: float, status: ScoreStatus
) -> None:
    gate = Gate(make_project(criteria=["relevancy"]), is_on_scale=is_on_scale)
    (checked,) = gate.checked(
        [Scored("answer", "relevancy", number=number)], [("relevancy", "answer")], making.sample()
    )
    assert checked.status == status
