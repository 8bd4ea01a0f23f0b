"""Dev and test, and folds of dev: stratified divisions of samples, made before anything is fitted."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from alignment.base.arrays import Bools, Ints


def dev_test_split(
    clusters: Sequence[Hashable], strata: Sequence[Hashable], seed: int, dev_share: float = 0.5
) -> Bools:
    """Which rows are dev, shape (rows,); all rows of a cluster fall on one side.

    A cluster's stratum is its rows' most frequent one. In every stratum, and over all, the number of dev clusters is
    within one of ``dev_share`` of them. The same seed and the same rows in any order give the same division.

    >>> is_dev = dev_test_split(["a", "a", "b", "c", "d"], ["good"] * 5, seed=7)
    >>> bool(is_dev[0] == is_dev[1]), len({c for c, dev in zip("aabcd", is_dev) if dev})
    (True, 2)
    """
    if len(clusters) != len(strata):
        raise ValueError(f"columns differ in length: {len(clusters)} clusters, {len(strata)} strata")
    if not 0 < dev_share < 1:
        raise ValueError(f"dev_share lies between 0 and 1, not {dev_share}")
    rows_by_cluster: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for cluster, stratum in zip(clusters, strata, strict=True):
        rows_by_cluster[cluster][stratum] += 1
    stratum_of = {
        cluster: min(counts, key=lambda stratum: (-counts[stratum], _name(stratum)))
        for cluster, counts in rows_by_cluster.items()
    }
    shuffled = _along_strata(stratum_of, np.random.default_rng(seed))
    # Every 1/dev_share-th cluster along the strata is dev: a systematic sample of a random order.
    filled = np.floor(np.arange(len(shuffled) + 1) * dev_share + 0.5)
    is_dev = dict(zip(shuffled, np.diff(filled) > 0, strict=True))
    return np.array([is_dev[cluster] for cluster in clusters], dtype=np.bool_)


def folds(clusters: Sequence[Hashable], strata: Sequence[Hashable], count: int, rng: np.random.Generator) -> Ints:
    """The fold of each cluster, 0..count-1, shape (clusters,): in every stratum, and over all, equal within one.

    ``clusters`` names each cluster once. The same generator state and clusters in any order give the same folds.

    >>> sorted(folds("abcd", [True, True, False, False], 2, np.random.default_rng(1)).tolist())
    [0, 0, 1, 1]
    """
    if len(clusters) != len(strata) or len(set(clusters)) != len(clusters):
        raise ValueError(f"folds need every cluster once with its stratum, not {len(clusters)} with {len(strata)}")
    if count < 2:
        raise ValueError(f"at least 2 folds, not {count}")
    shuffled = _along_strata(dict(zip(clusters, strata, strict=True)), rng)
    fold_of = {cluster: place % count for place, cluster in enumerate(shuffled)}
    return np.array([fold_of[cluster] for cluster in clusters], dtype=np.int64)


def _along_strata(stratum_of: Mapping[Hashable, Hashable], rng: np.random.Generator) -> list[Hashable]:
    """The clusters by stratum, within each in random order."""
    # Sorted by name, so that the order doesn't hang on that of rows or on Python's hashing.
    names = sorted(stratum_of, key=_name)
    shuffled = [names[position] for position in rng.permutation(len(names))]
    return sorted(shuffled, key=lambda cluster: _name(stratum_of[cluster]))


def _name(key: Hashable) -> tuple[str, str]:
    return str(key), type(key).__name__
