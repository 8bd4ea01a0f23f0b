"""How far proposals pull people: a difference of two shares, clustered by group."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import confint_proportions_2indep

from alignment import anchoring, seeded
from alignment.base.estimate import remark


def ones(hits: int, trials: int) -> tuple[list[int], list[int]]:
    return [1] * hits + [0] * (trials - hits), [1] * trials


@pytest.mark.parametrize(("shown", "withheld"), [((56, 70), (48, 80)), ((90, 100), (15, 20)), ((99, 100), (30, 40))])
def test_with_one_unit_in_each_group_it_is_newcombes_interval_a_little_wider(
    shown: tuple[int, int], withheld: tuple[int, int]
) -> None:
    found = anchoring(*ones(*shown), *ones(*withheld)).more
    low, high = confint_proportions_2indep(*shown, *withheld, method="newcomb")
    assert found.value == pytest.approx(shown[0] / shown[1] - withheld[0] / withheld[1])
    assert found.low is not None
    assert found.high is not None
    # His is of Wilson's intervals, ours of Clopper and Pearson's, which are the wider ones.
    assert low - 0.04 <= found.low <= low
    assert high <= found.high <= high + 0.04


def test_the_published_example() -> None:
    """Newcombe (1998), Stat. Med. 17, table II, example a: 56/70 less 48/80."""
    low, high = confint_proportions_2indep(56, 70, 48, 80, method="newcomb")
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)
    found = anchoring(*ones(56, 70), *ones(48, 80)).more
    assert found.low == pytest.approx(0.0524, abs=0.02)
    assert found.high == pytest.approx(0.3339, abs=0.02)


def test_labels_of_one_group_that_go_together_are_one() -> None:
    copies = anchoring([5] * 14 + [0] * 6, [5] * 20, [5] * 10 + [0] * 10, [5] * 20).more
    single = anchoring(*ones(14, 20), *ones(10, 20)).more
    # But for what the jackknife of twenty groups adds.
    assert (copies.low, copies.high) == pytest.approx((single.low, single.high), abs=0.01)
    assert (copies.n, copies.clusters, single.n) == (200, 20, 40)


def test_where_all_agree_there_still_is_an_interval() -> None:
    found = anchoring([3] * 15, [3] * 15, [3] * 12, [3] * 12).more
    assert found.value == 0
    assert found.low is not None
    assert found.high is not None
    assert -0.3 < found.low < 0 < found.high < 0.3


@pytest.mark.parametrize(("shown", "withheld"), [(9, 40), (40, 9), (0, 0)])
def test_few_groups_have_no_figure(shown: int, withheld: int) -> None:
    found = anchoring([1] * shown, [2] * shown, [1] * withheld, [2] * withheld)
    for figure in (found.more, found.shown, found.withheld):
        assert figure.value is None
        assert figure.reason == remark("few_groups_of_an_arm", n=10)


@pytest.mark.parametrize(
    ("agreed", "pulled", "alike", "groups"),
    [(0.7, 0.85, 8.0, (80, 20)), (0.9, 0.97, 2.0, (40, 12)), (0.6, 0.6, 0.8, (160, 40))],
)
def test_the_interval_holds_the_truth(agreed: float, pulled: float, alike: float, groups: tuple[int, int]) -> None:
    """Groups of one to six labels, of beta-distributed agreement: the smaller `alike`, the more those of one group go
    together."""
    rng, worlds, held = seeded(46), 600, 0

    def arm(share: float, size: int) -> tuple[np.ndarray, np.ndarray]:
        trials = rng.integers(1, 7, size)
        return rng.binomial(trials, rng.beta(alike * share, alike * (1 - share), size)), trials

    for _ in range(worlds):
        found = anchoring(*arm(pulled, groups[0]), *arm(agreed, groups[1])).more
        assert found.low is not None
        assert found.high is not None
        held += found.low <= pulled - agreed <= found.high
    assert binomtest(held, worlds, 0.95, alternative="less").pvalue > 0.01
