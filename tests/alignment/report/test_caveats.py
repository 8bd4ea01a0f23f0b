"""Intervals that rest on little say so, by the samples of the part that they are of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alignment.base.caveats import FEW_OF_THE_RARER, FEW_SAMPLES, VERY_FEW_OF_THE_RARER
from alignment.base.estimate import Remark
from alignment.report import Evidence, Judged, JudgeScores, reference_of
from alignment.report.caveats import caveat_of, caveat_of_auc, caveat_of_judge, caveat_of_people
from tests.alignment.report.building import PASS_FAIL


def judged_of(samples: int, rarer: int, scale: str = "binary") -> Judged:
    units = [(f"s{n:03}", "claim:0") for n in range(samples)]
    values = ["pass" if n >= rarer else "fail" for n in range(samples)]
    evidence = Evidence(replace(PASS_FAIL, scale=scale), 1, units, ["ann"] * samples, values, {})
    return Judged(reference_of(evidence), JudgeScores("judge", "1", "ok", True, dict.fromkeys(units, 0.5)))


@pytest.mark.parametrize(
    ("samples", "rarer", "of_auc", "of_decisions"),
    [
        (100, 50, None, None),
        (100, 15, FEW_OF_THE_RARER, None),
        (100, 5, VERY_FEW_OF_THE_RARER, None),
        (30, 15, FEW_SAMPLES, FEW_SAMPLES),
        (30, 5, VERY_FEW_OF_THE_RARER, FEW_SAMPLES),
    ],
)
def test_the_rarer_verdict_matters_to_how_scores_sort(
    samples: int, rarer: int, of_auc: Remark | None, of_decisions: Remark | None
) -> None:
    """Kappas of two values hold with few of the rarer (docs/coverage.md); ROC AUC doesn't."""
    judged = judged_of(samples, rarer)
    assert caveat_of_auc(judged) == of_auc
    assert caveat_of(judged, list(judged.decided)) == caveat_of_people(judged.reference) == of_decisions
    assert caveat_of(judged, []) is None


def test_ordered_levels_and_others() -> None:
    """Weighted kappas and alpha of ordered levels don't hold where one is rare (decision 30)."""
    assert caveat_of_people(judged_of(100, 5, "nominal").reference) is None
    assert caveat_of_people(judged_of(100, 5, "ordinal").reference) == VERY_FEW_OF_THE_RARER


def test_without_scores_nothing_is_sorted() -> None:
    judged = judged_of(100, 5)
    assert caveat_of_judge(judged) == caveat_of(judged, judged.dev)
    labels = JudgeScores("judge", "1", "ok", True, {}, labels=dict.fromkeys(judged.decided, "pass"))
    assert caveat_of_auc(Judged(judged.reference, labels)) is None
