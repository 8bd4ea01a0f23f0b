"""What all sections on a judge share: the test half stays closed, and what they say is plain JSON."""

import json
from dataclasses import replace

import pytest

from alignment.report import report_figures
from tests.alignment.report.building import evidence

SECTIONS = ("people", "slices", "weeks", "steadiness", "noise")


def everything(samples=120, **fields):
    found = evidence(samples, **fields)
    days = [f"2026-03-{1 + place % 28:02}" for place in range(len(found.units))]
    metadata = {sample: {"part": f"p{place // 2 % 3}"} for place, sample in enumerate(sorted(found.is_dev))}
    judge = found.judges[0]
    again = {unit: [1 - score] for unit, score in list(judge.numbers.items())[::4]}
    return replace(found, days=days, metadata=metadata, judges=[replace(judge, again=again)])


def test_scores_of_the_test_half_move_no_figure_that_rests_on_a_threshold():
    found = everything()
    judge = found.judges[0]
    turned = {unit: score if found.is_dev[unit[0]] else 1 - score for unit, score in judge.numbers.items()}
    again = {unit: scores if found.is_dev[unit[0]] else [0.5] for unit, scores in judge.again.items()}
    other = replace(found, judges=[replace(judge, numbers=turned, again=again)])
    before, after = (report_figures(each)["judges"][0] for each in (found, other))
    assert {name: before[name] for name in SECTIONS} == {name: after[name] for name in SECTIONS}
    assert before["values"] != after["values"]


@pytest.mark.parametrize("samples", [1, 2, 12, 60])
@pytest.mark.parametrize("people", [("ann",), ("ann", "bob"), ("ann", "bob", "cat")])
def test_however_little_there_is(samples, people):
    found = report_figures(everything(samples, people=people))
    json.dumps(found, allow_nan=False)
    for name in SECTIONS:
        assert found["judges"][0][name] is not None
