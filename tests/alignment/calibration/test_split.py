"""Dev and test: by cluster, stratified, the same for the same seed."""

import numpy as np
import pytest

from alignment import at_threshold, dev_test_split, sweep

CLUSTERS = [f"sample {code}" for code in range(101) for _ in range(3)]
STRATA = ["rare" if code % 10 == 0 else "common" for code in range(101) for _ in range(3)]


def sides(is_dev):
    return {cluster: set(is_dev[np.array(CLUSTERS) == cluster].tolist()) for cluster in set(CLUSTERS)}


def test_a_cluster_stays_whole():
    assert all(len(side) == 1 for side in sides(dev_test_split(CLUSTERS, STRATA, seed=1)).values())


@pytest.mark.parametrize("dev_share", [0.2, 0.5, 0.7])
def test_every_stratum_has_its_share(dev_share):
    is_dev = dev_test_split(CLUSTERS, STRATA, seed=1, dev_share=dev_share)
    for stratum, size in (("rare", 11), ("common", 90)):
        dev = is_dev[np.array(STRATA) == stratum].sum() / 3
        assert abs(dev - dev_share * size) < 1
    assert abs(is_dev.sum() / 3 - dev_share * 101) <= 0.5


def test_the_seed_decides_and_the_order_of_rows_does_not(rng):
    is_dev = dev_test_split(CLUSTERS, STRATA, seed=5)
    assert (is_dev == dev_test_split(CLUSTERS, STRATA, seed=5)).all()
    assert (is_dev != dev_test_split(CLUSTERS, STRATA, seed=6)).any()
    order = rng.permutation(len(CLUSTERS))
    shuffled = dev_test_split([CLUSTERS[i] for i in order], [STRATA[i] for i in order], seed=5)
    assert (shuffled == is_dev[order]).all()


def test_a_cluster_goes_by_its_most_frequent_stratum():
    # Only if "b" counts as bad are there two clusters in each stratum, one of each on dev.
    clusters, strata = ["a", "b", "b", "b", "c", "d"], ["bad", "good", "bad", "bad", "good", "good"]
    for seed in range(10):
        is_dev = dict(zip(clusters, dev_test_split(clusters, strata, seed).tolist(), strict=True))
        assert is_dev["a"] != is_dev["b"]
        assert is_dev["c"] != is_dev["d"]


@pytest.mark.parametrize(
    ("clusters", "strata", "share", "message"),
    [([1, 2], [1], 0.5, "differ in length"), ([1], [1], 1.0, "between 0 and 1")],
)
def test_a_split_that_cannot_be(clusters, strata, share, message):
    with pytest.raises(ValueError, match=message):
        dev_test_split(clusters, strata, seed=1, dev_share=share)


def test_no_rows():
    assert dev_test_split([], [], seed=1).tolist() == []


def test_a_threshold_measured_where_it_was_chosen_is_optimistic_and_on_test_it_is_not():
    """A judge that says anything, with a true kappa of 0 at every threshold; 300 sets of 100 answers."""
    rng, at = np.random.default_rng(31), np.arange(100)
    on_test, on_all = [], []
    for seed in range(300):
        human, score = rng.random(100) < 0.5, rng.normal(size=100)
        dev = dev_test_split(at.tolist(), human.tolist(), seed)
        threshold = sweep(score[dev], human[dev]).best_threshold
        on_test.append(at_threshold(score[~dev], human[~dev], at[~dev], threshold, interval="none").kappa.value)
        on_all.append(sweep(score, human).best_kappa)
    assert abs(np.mean(on_test)) < 3 * np.std(on_test) / np.sqrt(300) < 0.03
    assert np.mean(on_all) > 0.1
