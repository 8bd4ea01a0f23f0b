"""A difference while labels arrive: by its definition, over all orders of few questions, and its ends."""

from itertools import permutations

import numpy as np
import pytest

from alignment import difference_sequence
from alignment.base.estimate import remark
from alignment.comparing.sequence import TRIED


def world(rng, questions=300, good=(0.5, 0.65), judge=0.85):
    luck = rng.random(questions)
    other = np.where(rng.random(questions) < 0.5, luck, rng.random(questions))
    values = np.stack([luck, other]) < np.array(good)[:, None]
    scores = np.where(rng.random(values.shape) < judge, values, ~values)
    return [each[1].astype(float) - each[0] for each in (values, scores)]


def lows_by_the_definition(paid, judge, level):
    """m by m and label by label."""
    n, ends, low = len(judge), [], -1.0
    wealth = dict.fromkeys(TRIED, 1.0)
    ruled_out = set()
    z_seen = []
    for i, d in enumerate(paid):
        rest, before = judge[i:], slice(0, i)
        weight = 0.0
        if i >= 10 and np.var(judge[before]) > 1e-9:
            weight = np.clip(np.cov(paid[before], judge[before])[0, 1] / np.var(judge[before], ddof=1), 0, 1)
        z = d - weight * (judge[i] - np.mean(rest))
        squares = sum((one - np.mean(paid[: j + 1])) ** 2 for j, one in enumerate(z_seen))
        stake = np.sqrt(2 * np.log(2 / (1 - level)) / ((0.25 + squares) * np.log(i + 2)))
        for m in TRIED:
            expected = (n * m - sum(paid[before])) / (n - i)
            could_lose = expected + 1 + weight * (max(rest) - np.mean(rest))
            bet = stake if could_lose <= 0 else min(stake, 0.75 / could_lose)
            wealth[m] *= 1 + bet * (z - expected)
            if wealth[m] >= 2 / (1 - level):
                ruled_out.add(m)
        z_seen.append(z)
        for m in TRIED:
            if m not in ruled_out:
                break
            low = max(low, m)
        low = max(low, (sum(paid[: i + 1]) - (n - i - 1)) / n)
        ends.append(low)
    return np.array(ends)


@pytest.mark.parametrize("labels", [25, 60])
def test_by_its_definition(labels):
    people, judge = world(np.random.default_rng(1), 60, good=(0.2, 0.9))
    found = difference_sequence(people[:labels], people[:labels], judge, level=0.8)
    lows = lows_by_the_definition(people[:labels], judge, 0.8)
    highs = -lows_by_the_definition(-people[:labels], -judge, 0.8)
    assert found.low == pytest.approx(lows)
    assert found.high == pytest.approx(np.maximum(highs, lows))
    assert lows[24] > -0.5


@pytest.mark.parametrize(
    ("people", "judge"),
    [
        ([1, 1, 0, 0, -1, 1], [1, 0, 0, 0, -1, 1]),
        ([1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0]),
        ([0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1]),
        ([1, -1, 1, -1, 0.5, 0.5], [-1, 1, -1, 1, 0, 0]),
        ([0.2, 0.4, 0.4, 1, 1, 1], [0, 0, 0, 0, 0, 0]),
    ],
)
@pytest.mark.parametrize("level", [0.5, 0.7, 0.8])
def test_over_all_orders_of_few_questions_it_misses_no_more_often_than_it_says(people, judge, level):
    people, judge = np.array(people, float), np.array(judge, float)
    truth, missed, orders = people.mean(), 0, list(permutations(range(people.size)))
    for order in orders:
        found = difference_sequence(people[list(order)], people[list(order)], judge[list(order)], level=level)
        missed += ((found.low > truth + 1e-9) | (found.high < truth - 1e-9)).any()
    assert missed <= (1 - level) * len(orders)


def test_looking_after_every_label_misses_in_at_most_five_percent():
    """Seeded and small; bench/promises/comparisons.py runs it at length."""
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(100):
        people, judge = world(rng, good=(0.6, 0.6))
        found = difference_sequence(people, people, judge)
        missed += ((found.low > people.mean() + 1e-9) | (found.high < people.mean() - 1e-9)).any()
    assert missed <= 5


def test_ends_close_in_and_the_last_label_gives_the_truth():
    people, judge = world(np.random.default_rng(3))
    found = difference_sequence(people, people, judge)
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) <= 0).all()
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    assert _last(found) == pytest.approx([people.mean()] * 3)
    assert (found.estimate.n, found.estimate.level) == (300, 0.95)
    half = difference_sequence(people[:150], people[:150], judge)
    assert half.low == pytest.approx(found.low[:150])
    assert half.high == pytest.approx(found.high[:150])
    assert _last(half) == pytest.approx([found.value[149], found.low[149], found.high[149]])


def test_swapped_versions_turn_the_sign():
    people, judge = world(np.random.default_rng(4))
    found, turned = difference_sequence(people, people, judge), difference_sequence(-people, -people, -judge)
    assert turned.low == pytest.approx(-found.high)
    assert turned.high == pytest.approx(-found.low)
    assert turned.value == pytest.approx(-found.value)


def test_a_good_judge_helps_and_a_wrong_one_does_no_harm():
    rng = np.random.default_rng(5)
    widths = []
    for judge in (0.98, 0.5):
        people, said = world(rng, judge=judge)
        with_it, without = (difference_sequence(people[:150], people[:150], each) for each in (said, 0 * said))
        widths.append((with_it.high[-1] - with_it.low[-1]) / (without.high[-1] - without.low[-1]))
    assert widths[0] < 0.8
    assert widths[1] < 1.1


def test_what_stays_open_is_paid_to_neither():
    people, judge = world(np.random.default_rng(6))
    least, most = people.copy(), people.copy()
    least[7], most[7] = -1, 1
    closed, opened = difference_sequence(people, people, judge), difference_sequence(least, most, judge)
    assert opened.low[-1] == pytest.approx((people.sum() - people[7] - 1) / 300)
    assert opened.high[-1] == pytest.approx((people.sum() - people[7] + 1) / 300)
    assert opened.low[-1] <= closed.low[-1] <= closed.high[-1] <= opened.high[-1]


def test_no_labels():
    found = difference_sequence([], [], [0.0, 1.0])
    assert found.estimate.reason == remark("no_completed_prefix")
    assert found.low.size == found.high.size == found.value.size == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([0.0] * 3, [0.0] * 3, [0.0] * 2), "3 labels of 2 questions"),
        (([1.5], [1.5], [0.0]), "between -1 and 1"),
        (([0.0], [0.0], [-1.5]), "between -1 and 1"),
        (([1.0], [0.0], [0.0]), "the least first"),
        (([0.0], [0.0, 0.0], [0.0, 0.0]), "differ in length"),
        (([np.nan], [0.0], [0.0]), "not finite"),
    ],
)
def test_refused(given, said):
    with pytest.raises(ValueError, match=said):
        difference_sequence(*given)


@pytest.mark.parametrize("level", [0, 1])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(ValueError, match="the level lies between 0 and 1"):
        difference_sequence([0.0], [0.0], [0.0], level=level)


def _last(found):
    return [found.estimate.value, found.estimate.low, found.estimate.high]
