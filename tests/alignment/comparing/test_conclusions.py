"""What a difference allows to say, of one metric and of an experiment, and what it takes to say more."""

import numpy as np
import pytest

from alignment import Estimate, Needed, Variance, compare_versions, conclude, labels_needed, overall_verdict
from alignment.base.estimate import remark
from tests.alignment.comparing.building import random_responses

NOTHING = Needed(None, None)


@pytest.mark.parametrize(
    ("low", "high", "margin", "verdict"),
    [
        (0.01, 0.05, 0.02, "better"),
        (0.0, 0.05, 0.0, "not_worse"),
        (-0.01, 0.05, 0.02, "not_worse"),
        (-0.02, 0.05, 0.02, "not_worse"),
        (-0.021, 0.05, 0.02, "cannot_tell"),
        (-0.05, 0.0, 0.02, "cannot_tell"),
        (-0.05, -0.001, 0.02, "worse"),
        # Surely worse, and surely by less than the margin.
        (-0.015, -0.005, 0.02, "not_worse"),
        (-0.015, -0.005, 0.0, "worse"),
    ],
)
def test_a_conclusion(low, high, margin, verdict):
    found = conclude(Estimate((low + high) / 2, low, high), margin=margin)
    assert (found.verdict, found.reason) == (verdict, None)
    turned = conclude(Estimate(-(low + high) / 2, -high, -low), margin=margin, higher_is_better=False)
    assert turned == found


def test_nothing_is_concluded_without_an_interval_or_with_much_unresolved():
    reason = remark("no_labelled")
    assert conclude(Estimate.undefined(reason), margin=0.1).reason == reason
    assert conclude(Estimate(0.5, None, None, reason=reason), margin=0.1).verdict == "cannot_tell"
    better = Estimate(0.1, 0.05, 0.15)
    assert conclude(better, margin=0, unresolved=0.05).verdict == "better"
    found = conclude(better, margin=0, unresolved=0.06)
    assert found.verdict == "cannot_tell"
    assert found.reason == remark("too_many_unresolved", share=0.06, most=0.05)


@pytest.mark.parametrize("margin", [-0.1, np.nan])
def test_a_margin_is_no_less_than_0(margin):
    with pytest.raises(ValueError, match="a margin is 0 or more"):
        conclude(Estimate(0.1, 0.05, 0.15), margin=margin)
    with pytest.raises(ValueError, match="a margin is 0 or more"):
        labels_needed(Estimate(0.1, 0.05, 0.15), Variance(1, 1), labelled=1, questions=1, margin=margin)


OVERALL = {
    "better": {"better": "better", "not_worse": "better", "worse": "worse", "cannot_tell": "cannot_tell"},
    "not_worse": {"better": "not_worse", "not_worse": "not_worse", "worse": "worse", "cannot_tell": "cannot_tell"},
    "worse": {"better": "worse", "not_worse": "worse", "worse": "worse", "cannot_tell": "worse"},
    "cannot_tell": {
        "better": "cannot_tell", "not_worse": "cannot_tell", "worse": "worse", "cannot_tell": "cannot_tell"
    },
}  # fmt: skip


@pytest.mark.parametrize("primary", OVERALL)
@pytest.mark.parametrize("guard", OVERALL)
def test_an_experiment_with_a_guard(primary, guard):
    assert overall_verdict(primary, [guard]) == OVERALL[primary][guard]
    for other in OVERALL:
        # One guard after the other, in either order.
        both = OVERALL[OVERALL[primary][guard]][other]
        assert overall_verdict(primary, [guard, other]) == overall_verdict(primary, [other, guard]) == both


def test_an_experiment_without_guards():
    assert [overall_verdict(primary, []) for primary in OVERALL] == list(OVERALL)


@pytest.mark.parametrize(
    ("figure", "variance", "margin", "expected"),
    [
        # From ±.1 to ±.05: a quarter of the variance. Labels alone do it where questions are no part of it …
        (Estimate(0.0, -0.1, 0.1), Variance(0.0025, 0.0), 0.05, Needed(400, None)),
        # … and need to be more where they are: of .0025 .000625 may remain, .0002 whatever is labelled.
        (Estimate(0.0, -0.1, 0.1), Variance(0.0023, 0.0002), 0.05, Needed(542, None)),
        # … and don't do it where questions are half of it, or where there are no more than 1,000.
        (Estimate(0.0, -0.1, 0.1), Variance(0.00125, 0.00125), 0.05, Needed(400, 4000)),
        (Estimate(0.0, -0.1, 0.1), Variance(0.0025, 0.0), 0.02, Needed(2500, 25000)),
        # What it takes least to say: not worse by a gain, worse by a loss of more than half of the margin.
        (Estimate(0.02, -0.08, 0.12), Variance(0.0025, 0.0), 0.03, Needed(400, None)),
        (Estimate(-0.05, -0.15, 0.05), Variance(0.0025, 0.0), 0.02, Needed(400, None)),
        (Estimate(-0.03, -0.13, 0.07), Variance(0.0025, 0.0), 0.08, Needed(400, None)),
        # Just where two verdicts meet; narrow enough; nothing known.
        (Estimate(0.0, -0.1, 0.1), Variance(0.0025, 0.0), 0.0, NOTHING),
        (Estimate(0.2, 0.1, 0.3), Variance(0.0025, 0.0), 0.0, NOTHING),
        (Estimate(0.0, None, None, reason=remark("few_clusters")), None, 0.05, NOTHING),
        (Estimate(0.0, -0.1, 0.1), None, 0.05, NOTHING),
    ],
)
def test_what_is_needed(figure, variance, margin, expected):
    assert labels_needed(figure, variance, labelled=100, questions=1000, margin=margin) == expected
    if figure.low is not None:
        turned = Estimate(-figure.value, -figure.high, -figure.low)
        found = labels_needed(turned, variance, labelled=100, questions=1000, margin=margin, higher_is_better=False)
        assert found == expected


@pytest.mark.parametrize(("judge", "margin"), [(0.9, 0.07), (0.9, 0.05), (0.5, 0.08)])
def test_what_was_named_is_enough(judge, margin):
    """Worlds in which two versions are alike: the interval of so many labels and questions is as narrow as was said."""
    rng = np.random.default_rng(1)
    world = {"judge": judge, "good": (0.6, 0.6), "alike": 0.3}
    first = compare_versions(random_responses(rng, questions=1000, labelled=100, **world), 2, rng=rng).differences[0]
    centred = first.figure.corrected
    middle = Estimate(0.0, centred.low - centred.value, centred.high - centred.value)
    named = labels_needed(middle, first.variance, labelled=100, questions=1000, margin=margin)
    assert named.labels > 100
    reached = []
    for _ in range(20):
        given = random_responses(rng, questions=named.questions or 1000, labelled=named.labels, **world)
        figure = compare_versions(given, 2, rng=rng).differences[0].figure.corrected
        reached.append((figure.high - figure.low) / 2)
    assert np.mean(reached) == pytest.approx(margin, rel=0.15)
