"""How what a judge said is read: labels, passes, probabilities, and numbers of other scales."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.models import Sample
from judges.models import GroupSide, Judge, Side
from tests.annotate.factories import World, make_sample
from tests.systems.building import command
from tests.systems.experiments.building import create, figures, metric
from tests.systems.experiments.conftest import QUESTIONS, SPEC

Write = Callable[..., Path]


def raw(world: World, write: Write, rows: list[dict[str, Any]], of: dict[str, Any]) -> list[float]:
    """What the judge says of both versions, not corrected."""
    command("import_scores", "desk", write("more.jsonl", [{"judge": "other", **row} for row in rows]))
    create(write, {**SPEC, "metrics": [*SPEC["metrics"], {"name": "m", "judge": "other", **of}]})
    return [one["raw"]["value"] for one in metric(figures(), "m")["levels"]]


def answers(version: str) -> list[str]:
    return [f"q{number}@{version}" for number in range(QUESTIONS)]


def graded(v1: float, v2: float) -> list[dict[str, Any]]:
    return [
        {"sample_id": name, "unit": "answer", "dimension": "grade", "score": value}
        for version, value in (("v1", v1), ("v2", v2))
        for name in answers(version)
    ]


@pytest.mark.parametrize(
    ("given", "read"),
    [((0.2, 0.9), [0.2, 0.9]), ((2, 4), [0.25, 0.75]), ((-10, 30), [0.0, 1.0])],
    ids=["shares", "grades", "another scale"],
)
def test_numbers_of_grades(compared: World, write: Write, given: tuple[float, float], read: list[float]) -> None:
    assert raw(compared, write, graded(*given), {"criterion": "grade"}) == pytest.approx(read)


def test_a_judge_whose_lower_scores_are_better(compared: World, write: Write) -> None:
    Judge.objects.create(project=compared.project, name="other", higher_is_better=False)
    assert raw(compared, write, graded(0.2, 0.9), {"criterion": "grade"}) == pytest.approx([0.8, 0.1])


def of_claims(number: Callable[[int], Any]) -> list[dict[str, Any]]:
    return [
        {"sample_id": name, "unit": f"claim:{claim}", "dimension": "support", "score": number(claim)}
        for name in (*answers("v1"), *answers("v2"))
        for claim in range(2)
    ]


FAITHFUL = {"derived": "faithfulness", "criterion": "support"}


def test_labels_are_read_as_people_s_values(compared: World, write: Write) -> None:
    rows = [{**row, "score": ("yes", "unsure")[row["score"]]} for row in of_claims(lambda claim: claim)]
    assert raw(compared, write, rows, FAITHFUL) == pytest.approx([0.5, 0.5])


def test_a_score_is_a_share_where_dev_says_nothing(compared: World, write: Write) -> None:
    assert raw(compared, write, of_claims(lambda claim: (0.2, 0.6)[claim]), FAITHFUL) == pytest.approx([0.4, 0.4])


def test_a_score_is_the_probability_of_a_pass_by_dev(compared: World, write: Write) -> None:
    """On dev, what has .6 is passed by 9 of 10, and what has .2 by 1 of 10."""
    labels, scores = [], []
    for number in range(100, 110):
        name = make_sample(compared.project, number).external_id
        GroupSide.objects.create(project=compared.project, criterion_key="support", group=name, side=Side.DEV)
        for claim, score in ((0, 0.2), (1, 0.6)):
            passes = number == 100 if claim == 0 else number != 100
            labels += [
                {"sample_id": name, "unit": f"claim:{claim}", "criterion": "support", "rater": rater,
                 "value": "yes" if passes else "no"}
                for rater in ("x", "y")
            ]  # fmt: skip
            scores.append({"sample_id": name, "unit": f"claim:{claim}", "dimension": "support", "score": score})
    command("import_labels", "desk", write("l.jsonl", labels))
    rows = of_claims(lambda claim: 0.6)
    found = raw(compared, write, [*scores, *rows], FAITHFUL)
    # Platt's targets are 1/12 and 11/12 where all pass or fail.
    assert found[0] == pytest.approx(0.9 * 11 / 12 + 0.1 / 12, abs=0.02)


def test_a_judge_may_score_the_answer_as_a_whole(compared: World, write: Write) -> None:
    """Not of an answer that abstains, which has no faithfulness."""
    Sample.objects.filter(external_id="q0@v1").update(abstained=True)
    rows = [
        {"sample_id": name, "unit": "answer", "dimension": "faithfulness", "score": value}
        for version, value in (("v1", 0.3), ("v2", 0.7))
        for name in answers(version)
    ]
    rows[0]["score"] = 1.0
    assert raw(compared, write, rows, FAITHFUL) == pytest.approx([0.3, 0.7])
