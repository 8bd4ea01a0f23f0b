"""Twenty judges under new names, one ledger."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import Estimate, at_threshold, dev_test_split, level_of_look
from bench.promises import SEED, STATED, Promise, Row, at_least, percent, share

JUDGES = 20
PROMISE = Promise(
    place=3,
    title="Sides and looks last",
    claim="All intervals of the declared endpoint that were ever shown for a criterion hold in 95 of 100 projects, "
    "however many judges were looked at, under whatever names. What was dev once is never test.",
    worlds=f"{JUDGES} judges that are right equally often are looked at once each, on the same test half. *Before*, "
    "each name had a ledger of its own, so that every look was a first one. *A new version*: of 100 samples, a quarter "
    "of which pass, one label changes or one sample drops out. *Before*, each version drew its sides anew.",
)


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(2000 * runs))
    for samples, passed, right in ((100, 0.5, 0.85), (200, 0.5, 0.85), (200, 0.8, 0.9)):
        rng = np.random.default_rng([SEED, samples, round(100 * passed)])
        apart = together = 0
        for _ in range(worlds):
            human = rng.random(samples) < passed
            cells = [_verdicts(rng, human, right) for _ in range(JUDGES)]
            truth = _true_kappa(right, passed)
            apart += all(_holds(_kappa(human, one, 1), truth) for one in cells)
            together += all(_holds(_kappa(human, one, k), truth) for k, one in enumerate(cells, start=1))
        world = f"{samples} test samples, {percent(passed, 0)} pass, judges right in {percent(right, 0)}"
        kept = at_least(together, worlds, 0.95)
        yield Row(world, percent(apart / worlds), share(together, worlds), "95 %", kept)
    for change in ("one label changes", "a sample drops out"):
        was_dev = np.mean([_was_dev(SEED + seed, change) for seed in range(worlds)])
        # tests/judges/core/test_split.py: a side is stored, and read by all versions.
        yield Row(f"a new version, {change}: of its test half was dev", percent(float(was_dev)), "none", STATED, True)


def _was_dev(seed: int, change: str) -> float:
    """Of the test half of a version that draws its sides anew, the share that was dev in the version before."""
    rng = np.random.default_rng(seed)
    names, passes = np.arange(100).astype(str), rng.permutation(100) < 25
    before = dict(zip(names, dev_test_split(names.tolist(), passes.tolist(), seed), strict=True))
    if change == "one label changes":
        passes[0] ^= True
    else:
        names, passes = names[1:], passes[1:]
    after = dev_test_split(names.tolist(), passes.tolist(), seed)
    return float(np.mean([before[name] for name in names[~after]]))


def _verdicts(rng: np.random.Generator, human: np.ndarray, right: float) -> np.ndarray:
    return (human ^ (rng.random(human.size) >= right)).astype(float)


def _kappa(human: np.ndarray, verdict: np.ndarray, look: int) -> Estimate:
    level = level_of_look(look)
    return at_threshold(verdict, human, np.arange(human.size), 0.5, interval="jackknife", level=level).kappa


def _holds(kappa: Estimate, truth: float) -> bool:
    """One without an interval claims nothing."""
    return kappa.low is None or kappa.high is None or kappa.low <= truth <= kappa.high


def _true_kappa(right: float, passed: float) -> float:
    judge = passed * right + (1 - passed) * (1 - right)
    by_chance = passed * judge + (1 - passed) * (1 - judge)
    return (right - by_chance) / (1 - by_chance)
