"""Composite judges: the sum of what others said, and nothing where one of them said nothing."""

import random
from math import fsum
from typing import Any

import pytest

from annotate.core.errors import Invalid
from annotate.core.units import units_of
from annotate.models import Project
from judges.core.scores_read import current_version
from judges.kinds.composite import KIND
from judges.models import JudgeVersion, Score, ScoreStatus
from judges.versions.write import create_judge
from tests.database import copied_from_world
from tests.judges.building import add_judge, add_samples, make_project
from tests.judges.kinds.making import scored_in

pytestmark = pytest.mark.django_db
SAMPLES = ["a", "b"]
UNITS = [f"claim:{index}" for index in range(4)]


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Project:
    project = make_project(criteria=["support", "relevance", "relevancy"])
    contexts = [{"id": None, "text": "c", "score": None}] * 2
    samples = add_samples(project, SAMPLES, contexts=contexts)
    rng = random.Random(1)
    claims = [(name, unit) for name in SAMPLES for unit in UNITS]
    add_judge(project, "good", samples, [(*one, rng.random()) for one in claims])
    add_judge(project, "risk", samples, [(*one, rng.random()) for one in claims], higher_is_better=False)
    add_judge(project, "words", samples, [(*one, rng.choice(["supported", "contradicted"])) for one in claims])
    ranked = [(name, f"context:{index}", rng.randrange(4)) for name in SAMPLES for index in range(2)]
    add_judge(project, "ranks", samples, ranked, dimension="relevance")
    return project


project = copied_from_world()


def _made(project: Project, members: Any, **config: Any) -> JudgeVersion:
    target = {"criterion": "support"} if "dimension" not in config else {}
    judge = create_judge(project=project, name="sum", kind="composite", config={**target, "members": members, **config})
    version = current_version(judge)
    assert version is not None
    assert KIND.complete(version.config, project) == version.config
    return version


def _said(judge: str) -> dict[tuple[str, str], Any]:
    rows = Score.objects.filter(version__judge__name=judge).values_list(
        "sample__external_id", "unit", "number", "label"
    )
    return {(name, unit): label if number is None else number for name, unit, number, label in rows}


GOOD = {"judge": "good", "weight": 2}
RISK = {"judge": "risk", "weight": 1, "direction": "flipped", "range": [0, 1]}


@pytest.mark.parametrize(("normalised", "divisor"), [(True, 3.0), (False, 1.0)])
def test_the_weighted_sum_of_the_same_unit(project: Project, normalised: bool, divisor: float) -> None:
    found = scored_in(project, KIND, _made(project, [GOOD, RISK], normalised=normalised))
    good, risk = _said("good"), _said("risk")
    assert len(found) == 8
    for unit, score in found.items():
        assert score.number == pytest.approx((2 * good[unit] + 1 - risk[unit]) / divisor)
        assert score.dimension == "support"
    assert found["a", "claim:0"].rationale.startswith("2 × ")


def test_words_count_as_pass_or_not(project: Project) -> None:
    found = scored_in(project, KIND, _made(project, [{"judge": "words", "weight": 5}]))
    assert {unit: score.number for unit, score in found.items()} == {
        unit: 1.0 if word == "supported" else 0.0 for unit, word in _said("words").items()
    }


def test_what_counts_as_pass_is_kept_and_may_be_said(project: Project) -> None:
    version = _made(project, [{"judge": "words", "weight": 1, "passes": ["contradicted"]}])
    assert version.config["members"][0]["passes"] == ["contradicted"]
    assert {score.number for score in scored_in(project, KIND, version).values()} == {0.0, 1.0}


def test_means_of_different_parts_of_a_sample(project: Project) -> None:
    members = [{**GOOD, "unit": "claim"}, {"judge": "ranks", "unit": "context", "weight": 1}]
    version = _made(project, members, per="sample", dimension="overall", unit="answer")
    found = scored_in(project, KIND, version)
    good, ranks = _said("good"), _said("ranks")
    assert list(found) == [("a", "answer"), ("b", "answer")]
    for name in SAMPLES:
        claims, contexts = [good[name, unit] for unit in UNITS], [ranks[name, f"context:{index}"] for index in range(2)]
        expected = (2 * fsum(claims) / 4 + fsum(contexts) / 2) / 3
        assert found[name, "answer"].number == pytest.approx(expected)
    # One that is missing is missed.
    Score.objects.filter(version__judge__name="good", sample__external_id="a", unit="claim:3").delete()
    assert scored_in(project, KIND, version)["a", "answer"].detail == "“good” (1) has no score of claim:3."
    assert scored_in(project, KIND, version)["b", "answer"].status == ScoreStatus.OK


def test_samples_without_any_part_are_not_asked_about(project: Project) -> None:
    version = _made(
        project, [{"judge": "ranks", "unit": "context", "weight": 1}], per="sample", dimension="x", unit="answer"
    )
    sample = project.samples.first()
    assert sample is not None
    sample.contexts = []
    assert KIND.units(version.config, sample) == []
    assert units_of(sample, "answer") == ["answer"]


def test_a_missing_member_score_is_missing(project: Project) -> None:
    version = _made(project, [GOOD, RISK])
    Score.objects.filter(version__judge__name="good", sample__external_id="a", unit="claim:0").update(number=0.0)
    Score.objects.filter(version__judge__name="risk", sample__external_id="a", unit="claim:1").update(
        status="refused", number=None
    )
    Score.objects.filter(version__judge__name="risk", sample__external_id="a", unit="claim:2").update(number=1.5)
    found = scored_in(project, KIND, version)
    assert found["a", "claim:0"].status == ScoreStatus.OK
    assert found["a", "claim:1"].detail == "“risk” (1) has none either: refused."
    assert found["a", "claim:2"].detail == "“risk” (1) gave 1.5, which is not from 0 to 1."
    assert [found["a", unit].number is None for unit in UNITS] == [False, True, True, False]


def test_a_sum_beyond_all_scores_fails(project: Project) -> None:
    Score.objects.filter(version__judge__name="good").update(number=9e99)
    found = scored_in(project, KIND, _made(project, [{"judge": "good", "weight": 1000}], normalised=False))
    assert {score.detail for score in found.values()} == {"The sum is too large for a score."}


@pytest.mark.parametrize(
    ("members", "config", "field"),
    [
        ([], {}, "members"),
        ([{"judge": "good"}], {}, "members.0.weight"),
        ([{"judge": "good", "weight": 0}], {}, "members.0.weight"),
        ([{"judge": "good", "weight": -1}], {}, "members.0.weight"),
        ([{"judge": "risk", "weight": 1}], {}, "members.0.direction"),
        ([{"judge": "risk", "weight": 1, "direction": "flipped"}], {}, "members.0.range"),
        ([{"judge": "good", "weight": 1, "range": [1, 1]}], {}, "members.0.range"),
        ([{"judge": "good", "weight": 1, "range": [0, "1"]}], {}, "members.0.range.high"),
        ([{"judge": "good", "weight": 1, "unit": "answer"}], {}, "members.0.unit"),
        ([{"judge": "ranks", "weight": 1}], {}, "members.0.judge"),
        ([{"judge": "good", "weight": 1, "passes": "supported"}], {}, "members.0.passes"),
        ([{"judge": "good", "weight": 1}], {"per": "batch"}, "per"),
        ([{"judge": "good", "weight": 1, "unit": "claim"}], {"per": "sample"}, "criterion"),
        ([{"judge": "good", "weight": 1}], {"per": "sample", "dimension": "x", "unit": "answer"}, "members.0.unit"),
        ([{"judge": "good", "weight": 1}], {"normalised": 1}, "normalised"),
        ([{"judge": "good", "weight": 1, "wait": 1}], {}, "members.0.wait"),
    ],
)
def test_configurations_that_are_refused(project: Project, members: Any, config: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as error:
        _made(project, members, **config)
    assert error.value.details["field"] == f"config.{field}"
