"""What the evidence tells before a look: nothing that judges said of labelled samples that are not dev."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from alignment.report import (
    Chance,
    DrawnBy,
    Evidence,
    JudgeScores,
    evidence_as_dict,
    evidence_from_dict,
    report_figures,
)
from bench.promises.locked import attack, other_answers, told, world
from tests.alignment.report.building import KINDS, evidence


def test_the_attack_reads_the_test_half_of_unlocked_evidence_alone() -> None:
    rng = np.random.default_rng(16)
    before = after = 0
    for _ in range(50):
        found, truth = world(rng, 100)
        before += attack(told(found)) == truth
        after += attack(told(found.locked())) == truth
    assert (before, after) == (50, 0)


def test_a_report_is_the_same_whatever_the_judge_said_on_test() -> None:
    found, _ = world(np.random.default_rng(2), 100)
    assert report_figures(found.locked()) == report_figures(other_answers(found).locked())
    assert report_figures(found) != report_figures(other_answers(found))


def turned(found: Evidence) -> Evidence:
    """Its judges, earlier versions and repeats score the other way round on test."""
    closed = found.closed()

    def other(one: JudgeScores) -> JudgeScores:
        numbers = {unit: 1 - score if unit[0] in closed else score for unit, score in one.numbers.items()}
        again = {
            unit: [1 - score if unit[0] in closed else score for score in scores] for unit, scores in one.again.items()
        }
        return replace(one, numbers=numbers, again=again)

    return replace(found, judges=list(map(other, found.judges)), earlier=list(map(other, found.earlier)))


def test_the_whole_report_of_scores_is_the_same() -> None:
    found = evidence(60, seed=3)
    (judge,) = found.judges
    again = {unit: [score, score / 2] for unit, score in judge.numbers.items()}
    found = replace(
        found,
        judges=[replace(judge, version="2", again=again)],
        earlier=[replace(judge, numbers={unit: score / 2 for unit, score in judge.numbers.items()})],
        metadata={name: {"kind": "a" if place % 2 else "b"} for place, name in enumerate(found.is_dev)},
        sizes=dict.fromkeys(found.is_dev, 2),
    )
    figures = report_figures(found.locked())
    assert figures == report_figures(turned(found).locked())
    assert figures["judges"][0]["coverage"] == {"scored": 60, "failed": 0, "missing": 0, "unlabelled": 0}
    # People's own figures are of all samples.
    assert figures["agreement"]["units"] == figures["reference"]["units"] == 120


def test_systems_and_undivided_samples_are_closed_and_unlabelled_ones_open() -> None:
    found = evidence(4, claims=1)
    numbers = dict(found.judges[0].numbers) | {("new", "claim:0"): 0.5}
    sides = {"s000": True, "s001": False}
    found = replace(found, is_dev=sides, judges=[replace(found.judges[0], numbers=numbers)])
    assert found.closed() == {"s001", "s002", "s003"}
    assert {sample for sample, _ in found.locked().judges[0].numbers} == {"s000", "new"}
    # What settles nothing may still be shown beside a score: no figure compares them.
    single = replace(found, unsettled={("s002", "claim:0"): "single", ("s003", "claim:0"): "open"})
    assert single.closed() == {"s001", "s003"}
    assert replace(single, settled_only=False).closed() == found.closed()


def test_without_passes_there_are_no_halves() -> None:
    found = replace(evidence(4), criterion=KINDS)
    assert found.locked() is found


@pytest.mark.parametrize(("how", "left"), [("planned", {"s000", "s002", "new"}), ("random", None)])
def test_of_a_planned_draw_closed_samples_have_no_names(how: str, left: set[str] | None) -> None:
    """It goes by what judges say; chances of any other tell nothing of that."""
    chances = {f"s{place:03}": Chance(0.5 if place % 2 else 0.25, 1 + place % 2) for place in range(4)}
    drawn = [DrawnBy(how, 4, "ann", "2026-11-23", 1)]
    found = replace(evidence(4), chances={**chances, "new": Chance(1.0, 3)}, drawn_by=drawn)
    locked = found.locked()
    assert set(locked.chances) == (left or set(found.chances))
    assert sorted([*locked.chances.values(), *locked.nameless]) == sorted(found.chances.values())
    assert evidence_from_dict(evidence_as_dict(locked)).nameless == list(locked.nameless)
    assert locked.locked().nameless == locked.nameless


def test_confidence_is_evidence_and_closed_with_what_it_is_of() -> None:
    found = evidence(8)
    (judge,) = found.judges
    sure = replace(found, judges=[replace(judge, confidence=dict.fromkeys(list(judge.numbers)[::3], 0.25))])
    written = evidence_as_dict(sure)
    assert evidence_from_dict(written).judges[0].confidence == sure.judges[0].confidence
    assert "confidence" not in evidence_as_dict(found)["judges"][0], "reports of before are what they were"
    assert evidence_from_dict(evidence_as_dict(found)).judges[0].confidence == {}
    left = sure.locked().judges[0]
    assert set(left.confidence) == {unit for unit in sure.judges[0].confidence if unit in left.numbers}
    assert 0 < len(left.confidence) < len(sure.judges[0].confidence)
