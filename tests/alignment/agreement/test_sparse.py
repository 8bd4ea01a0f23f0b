"""Real overlap is sparse: many units, many raters, three ratings each, and no units-by-raters matrix."""

import tracemalloc

import numpy as np

from alignment import Ratings, agreement_summary, mean_pairwise_kappa, pairwise
from alignment.base.estimate import remark


def sparse(units, raters, per_unit=3):
    rng = np.random.default_rng(9)
    first = rng.integers(raters, size=units)
    rater = (first[:, None] + np.arange(per_unit) * rng.integers(1, raters // per_unit, size=units)[:, None]) % raters
    hidden = rng.integers(4, size=units)
    value = np.where(rng.random((units, per_unit)) < 0.7, hidden[:, None], rng.integers(4, size=(units, per_unit)))
    unit = np.repeat(np.arange(units), per_unit)
    return Ratings(
        unit,
        rater.ravel(),
        value.ravel(),
        unit // 5,
        (1, 2, 3, 4),
        "ordinal",
        tuple(f"rater {code}" for code in range(raters)),
    )


def test_a_summary_takes_memory_by_ratings():
    ratings = sparse(20_000, 1_000)
    tracemalloc.start()
    summary = agreement_summary(ratings, interval="influence")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A matrix of units by raters in floats would take 160 MB; the ratings take 2.
    assert peak < 40_000_000
    for name in ("fleiss_kappa", "krippendorff_alpha_nominal", "gwet_ac1"):
        assert 0.45 < summary[name].value < 0.55
        assert summary[name].low < summary[name].value < summary[name].high
    assert summary["cohen_kappa_mean"].reason == remark("no_pair_with_common_units", n=10)


def test_many_pairs():
    ratings = sparse(5_000, 40)
    pairs = pairwise(ratings, interval="influence")
    assert sum(pair.n for pair in pairs) == 15_000
    mean = mean_pairwise_kappa(ratings, None, 10, True, interval="influence")
    assert 0.45 < mean.low < mean.value < mean.high < 0.55
