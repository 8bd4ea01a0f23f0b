"""Scott's pi, Brennan and Prediger's kappa, Gwet's AC2, Krippendorff's alpha with the ratio metric."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from alignment import (
    Ratings,
    agreement_summary,
    brennan_prediger,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    mean_pairwise_pi,
    percent_agreement,
    scott_pi,
)
from alignment.base.estimate import remark
from tests.alignment.agreement.test_published_tables import FLEISS_1971, KRIPPENDORFF_2011, PARADOX, TWO_RATERS

NONE = {"interval": "none"}
A, B = "rater 0", "rater 1"
ALPHA = ("nominal", "ordinal", "interval", "ratio")
EVERY = {
    "brennan": lambda ratings: brennan_prediger(ratings, **NONE),
    "ac1": lambda ratings: gwet_ac1(ratings, **NONE),
    "linear": lambda ratings: gwet_ac2(ratings, "linear", **NONE),
    "quadratic": lambda ratings: gwet_ac2(ratings, "quadratic", **NONE),
    "ratio": lambda ratings: krippendorff_alpha(ratings, "ratio", **NONE),
    "scott": lambda ratings: scott_pi(ratings, A, B, **NONE),
    "mean scott": lambda ratings: mean_pairwise_pi(ratings, 2, **NONE),
}


# Published


def test_krippendorff_2011(from_rows):
    ratings = from_rows(KRIPPENDORFF_2011, range(1, 6))
    assert krippendorff_alpha(ratings, "ratio", **NONE).value == pytest.approx(0.797, abs=5e-4)
    assert brennan_prediger(ratings, **NONE).value == pytest.approx(0.773, abs=5e-4)
    assert gwet_ac2(ratings, "linear", **NONE).value == pytest.approx(0.859, abs=5e-4)
    assert gwet_ac2(ratings, "quadratic", **NONE).value == pytest.approx(0.914, abs=5e-4)
    assert brennan_prediger(ratings, **NONE).n == 11


def test_two_raters(from_confusion):
    ratings = from_confusion(TWO_RATERS)
    assert scott_pi(ratings, "a", "b", **NONE).value == pytest.approx(0.7962, abs=5e-5)
    assert brennan_prediger(ratings, **NONE).value == pytest.approx(0.835, abs=5e-4)


def test_paradox(from_confusion):
    ratings = from_confusion(PARADOX)
    pi = scott_pi(ratings, "a", "b", **NONE).value
    assert pi == pytest.approx(-0.0288, abs=5e-5)
    assert pi < cohen_kappa(ratings, "a", "b", **NONE).value
    assert brennan_prediger(ratings, **NONE).value == pytest.approx(2 * 118 / 125 - 1)


def test_fleiss_1971(from_rows):
    rows = [[int(patient[rater]) for patient in FLEISS_1971] for rater in range(6)]
    ratings = from_rows(rows, range(1, 6), "nominal")
    percent = percent_agreement(ratings, **NONE).value
    assert percent == pytest.approx(0.5556, abs=5e-5)
    assert brennan_prediger(ratings, **NONE).value == pytest.approx((percent - 0.2) / 0.8)


# Reference values of irrCAC and krippendorff


@pytest.mark.parametrize(
    ("dataset", "dimension"),
    [("mtrag", name) for name in ("naturalness", "appropriateness", "completeness", "faithfulness", "win_rate")]
    + [("mtbench", "preference")],
)
def test_reference_data(request, dataset, dimension):
    data = request.getfixturevalue(dataset)
    ratings, irr = data.ratings(dimension), data.reference["human"][dimension]["irrcac"]
    summary = agreement_summary(ratings, interval="influence")
    names = ["brennan_prediger", *(["gwet_ac2_quadratic"] if "gwet_ac2_quadratic" in irr else [])]
    n = ratings.n_units
    for name in names:
        estimate = summary[name]
        assert estimate.value == pytest.approx(irr[name]["value"], abs=1e-6)
        # irrCAC divides by n(n - 1), we by n².
        error = (estimate.high - estimate.low) / 2 / stdtrit(estimate.clusters - 1, 0.975)
        assert error * np.sqrt(n / (n - 1)) == pytest.approx(irr[name]["se"], abs=1e-6)
    if dataset == "mtbench":
        assert summary["gwet_ac2_quadratic"].reason == remark("no_order")


# By hand


def by_hand(ratings, alike, expected):
    """Weighted percent agreement and what chance makes of it, from the definition, pair by pair."""
    levels = len(ratings.levels)
    agreement, shares = [], []
    for unit in np.unique(ratings.unit):
        values = ratings.value[ratings.unit == unit]
        shares.append(np.bincount(values, minlength=levels) / values.size)
        if values.size > 1:
            agreement.append(np.mean([alike(i, j) for i, j in permutations(values, 2)]))
    chance = expected(np.mean(shares, axis=0))
    return (np.mean(agreement) - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("levels", [2, 3, 5])
def test_chance_corrected_by_hand(with_gaps, seed, levels):
    ratings = with_gaps(seed, units=60, levels=levels)
    weights = {
        "linear": lambda i, j: 1 - abs(i - j) / (levels - 1),
        "quadratic": lambda i, j: 1 - (i - j) ** 2 / (levels - 1) ** 2,
    }
    for name, alike in weights.items():
        total = sum(alike(i, j) for i in range(levels) for j in range(levels))

        def expected(shares, total=total):
            return total * (shares * (1 - shares)).sum() / (levels * (levels - 1))

        assert gwet_ac2(ratings, name, **NONE).value == pytest.approx(by_hand(ratings, alike, expected), abs=1e-12)
    hand = by_hand(ratings, lambda i, j: float(i == j), lambda _: 1 / levels)
    assert brennan_prediger(ratings, **NONE).value == pytest.approx(hand, abs=1e-12)


def alpha_by_hand(units, apart):
    """Krippendorff's definition over pairs of values, without a matrix."""
    units = [values for values in units if len(values) > 1]
    every = [value for values in units for value in values]
    observed = sum(sum(apart(x, y) for x, y in permutations(values, 2)) / (len(values) - 1) for values in units)
    expected = sum(apart(x, y) for x, y in permutations(every, 2))
    return 1 - (len(every) - 1) * observed / expected


def ratio_apart(x, y):
    return ((x - y) / (x + y)) ** 2 if x + y else 0.0


@pytest.mark.parametrize("seed", range(4))
def test_ratio_alpha_by_hand(seed):
    rng = np.random.default_rng(seed)
    unit = np.sort(rng.integers(30, size=70))
    rater = np.arange(70) - np.searchsorted(unit, unit)
    names = tuple(f"rater {code}" for code in range(rater.max() + 1))
    value = np.round(rng.gamma(1.0, 3.0, size=70))
    ratings = Ratings(unit, rater, value, unit, None, "interval", names)
    hand = alpha_by_hand([value[unit == one].tolist() for one in range(30)], ratio_apart)
    assert 0.0 in value
    assert krippendorff_alpha(ratings, "ratio", **NONE).value == pytest.approx(hand, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_scott_by_hand_and_over_pairs(with_gaps, seed):
    ratings = with_gaps(seed)
    values = []
    for i, a in enumerate(ratings.raters):
        for b in ratings.raters[i + 1 :]:
            pi = scott_pi(ratings, a, b, **NONE)
            both = ratings.select_raters([a, b])
            common = np.bincount(both.unit)[both.unit] == 2
            value = both.value[common]
            shares = np.bincount(value, minlength=4) / value.size
            same = np.mean(value[::2] == value[1::2])
            assert pi.value == pytest.approx((same - (shares**2).sum()) / (1 - (shares**2).sum()), abs=1e-12)
            assert pi.n == value.size / 2
            values.append(pi.value)
    mean = mean_pairwise_pi(ratings, **NONE)
    assert mean.value == pytest.approx(np.mean(values), abs=1e-12)
    assert mean.method == "mean Scott's pi over 10 pairs with at least 10 common units, 0 undefined"


def test_of_two_raters_pi_is_fleiss_and_its_interval(from_confusion):
    ratings = from_confusion(TWO_RATERS)
    pi, mean, fleiss = (
        scott_pi(ratings, "a", "b", interval="influence"),
        mean_pairwise_pi(ratings, interval="influence"),
        fleiss_kappa(ratings, interval="influence"),
    )
    assert (pi.value, pi.low, pi.n) == pytest.approx((fleiss.value, fleiss.low, fleiss.n), abs=1e-12)
    assert (mean.value, mean.low, mean.n) == pytest.approx((pi.value, pi.low, pi.n), abs=1e-12)


# Invariances


@st.composite
def tables(draw):
    raters, units, levels = draw(st.integers(2, 4)), draw(st.integers(2, 10)), draw(st.integers(2, 5))
    cells = st.tuples(st.integers(0, units - 1), st.integers(0, raters - 1))
    chosen = draw(st.lists(cells, min_size=2, unique=True))
    value = draw(st.lists(st.integers(0, levels - 1), min_size=len(chosen), max_size=len(chosen)))
    unit, rater = np.array(chosen).T
    names = tuple(f"rater {code}" for code in range(raters))
    return Ratings(unit, rater, np.array(value), unit // 2, tuple(range(levels)), "ordinal", names)


def values_of(ratings):
    return {name: estimate(ratings).value for name, estimate in EVERY.items()}


@settings(max_examples=100, deadline=None)
@given(tables())
def test_bounds(ratings):
    values = values_of(ratings)
    for name in ("brennan", "ac1", "linear", "quadratic"):
        estimate = EVERY[name](ratings)
        assert (estimate.value is None) == (estimate.reason == remark("no_pairs"))
    if values["brennan"] is not None:
        assert values["brennan"] >= -1 / (len(ratings.levels) - 1) - 1e-12
    if values["scott"] is not None:
        kappa = cohen_kappa(ratings, A, B, **NONE).value
        assert kappa is None or values["scott"] <= kappa + 1e-12


@settings(max_examples=50, deadline=None)
@given(tables())
def test_perfect_agreement_is_one(ratings):
    perfect = replace(ratings, value=ratings.unit % len(ratings.levels))
    for value in values_of(perfect).values():
        assert value is None or value == pytest.approx(1)


def test_two_levels_have_one_ac(with_gaps):
    ratings = with_gaps(5, levels=2)
    one = gwet_ac1(ratings, interval="influence")
    for weights in ("linear", "quadratic"):
        two = gwet_ac2(ratings, weights, interval="influence")
        assert (two.value, two.low) == pytest.approx((one.value, one.low), abs=1e-12)


def test_chance_is_zero():
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(20_000), 3)
    raters = np.tile([0, 1, 2], 20_000)
    ratings = Ratings(unit, raters, rng.integers(4, size=60_000), unit, (1, 2, 3, 4), "ordinal", ("a", A, B))
    for name, value in values_of(ratings).items():
        assert value == pytest.approx(0, abs=0.02), name


@pytest.mark.parametrize("name", ["brennan", "linear", "quadratic"])
def test_one_category_is_perfect_where_chance_does_not_know_it(from_rows, name):
    assert EVERY[name](from_rows([[1, 1], [1, 1]], [1, 2])).value == 1.0


@pytest.mark.parametrize("name", ["linear", "quadratic", "fleiss"])
def test_units_with_one_rating_can_bring_it_below_minus_one(from_rows, name):
    """Then the interval is not cut at -1, above the value."""
    # Gwet's chance is greatest when levels come equally often, Fleiss' when one prevails.
    single = [1] * 15 if name == "fleiss" else [2, 3, 4, 1, 5] * 3
    rows = [[1] * 5 + [5] * 5 + single, [5] * 4 + [4] + [1] * 5 + [None] * 15]
    ratings = from_rows(rows, range(1, 6))
    how = {"interval": "influence"}
    estimate = fleiss_kappa(ratings, **how) if name == "fleiss" else gwet_ac2(ratings, name, **how)
    assert estimate.low < estimate.value < estimate.high
    assert estimate.low < -1


def test_what_cannot_be_asked(from_rows):
    ratings = from_rows(["xyx", "xyy"], "xyz")
    with pytest.raises(ValueError, match="linear, quadratic"):
        gwet_ac2(ratings, "cubic", **NONE)
    with pytest.raises(ValueError, match="compares two raters"):
        scott_pi(ratings, A, A, **NONE)
    with pytest.raises(ValueError, match="nominal, ordinal, interval, ratio"):
        krippendorff_alpha(ratings, "circular", **NONE)


@pytest.mark.parametrize("metric", ALPHA)
def test_alpha_bootstrap_of_fixed_and_of_moving_distances(with_gaps, rng, metric):
    few = with_gaps(3, units=60, per_cluster=2)
    estimate = krippendorff_alpha(few, metric, interval="bootstrap", rng=rng)
    assert "cluster bootstrap" in estimate.method
    assert estimate.low < estimate.value < estimate.high
