"""The human ceiling: against counting by hand and scikit-learn's kappa, and its joint interval."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import stdtrit
from sklearn.metrics import cohen_kappa_score

from alignment import Ratings, cohen_kappa, human_ceiling
from alignment.base.estimate import remark

FIELDS = ("unit", "rater", "value", "cluster")


@pytest.fixture
def panel_of(with_gaps):
    """Five raters with gaps, of whom the last is taken for the judge."""

    def build(seed, **size):
        return with_gaps(seed, **{"units": 300, "levels": 3} | size)

    return build


def part(ratings, kept):
    return Ratings(*(getattr(ratings, name)[kept] for name in FIELDS), ratings.levels, ratings.scale, ratings.raters)


def by_hand(ratings, judge, weights):
    """(n, ties, κ of the annotator, κ of the judge) of each annotator, one rating at a time."""
    cells = {
        (unit, ratings.raters[rater]): value
        for unit, rater, value in zip(ratings.unit, ratings.rater, ratings.value, strict=True)
    }
    people = [name for name in ratings.raters if name != judge]
    found = {}
    for name in people:
        own, judged, majority, ties = [], [], [], 0
        for unit in np.unique(ratings.unit):
            others = [cells[unit, other] for other in people if other != name and (unit, other) in cells]
            if (unit, name) not in cells or (unit, judge) not in cells or not others:
                continue
            value, count = Counter(others).most_common(1)[0]
            if 2 * count <= len(others):
                ties += 1
                continue
            own.append(cells[unit, name])
            judged.append(cells[unit, judge])
            majority.append(value)
        labels = list(range(len(ratings.levels)))
        kappas = [cohen_kappa_score(column, majority, labels=labels, weights=weights) for column in (own, judged)]
        found[name] = (len(own), ties, *kappas)
    return found


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_every_annotator_by_hand(panel_of, weights):
    ratings = panel_of(4)
    ceiling = human_ceiling(ratings, "rater 4", weights, interval="none")
    expected = by_hand(ratings, "rater 4", weights)
    assert [row.annotator for row in ceiling.annotators] == list(expected)
    for row in ceiling.annotators:
        n, ties, human, judge = expected[row.annotator]
        assert (row.n, row.ties, row.human.n) == (n, ties, n)
        assert row.ties > 0
        assert row.human.value == pytest.approx(human)
        assert row.judge.value == pytest.approx(judge)
        assert row.difference.value == pytest.approx(judge - human)
        assert row.alone == cohen_kappa(ratings, row.annotator, "rater 4", weights, interval="none")
    rows = np.array(list(expected.values()))
    assert ceiling.human.value == pytest.approx(rows[:, 2].mean())
    assert ceiling.judge.value == pytest.approx(rows[:, 3].mean())
    assert ceiling.difference.value == pytest.approx((rows[:, 3] - rows[:, 2]).mean())
    assert "over 4 of 4 annotators" in ceiling.difference.method


def test_the_interval_is_joint(panel_of):
    """Its error is the jackknife's, deleting each cluster from all annotators at once."""
    ratings = panel_of(5, per_cluster=3)
    difference = human_ceiling(ratings, "rater 4", interval="influence").difference
    clusters = np.unique(ratings.cluster)
    left = np.array(
        [
            human_ceiling(part(ratings, ratings.cluster != cluster), "rater 4", interval="none").difference.value
            for cluster in clusters
        ]
    )
    jackknife = np.sqrt((clusters.size - 1) / clusters.size * np.square(left - left.mean()).sum())
    half = (difference.high - difference.low) / 2
    # A little longer: what was not seen counts as well.
    assert 1 < half / stdtrit(difference.clusters - 1, 0.975) / jackknife < 1.35
    # Annotators taken for independent would have another.
    alone = [row.difference for row in human_ceiling(ratings, "rater 4", interval="influence").annotators]
    assert np.sqrt(sum(((each.high - each.low) / 2 / len(alone)) ** 2 for each in alone)) != pytest.approx(
        half, rel=0.1
    )


def test_nothing_is_said_for_sure_of_few_groups(panel_of):
    enough = human_ceiling(panel_of(6, units=240, per_cluster=8), "rater 4", rng=np.random.default_rng(1))
    assert (enough.difference.clusters, enough.difference.reason) == (30, None)
    few = human_ceiling(panel_of(6, units=232, per_cluster=8), "rater 4", rng=np.random.default_rng(1))
    assert few.difference.value is not None
    assert (few.difference.low, few.difference.reason) == (None, remark("few_overlapping_groups", n=30))


def test_no_variation_is_no_certainty(rng):
    """Everybody says the same: the judge is at most as good as so few groups can show."""
    for units, at_least in ((30, -0.4), (300, -0.03)):
        found = human_ceiling(simulated(rng, 1.0, 1.0, units), "judge", rng=rng).difference
        assert (found.value, found.reason) == (0.0, None)
        assert at_least < found.low < -0.024 < 0.024 < found.high
        assert found.low == -found.high


def test_units_that_stand_for_others(panel_of):
    """Twice the weight is as two units of one cluster."""
    ratings = panel_of(7, units=100)
    twice = np.arange(100) % 3 == 0
    weighted = human_ceiling(ratings, "rater 4", weight=1.0 + twice, interval="influence")
    again = twice[ratings.unit]
    columns = [
        np.concatenate([getattr(ratings, name), getattr(ratings, name)[again] + (100 if name == "unit" else 0)])
        for name in ("unit", "rater", "value", "cluster")
    ]
    doubled = Ratings(*columns, ratings.levels, ratings.scale, ratings.raters)
    other = human_ceiling(doubled, "rater 4", interval="influence")
    for name in ("human", "judge", "difference"):
        one, two = getattr(weighted, name), getattr(other, name)
        assert (one.value, one.low, one.high) == pytest.approx((two.value, two.low, two.high))


@pytest.mark.parametrize("level", [0.95, 0.9997])
def test_a_worse_judge_is_seldom_shown_as_no_worse(level):
    """Seeded and small (bench/promises/people_overlap.py). At .12 below people, ten to fifteen overlapping samples
    showed 25 to 43 % as no worse by .05, and an interval of 99.97 % held in 98.3 %."""
    rng = np.random.default_rng(11)
    true = -0.117
    found = [
        human_ceiling(simulated(rng, 0.84, 0.9, 40), "judge", interval="influence", level=level) for _ in range(200)
    ]
    assert sum(one.difference.low > -0.05 for one in found) <= 6
    held = sum(one.difference.low <= true <= one.difference.high for one in found)
    assert held >= 193 if level == 0.95 else held == 200


def test_a_judge_who_repeats_an_annotator_has_that_annotators_kappa(panel_of):
    ratings = panel_of(8)
    own = ratings.rater == 0
    copied = Ratings(
        np.concatenate([ratings.unit, ratings.unit[own]]),
        np.concatenate([ratings.rater, np.full(own.sum(), 5)]),
        np.concatenate([ratings.value, ratings.value[own]]),
        np.concatenate([ratings.cluster, ratings.cluster[own]]),
        ratings.levels,
        ratings.scale,
        (*ratings.raters, "judge"),
    )
    row = human_ceiling(copied, "judge", interval="influence").annotators[0]
    assert (row.difference.value, row.alone.value) == (0.0, 1.0)
    assert row.difference.reason == remark("no_variation")


def simulated(rng, judge_right, people_right=0.8, units=2_000):
    truth = rng.integers(2, size=units)
    said = [np.where(rng.random(units) < right, truth, 1 - truth) for right in (*[people_right] * 3, judge_right)]
    return Ratings(
        np.tile(np.arange(units), 4),
        np.repeat(np.arange(4), units),
        np.concatenate(said),
        np.tile(np.arange(units), 4),
        ("fail", "pass"),
        "binary",
        ("ann", "bob", "cat", "judge"),
    )


@pytest.mark.parametrize(("judge_right", "better"), [(0.9, True), (0.7, False)])
def test_a_better_and_a_worse_judge(rng, judge_right, better):
    found = human_ceiling(simulated(rng, judge_right), "judge", rng=rng).difference
    assert found.low > 0 if better else found.high < 0


def test_too_few_common_units(panel_of):
    ratings = panel_of(9, units=20)
    found = human_ceiling(ratings, "rater 4", min_common=25, interval="none")
    few = remark("few_units_with_majority", n=25)
    assert [row.difference.reason for row in found.annotators] == [few] * len(found.annotators)
    assert found.difference.reason == remark("no_annotator_with_majority", n=25)
    assert found.difference.low is None


def test_single_labels_and_no_judge_in_common(from_rows):
    single = from_rows([[1, 2, None, None], [None, None, 1, 2], [1, 2, 1, 2]], [1, 2])
    found = human_ceiling(single, "rater 2", min_common=1, interval="none")
    assert [(row.n, row.ties) for row in found.annotators] == [(0, 0), (0, 0)]
    assert found.difference.value is None
    assert found.annotators[0].alone.value == 1.0
    apart = from_rows([[1, 2, None, None], [1, 1, None, None], [None, None, 1, 2]], [1, 2])
    assert human_ceiling(apart, "rater 2", interval="none").annotators[0].alone.reason == remark("few_common_units")


def test_one_category(from_rows):
    same = from_rows([[1] * 12] * 3, [1, 2])
    found = human_ceiling(same, "rater 2", interval="none")
    assert found.annotators[0].difference.reason == remark("one_category")
    assert found.difference.value is None


def test_scales_without_meaning(from_rows):
    bare = human_ceiling(from_rows([[0.1, 0.2]] * 3, None, "interval"), "rater 2", interval="none")
    assert bare.difference.reason == bare.annotators[0].alone.reason == remark("no_levels")
    nominal = human_ceiling(from_rows(["xy"] * 3, "xy", "nominal"), "rater 2", "linear", interval="none")
    assert nominal.difference.reason == remark("no_order")


def test_a_stranger_for_a_judge(panel_of):
    with pytest.raises(ValueError, match="no rater 'nobody'"):
        human_ceiling(panel_of(1), "nobody", interval="none")


def test_a_million_ratings():
    rng = np.random.default_rng(4)
    units, raters = 300_000, 100
    truth = rng.integers(2, size=units)
    rater = (rng.integers(raters, size=(units, 1)) + np.array([0, 67, 133])) % raters
    said = np.where(rng.random((units, 3)) < 0.9, truth[:, None], 1 - truth[:, None])
    judge = np.where(rng.random(units) < 0.9, truth, 1 - truth)
    unit = np.repeat(np.arange(units), 3)
    ratings = Ratings(
        np.concatenate([unit, np.arange(units)]),
        np.concatenate([rater.ravel(), np.full(units, raters)]),
        np.concatenate([said.ravel(), judge]),
        np.concatenate([unit, np.arange(units)]),
        (0, 1),
        "binary",
        tuple(f"rater {code}" for code in range(raters + 1)),
    )
    found = human_ceiling(ratings, f"rater {raters}", interval="influence")
    assert found.difference.value == pytest.approx(0, abs=0.01)
    assert found.difference.low > -0.05
