"""Twenty judges under new names, one ledger."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import Estimate, at_threshold, level_of_look
from bench.promises import SEED, Promise, Row, at_least, share

JUDGES = 20
PROMISE = Promise(
    place=3,
    title="Sides and looks last",
    claim="All intervals of the declared endpoint that were ever shown for a criterion hold in 95 of 100 projects, "
    "however many judges were looked at, under whatever names.",
    worlds=f"{JUDGES} judges that are right equally often are looked at once each, on the same test half. *Before*, "
    "each name had a ledger of its own, so that every look was a first one.",
)


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(1000 * runs))
    for samples, passed, right in ((100, 0.5, 0.85), (200, 0.5, 0.85), (200, 0.8, 0.9)):
        rng = np.random.default_rng([SEED, samples, round(100 * passed)])
        apart = together = 0
        for _ in range(worlds):
            human = rng.random(samples) < passed
            cells = [_verdicts(rng, human, right) for _ in range(JUDGES)]
            truth = _true_kappa(right, passed)
            apart += all(_holds(_kappa(human, one, 1), truth) for one in cells)
            together += all(_holds(_kappa(human, one, k), truth) for k, one in enumerate(cells, start=1))
        world = f"{samples} test samples, {passed:.0%} pass, judges right in {right:.0%}"
        kept = at_least(together, worlds, 0.95)
        yield Row(world, share(apart, worlds), share(together, worlds), "95 %", kept)


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
