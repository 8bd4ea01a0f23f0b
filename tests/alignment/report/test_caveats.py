"""Intervals that rest on little say so, by the samples of the part that they are of."""

import pytest

from alignment.base.caveats import FEW_OF_THE_RARER, FEW_SAMPLES, VERY_FEW_OF_THE_RARER
from alignment.report import Evidence, Judged, JudgeScores, reference_of
from alignment.report.caveats import caveat_of, caveat_of_people
from tests.alignment.report.building import PASS_FAIL


@pytest.mark.parametrize(
    ("samples", "rarer", "expected"),
    [(100, 50, None), (100, 15, FEW_OF_THE_RARER), (100, 5, VERY_FEW_OF_THE_RARER), (30, 15, FEW_SAMPLES)],
)
def test_by_samples_and_the_rarer_verdict(samples: int, rarer: int, expected: str | None) -> None:
    units = [(f"s{n:03}", "claim:0") for n in range(samples)]
    values = ["pass" if n >= rarer else "fail" for n in range(samples)]
    reference = reference_of(Evidence(PASS_FAIL, 1, units, ["ann"] * samples, values, {}))
    scores = JudgeScores("judge", "1", "ok", True, dict.fromkeys(units, 0.5))
    assert caveat_of(Judged(reference, scores), units) == caveat_of_people(reference) == expected
    assert caveat_of(Judged(reference, scores), []) is None
