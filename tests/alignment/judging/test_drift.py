"""Drift: an alarm that may be looked at any time, by the definition, by simulation, and its power."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln

from alignment import watch_drift
from alignment.base.estimate import remark
from alignment.judging.drift import ODDS


def singles(wrong, certified=0.05, **how):
    return watch_drift(wrong, range(len(wrong)), range(len(wrong)), certified, **how)


def by_the_definition(shares_by_arrival, certified):
    """Every beginning and every rate, bet by bet."""
    values = []
    for now in range(len(shares_by_arrival)):
        total = 0.5 * np.log(2) / np.log(now + 2)
        for start in range(now + 1):
            weight = 0.5 if start == 0 else 0.5 * np.log(2) * (1 / np.log(start + 1) - 1 / np.log(start + 2))
            for odds in ODDS:
                rate = odds * certified / (1 - certified + odds * certified)
                wealth = 1.0
                for shares in shares_by_arrival[start : now + 1]:
                    for share in shares:
                        wealth *= 1 + (rate - certified) * (share - certified) / (certified * (1 - certified))
                total += weight * wealth / len(ODDS)
        values.append(total)
    return values


@settings(max_examples=50)
@given(
    shares=st.lists(
        st.lists(st.lists(st.booleans(), min_size=1, max_size=3), min_size=1, max_size=3), min_size=1, max_size=6
    ),
    certified=st.sampled_from([0.01, 0.05, 0.3]),
)
def test_the_e_value_by_its_definition(shares, certified):
    rows = [
        (wrong, (arrival, cluster), arrival)
        for arrival, clusters in enumerate(shares)
        for cluster, decisions in enumerate(clusters)
        for wrong in decisions
    ]
    cluster = [f"{arrival} {number}" for _, (arrival, number), _ in rows]
    watch = watch_drift([row[0] for row in rows], cluster, [row[2] for row in rows], certified)
    means = [[np.mean(decisions) for decisions in clusters] for clusters in shares]
    assert np.exp(watch.log_e) == pytest.approx(by_the_definition(means, certified), rel=1e-9)
    assert watch.error.clusters == sum(map(len, shares))
    assert watch.error.n == len(rows)


@settings(max_examples=50)
@given(
    shares=st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=3), min_size=1, max_size=6),
    certified=st.sampled_from([0.01, 0.05, 0.3]),
)
def test_what_follows_an_error_is_not_betted_on(shares, certified):
    """By the definition: one factor per arrival, of its mean, and as much less as the one before was wrong."""
    rows = [
        (wrong, (arrival, cluster), arrival)
        for arrival, of_arrival in enumerate(shares)
        for cluster, share in enumerate(of_arrival)
        for wrong in (share > 0, share == 1)
    ]
    watch = watch_drift([row[0] for row in rows], [f"{row[1]}" for row in rows], [row[2] for row in rows], certified)
    means = [np.mean(of_arrival) for of_arrival in shares]
    parts = [1.0, *(1 - mean for mean in means[:-1])]
    betted = [[certified + part * (mean - certified)] for part, mean in zip(parts, means, strict=True)]
    assert np.exp(watch.apart_log_e) == pytest.approx(by_the_definition(betted, certified), rel=1e-9)


def test_streaks_raise_no_alarm_and_are_told():
    """Errors come 30 in a row, at the certified rate; seeded, bench/promises/streaks.py runs it at length."""
    rng = np.random.default_rng(25)
    alarms = streaks = 0
    for _ in range(60):
        begins = rng.random(1000) < 1 - 0.95 ** (1 / 30)
        wrong = np.convolve(begins, np.ones(30))[:1000] > 0
        alarms += singles(wrong).alarm is not None
        streaks += any(singles(wrong[:n]).streaks for n in range(50, 1001, 50))
    assert alarms <= 0.05 * 60
    assert streaks > 0.5 * 60


def test_a_streak_is_over_when_what_follows_is_right():
    streak = [0] * 20 + [1] * 30
    assert (singles(streak).alarm, singles(streak).streaks) == (None, True)
    after = singles(streak + [0] * 1500)
    assert (after.alarm, after.streaks) == (None, False)
    # The same errors one by one are an alarm.
    assert singles([0, 1] * 30).alarm is not None


def test_a_judge_that_is_always_wrong_is_told_at_once_and_an_import_in_one_piece():
    broken = singles([1] * 40)
    assert (broken.alarm, broken.streaks) == (None, True)
    at_once = watch_drift([1, 0] * 20, range(40), [0] * 40, 0.05)
    assert (at_once.alarm, at_once.streaks) == (None, True)


def test_the_mean_of_the_e_value_is_one_at_the_certified_rate():
    """Over all 2⁷ courses of seven single decisions, weighted by their chance at the certified rate."""
    courses = (np.arange(128)[:, None] >> np.arange(7)) & 1
    chance = np.where(courses, 0.2, 0.8).prod(axis=1)
    watches = [singles(course, 0.2) for course in courses]
    for name in ("log_e", "apart_log_e"):
        wealth = np.array([np.exp(getattr(watch, name)) for watch in watches])
        assert chance @ wealth == pytest.approx(np.ones(7))


def test_the_confidence_sequence_by_its_definition():
    rng = np.random.default_rng(3)
    wrong = rng.random(200) < 0.1
    watch = singles(wrong)
    for t in (1, 10, 200):
        hits, misses = wrong[:t].sum(), t - wrong[:t].sum()
        rates = np.linspace(1e-5, 1 - 1e-5, 20_001)
        log_e = betaln(0.5 + hits, 0.5 + misses) - betaln(0.5, 0.5) - hits * np.log(rates) - misses * np.log(1 - rates)
        held = rates[log_e < np.log(20)]
        assert watch.low[t - 1] == pytest.approx(held[0] if hits else 0, abs=1e-4)
        assert watch.high[t - 1] == pytest.approx(held[-1] if misses else 1, abs=1e-4)
    assert (watch.low <= watch.rate).all()
    assert (watch.rate <= watch.high).all()
    assert (watch.error.low, watch.error.value, watch.error.high) == (watch.low[-1], watch.rate[-1], watch.high[-1])


def test_looking_a_thousand_times_alarms_falsely_in_at_most_five_percent():
    """Seeded and small; bench/promises/streaks.py runs it at length, also with clustered decisions."""
    rng = np.random.default_rng(21)
    runs = 100
    watches = [singles(rng.random(1000) < 0.05) for _ in range(runs)]
    assert sum(watch.alarm is not None or (watch.log_e >= np.log(20)).any() for watch in watches) <= 0.05 * runs
    held = [((watch.low <= 0.05) & (watch.high >= 0.05)).all() for watch in watches]
    assert sum(held) >= 0.95 * runs


def test_clusters_that_err_together_alarm_no_more():
    rng = np.random.default_rng(22)
    runs = 100
    cluster = np.repeat(np.arange(300), 5)
    alarms = sum(
        watch_drift(np.repeat(rng.random(300) < 0.05, 5), cluster, cluster, 0.05).alarm is not None for _ in range(runs)
    )
    assert alarms <= 0.05 * runs


@pytest.mark.parametrize(("rate", "within"), [(0.25, 60), (0.15, 150)])
def test_drift_is_found(rate, within):
    rng = np.random.default_rng(23)
    found = [singles(rng.random(within) < rate).alarm is not None for _ in range(40)]
    assert np.mean(found) > 0.9


def test_a_late_change_is_found_despite_the_good_times_before():
    rng = np.random.default_rng(24)
    found = []
    for _ in range(40):
        wrong = rng.random(1200) < np.where(np.arange(1200) < 800, 0.02, 0.2)
        alarm = singles(wrong).alarm
        found.append(alarm is not None and alarm >= 800)
    assert np.mean(found) > 0.9


def test_an_alarm_stays():
    watch = singles([1, 0] * 10 + [0] * 500)
    assert watch.alarm is not None
    assert watch.apart_log_e[-1] < np.log(20) <= watch.apart_log_e[watch.alarm]
    assert singles([1, 0] * 10 + [0] * 500, alpha=1e-4).alarm > watch.alarm


def test_a_cluster_counts_once_when_it_first_arrives():
    wrong, cluster, arrived = [1, 0, 1, 0, 1], ["a", "a", "b", "c", "a"], [1, 1, 1, 2, 3]
    watch = watch_drift(wrong, cluster, arrived, 0.05)
    assert watch.left_out == 1
    assert watch.arrived.tolist() == [1, 2]
    assert watch.rate.tolist() == [0.75, 0.5]
    assert (watch.error.n, watch.error.clusters) == (4, 3)


def test_what_waits_counts_as_what_raises_an_alarm_least():
    """Whatever comes of it, the evidence was not less; and it is in no rate."""
    rng = np.random.default_rng(26)
    for _ in range(30):
        wrong, waiting = rng.random(60) < 0.3, rng.random(60) < 0.3
        cluster, arrived = rng.integers(30, size=60), rng.integers(20, size=60)
        watch = watch_drift(wrong, cluster, arrived, 0.1, waiting=waiting)
        other = watch_drift(wrong ^ waiting, cluster, arrived, 0.1, waiting=waiting)
        assert other.log_e.tolist() == watch.log_e.tolist()
        assert (other.apart_log_e.tolist(), other.error) == (watch.apart_log_e.tolist(), watch.error)
        for settled in (wrong, wrong ^ waiting, wrong | waiting, wrong & ~waiting):
            after = watch_drift(settled, cluster, arrived, 0.1)
            assert (watch.log_e <= after.log_e + 1e-9).all()
            assert (watch.apart_log_e <= after.apart_log_e + 1e-9).all()
    alone = singles([1, 0, 1], waiting=[1, 0, 0])
    assert (alone.error.value, alone.error.n, alone.error.clusters) == (0.5, 2, 2)
    assert np.isnan(alone.rate[0])
    assert (alone.low[0], alone.high[0]) == (0, 1)
    assert singles([1], waiting=[1]).error.reason == remark("no_units")


def test_what_is_settled_late_is_no_rise_by_its_first_labels():
    """Disputes of each 500 are settled after the rest; seeded, bench/promises/streaks.py runs it at length."""
    rng = np.random.default_rng(27)
    place, by_settling, by_label = np.arange(1000), 0, 0
    for _ in range(40):
        disputed = rng.random(1000) < 0.2
        wrong = disputed & (rng.random(1000) < 0.25)
        settled = np.where(disputed, 1000 * (place // 500 + 1) + place, place + 500 * (place // 500))
        by_settling += watch_drift(wrong, place, settled, 0.05).alarm is not None
        by_label += singles(wrong).alarm is not None
    assert by_settling > 30
    assert by_label <= 2


def test_invariances():
    rng = np.random.default_rng(5)
    wrong, cluster = rng.random(300) < 0.2, np.arange(300) // 3
    arrived = cluster // 4
    order = rng.permutation(300)
    one = watch_drift(wrong, cluster, arrived, 0.05)
    names = np.array([f"sample {code * 7919 % 100}" for code in cluster])
    for other in (
        watch_drift(wrong[order], cluster[order], arrived[order], 0.05),
        watch_drift(wrong, names, arrived * 10 + 3, 0.05),
    ):
        assert other.log_e == pytest.approx(one.log_e, abs=1e-9)
        assert other.low == pytest.approx(one.low, abs=1e-12)
        assert other.apart_log_e == pytest.approx(one.apart_log_e, abs=1e-9)
        assert other.alarm == one.alarm


def test_dates_arrive_in_order():
    days = np.array(["2026-03-02", "2026-01-05", "2026-02-01"], dtype="datetime64[D]")
    watch = watch_drift([1, 0, 0], [1, 2, 3], days, 0.05)
    assert watch.rate == pytest.approx([0, 0, 1 / 3])


def test_nothing_audited():
    watch = singles([])
    assert (watch.alarm, watch.error.value, watch.error.reason) == (None, None, remark("no_units"))
    assert watch.log_e.shape == watch.apart_log_e.shape == watch.low.shape == (0,)
    assert not watch.streaks
    json.dumps(watch.error.as_dict(), allow_nan=False)


@pytest.mark.parametrize("wrong", [0, 1])
def test_extremes_stay_finite(wrong):
    watch = singles([wrong] * 3000, 1e-4)
    for path in (watch.log_e, watch.apart_log_e, watch.low, watch.high, watch.rate):
        assert np.isfinite(path).all()
    assert (watch.alarm, watch.streaks) == (None, bool(wrong))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: singles([1], 0.0), "the certified rate lies between 0 and 1, not 0.0"),
        (lambda: singles([1], 0.1, alpha=1.0), "the alpha lies between 0 and 1"),
        (lambda: singles([2]), "holds booleans"),
        (lambda: watch_drift([1], [1, 2], [1], 0.05), "columns differ in length"),
    ],
)
def test_what_cannot_be(call, message):
    with pytest.raises(ValueError, match=message):
        call()
