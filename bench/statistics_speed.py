"""How fast the statistics are, with their intervals, on ratings as sparse as real ones.

    python -m bench.statistics_speed [--ratings 1000000]

Every unit is rated by 3 raters; two raters have about 50 units in common, however many ratings there are (200 raters
give a million, 20 ten thousand); a cluster has 10 ratings on average; 5 levels. Intervals are those of a report,
clustered, from the bootstrap where a pair has fewer than 40 clusters. No services: `alignment` alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import cohen_kappa_score

from alignment import Ratings, cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha, pairwise, sweep
from bench.import_speed import peak_mib
from bench.stage import figure, heading

SEED = 20260901
LEVELS = (1, 2, 3, 4, 5)
PER_UNIT = 3
RATINGS_PER_CLUSTER = 10
# The loop over scikit-learn takes a minute for all pairs: so many of them, and the rest by proportion.
SAMPLED_PAIRS = 400


@dataclass(frozen=True)
class Spent:
    """The fastest of several runs, in seconds. Processor time counts all threads."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{_seconds(self.clock)} ({_seconds(self.processor)} of processors)"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def fastest(run: Callable[[], object], repeats: int) -> Spent:
    clock = processor = float("inf")
    for _ in range(repeats):
        began, busy = time.perf_counter(), time.process_time()
        run()
        clock = min(clock, time.perf_counter() - began)
        processor = min(processor, time.process_time() - busy)
    return Spent(clock, processor)


def make_ratings(count: int, raters: int) -> Ratings:
    """Raters mostly follow a hidden value; which three meet on a unit, and which units share a cluster, is drawn."""
    rng = np.random.default_rng(SEED)
    units = count // PER_UNIT
    rater = rng.integers(raters, size=(units, PER_UNIT))
    while (again := np.flatnonzero((np.diff(np.sort(rater, axis=1), axis=1) == 0).any(axis=1))).size:
        rater[again] = rng.integers(raters, size=(again.size, PER_UNIT))
    hidden = rng.integers(len(LEVELS), size=units)[:, None]
    value = np.where(rng.random(rater.shape) < 0.7, hidden, rng.integers(len(LEVELS), size=rater.shape))
    return Ratings(
        unit=np.repeat(np.arange(units), PER_UNIT),
        rater=rater.ravel(),
        value=value.ravel(),
        cluster=np.repeat(rng.integers(count // RATINGS_PER_CLUSTER, size=units), PER_UNIT),
        levels=LEVELS,
        scale="ordinal",
        raters=tuple(f"rater {number}" for number in range(raters)),
    )


def agreement(ratings: Ratings) -> None:
    """Alpha, AC1, Fleiss and every pair's kappas (plain, linear, quadratic), each with its interval."""
    rng = np.random.default_rng(SEED)
    for statistic in (krippendorff_alpha, gwet_ac1, fleiss_kappa, pairwise):
        statistic(ratings, rng=rng)


def measure_agreement(most: int) -> Ratings:
    """Ten thousand ratings, a tenth of the most, and the most, which are returned."""
    spent = {}
    for count in (10_000, most // 10, most):
        raters = round(200 * (count / 1_000_000) ** 0.5)
        ratings = make_ratings(count, raters)
        repeats = 3 if count >= 1_000_000 else 7
        pairs = raters * (raters - 1) // 2
        heading(f"{count:,} ratings by {raters} raters: alpha, AC1, Fleiss, the three kappas of {pairs:,} pairs")
        spent[count] = fastest(lambda ratings=ratings: agreement(ratings), repeats)
        aims = {10_000: "≤ 50 ms", 1_000_000: "≤ 3 s"}
        figure("with intervals", str(spent[count]), aims.get(count, ""))
    figure("  peak memory of this process", f"{peak_mib():.0f} MiB", "≤ 1 GB")
    growth = spent[most].processor / spent[most // 10].processor
    shown = f"{spent[most].clock / spent[most // 10].clock:.1f} times as long ({growth:.1f} of processors)"
    figure(f"{most:,} against {most // 10:,}", shown, "≤ 12")
    return ratings


def measure_thin_pairs() -> None:
    ratings = make_ratings(10_000, 200)
    heading("10,000 ratings by 200 raters: pairs with a unit or two in common")
    figure("influence functions only", str(fastest(lambda: pairwise(ratings, interval="influence"), 5)))
    figure("jackknife", str(fastest(lambda: pairwise(ratings, rng=np.random.default_rng(SEED)), 1)))


def measure_against_scikit_learn(ratings: Ratings) -> None:
    pairs = pairwise(ratings, interval="none")
    step = max(1, len(pairs) // SAMPLED_PAIRS)
    sampled = pairs[::step]
    columns = [_common_values(ratings, pair.a, pair.b) for pair in sampled]

    def loop() -> list[list[float]]:
        return [
            [cohen_kappa_score(a, b, labels=range(len(LEVELS)), weights=how) for how in (None, "linear", "quadratic")]
            for a, b in columns
        ]

    theirs = fastest(loop, 2)
    ours = fastest(lambda: pairwise(ratings, interval="none"), 3)
    mine = [[pair.kappa.value, pair.linear.value, pair.quadratic.value] for pair in sampled]
    assert np.allclose(loop(), np.array(mine, dtype=float))
    heading(f"the three kappas of {len(pairs):,} pairs without intervals, and percent agreement")
    figure("pairwise()", str(ours))
    share = len(pairs) / len(sampled)
    figure("cohen_kappa_score in a loop", f"{theirs.clock * share:.1f} s ({len(sampled)} pairs timed)")
    figure("the loop takes", f"{theirs.clock * share / ours.clock:.0f} times as long", "≥ 50")


def _common_values(ratings: Ratings, a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
    both = ratings.select_raters([a, b])
    common = np.flatnonzero(both.unit[1:] == both.unit[:-1])
    return both.value[common], both.value[common + 1]


def measure_sweep(count: int = 1_000_000) -> None:
    rng = np.random.default_rng(SEED)
    score = rng.random(count)
    positive = score + rng.normal(0, 0.3, size=count) > 0.5
    heading(f"{count:,} different scores")
    sort = fastest(lambda: np.argsort(score), 7)
    found = fastest(lambda: sweep(score, positive), 7)
    figure("np.argsort", str(sort))
    figure("sweep: counts, kappa, the best", str(found))
    ratio = f"{found.clock / sort.clock:.1f} times as long ({found.processor / sort.processor:.1f} of processors)"
    figure("sweep against argsort", ratio, "≤ 3")


def measure_bootstrap(clusters: int = 2_000) -> None:
    rng = np.random.default_rng(SEED)
    units = 3 * clusters
    a = rng.integers(len(LEVELS), size=units)
    b = np.where(rng.random(units) < 0.7, a, rng.integers(len(LEVELS), size=units))
    ratings = Ratings(
        unit=np.tile(np.arange(units), 2),
        rater=np.repeat([0, 1], units),
        value=np.concatenate([a, b]),
        cluster=np.tile(np.arange(units) // 3, 2),
        levels=LEVELS,
        scale="ordinal",
        raters=("a", "b"),
    )

    def both() -> None:
        cohen_kappa(ratings, "a", "b", interval="bootstrap", rng=rng)
        krippendorff_alpha(ratings, interval="bootstrap", rng=rng)

    heading(f"2,000 resamples of {clusters:,} clusters of 3 units")
    figure("kappa and alpha", str(fastest(both, 5)), "≤ 1 s")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--ratings", type=int, default=1_000_000)
    ratings = measure_agreement(parser.parse_args().ratings)
    measure_against_scikit_learn(ratings)
    measure_thin_pairs()
    measure_sweep()
    measure_bootstrap()


if __name__ == "__main__":
    main()
