"""The upper bound of a mean over groups of shares: against Clopper and Pearson, by its definition, over all courses,
and by simulation of what is hardest on it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from alignment import clusters_needed
from alignment.base.estimate import Estimate, remark
from alignment.judging.share_bound import SPREAD, STAKES, mean_share_bound

NO_UNITS = remark("no_units")


def bound(hit, cluster, worth=None, confidence=0.95, *, single=False) -> Estimate:
    hit = np.asarray(hit, dtype=bool)
    worth = np.ones(hit.size) if worth is None else np.asarray(worth, dtype=float)
    return mean_share_bound(
        hit, np.asarray(cluster), worth, confidence, single=single, name="errors", undefined=NO_UNITS
    )


def of_shares(shares, worth=None, confidence=0.95):
    """One group per share, of two units or, where it is a half, one hit in two."""
    hit = np.concatenate([[share > 0, share == 1] for share in shares])
    each = None if worth is None else np.repeat(worth, 2)
    return bound(hit, np.repeat(np.arange(len(shares)), 2), each, confidence)


@pytest.mark.parametrize(("hits", "n"), [(0, 29), (1, 46), (4, 120), (7, 7)])
def test_single_decisions_have_the_bound_of_clopper_and_pearson(hits, n):
    found = bound(np.arange(n) < hits, np.arange(n), single=True)
    assert found.high == pytest.approx(proportion_confint(hits, n, alpha=0.1, method="beta")[1])
    assert (found.value, found.low, found.n, found.clusters) == (hits / n, 0.0, n, n)
    assert found.method == "errors, mean over groups; Clopper-Pearson, one-sided"


def wealth(shares, worth, risk):
    return sum(
        part * np.prod([1 - c * u + c * u * (1 - s) / (1 - risk) for s, u in zip(shares, worth, strict=True)])
        for part, c in zip(SPREAD, STAKES, strict=True)
    )


def test_betting_by_its_definition():
    shares, worth = [0, 0.5, 0, 1, 0] * 12, [1, 0.2, 0.5, 0.2, 1] * 12
    found = of_shares(shares, worth)
    assert wealth(shares, worth, found.high) == pytest.approx(20)
    assert found.value == pytest.approx(np.average(shares, weights=worth))
    assert found.method == "errors, mean over groups; betting, one-sided"


@pytest.mark.parametrize("risk", [0.4, 0.6])
def test_what_is_bet_is_fair_and_the_bound_misses_seldom(risk):
    """Over all 3⁸ courses of eight groups that are wrong, half wrong and right, with mean share ``risk``."""
    courses = np.array(list(product([0.0, 0.5, 1.0], repeat=8)))
    chances = {0.0: 1 - 1.5 * risk, 0.5: risk, 1.0: risk / 2}
    chance = np.array([np.prod([chances[share] for share in course]) for course in courses])
    kept, gained = (1 - STAKES)[:, None, None], STAKES[:, None, None] * (1 - courses) / (1 - risk)
    assert chance @ (SPREAD @ (kept + gained).prod(axis=2)) == pytest.approx(1)
    # A course and its order are the same to the bound.
    kinds, place, times = np.unique(np.sort(courses, axis=1), axis=0, return_inverse=True, return_counts=True)
    assert times.sum() == 3**8
    missed = np.array([of_shares(kind, confidence=0.8).high < risk for kind in kinds])
    assert 0 < chance @ missed[place] <= 0.2


def test_errors_in_bundles_of_the_largest_groups():
    """All that is wrong lies in a tenth of the groups, the largest, which are wrong as a whole; by number of decisions
    they would be a third of all. Seeded; bench/promises/regions.py has more."""
    rng = np.random.default_rng(31)
    missed = 0
    for _ in range(400):
        sizes = np.ceil(np.exp(rng.normal(0, 1.2, 100))).astype(int)
        wrong = (sizes >= 5) & (rng.random(100) < 0.101 / 0.1236)
        cluster = np.repeat(np.arange(100), sizes)
        missed += bound(wrong[cluster], cluster).high < 0.1
    assert missed <= 0.05 * 400


def test_errors_among_those_that_are_seldom_drawn():
    """A twentieth of half of the groups is labelled, and all errors are there; of all groups .2 are wrong."""
    rng = np.random.default_rng(32)
    missed, plain = 0, 0
    for _ in range(200):
        chance = np.where(np.arange(2000) < 1000, 1.0, 0.05)
        wrong = (chance < 1) & (rng.random(2000) < 0.41)
        seen = rng.random(2000) < chance
        given = wrong[seen], np.flatnonzero(seen)
        missed += bound(*given, 0.05 / chance[seen]).high < 0.2
        plain += bound(*given, single=True).high < 0.2
    assert missed <= 0.05 * 200
    assert plain == 200


def test_only_those_that_stand_for_few_are_seen():
    """As many others may be wrong as could have been drawn with the least chance."""
    none = np.zeros(100, dtype=bool)
    assert bound(none, np.arange(100)).high < 0.04
    assert bound(none, np.arange(100), np.full(100, 0.1)).high > 0.2


@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=40),
    st.floats(0.5, 0.999),
    st.permutations(range(9)),
)
def test_the_bound_holds_the_mean_and_knows_no_order(decisions, confidence, names):
    cluster, hit = (np.array(column) for column in zip(*decisions, strict=True))
    worth = np.array([0.1, 0.5, 1.0])[cluster % 3]
    found = bound(hit, cluster, worth, confidence)
    mean = [np.mean(hit[cluster == one]) for one in np.unique(cluster)]
    assert found.value == pytest.approx(np.average(mean, weights=np.array([0.1, 0.5, 1.0])[np.unique(cluster) % 3]))
    assert 0 <= found.value <= found.high <= 1
    other = bound(hit[::-1], np.array(names)[cluster][::-1], worth[::-1], confidence)
    assert (other.value, other.high) == pytest.approx((found.value, found.high), abs=1e-9)
    assert bound(hit, cluster, worth, min(0.9999, confidence + 0.0005)).high >= found.high - 1e-9


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize(("risk", "confidence"), [(0.1, 0.95), (0.05, 0.95), (0.1, 0.9696), (0.02, 0.99)])
def test_clusters_needed(risk, confidence, single):
    n = clusters_needed(risk, confidence, single=single)
    enough, fewer = (bound(np.zeros(k), np.arange(k), confidence=confidence, single=single).high for k in (n, n - 1))
    assert enough <= risk + 1e-9
    assert fewer > risk


def test_of_nothing_there_is_no_bound():
    assert bound([], []).reason == NO_UNITS
