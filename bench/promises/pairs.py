"""Ten equally good judges: in how many reports is one shown to differ from another?"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from alignment import paired_at_thresholds
from alignment.base.arrays import Floats, Ints
from alignment.base.tables import kappa
from alignment.base.totals import Totals
from bench.promises import SEED, STATED, Promise, Row, at_most, percent, share


class World(NamedTuple):
    """Arrays of shape (claims,): pass and fail by people and by each judge, and the samples of the claims."""

    people: Ints
    judges: list[Ints]
    sample: Ints


def equal_judges(rng: np.random.Generator, *, samples: int, judges: int, worse: float = 0.0) -> World:
    """One to six claims of each sample, of which people pass 70 %. Judges err in 40 % of the hard claims, three of ten,
    and in 7 % of the others; the last one ``worse`` more often."""
    sample = np.repeat(np.arange(samples), rng.integers(1, 7, samples))
    people = (rng.random(sample.size) < 0.7).astype(np.int64)
    errs = np.where(rng.random(sample.size) < 0.3, 0.4, 0.07)
    more = np.zeros(judges)
    more[-1] = worse
    said = [np.where(rng.random(people.size) < errs + each, 1 - people, people) for each in more]
    return World(people, said, sample)


def compared(world: World, rng: np.random.Generator) -> tuple[bool, bool, bool]:
    """Whether any two judges differ by an interval for their pair alone (as before); whether one differs from the best,
    as reports show it; and whether the last does."""
    tables = [Totals.of(world.sample, 2 * world.people + said, np.ones(said.size), 4) for said in world.judges]
    kappas = np.array([float(kappa(table.sums())) for table in tables])
    alone = _each_for_itself(kappas, np.array([table.influence(kappa) for table in tables]))
    best, among = int(kappas.argmax()), comb(kappas.size, 2)
    shown = {}
    for other in range(kappas.size):
        if other != best:
            columns = world.judges[best], world.judges[other], world.people, world.sample
            found = paired_at_thresholds(*columns, (0.5, 0.5), rng=rng, among=among).kappa
            shown[other] = found.low is not None and found.high is not None and not found.low <= 0 <= found.high
    return alone, any(shown.values()), shown.get(kappas.size - 1, False)


def _each_for_itself(kappas: Floats, influence: Floats) -> bool:
    one, other = np.triu_indices(kappas.size, 1)
    error = np.sqrt(np.square(influence[other] - influence[one]).sum(axis=1))
    bound = t.ppf(0.975, influence.shape[1] - 1)
    return bool((np.abs(kappas[other] - kappas[one]) > bound * error).any())


PROMISE = Promise(
    place=11,
    title="Many judges beside each other",
    claim="Where judges are equally good, a report shows one to differ from the best in at most 5 % of cases.",
    worlds="One to six claims per sample, 70 % of them pass. Judges err in 40 % of the hard claims, which are three of "
    "ten, and in 7 % of the others. *Before*: any of all pairs, each with an interval for itself.",
)


def rows(runs: float) -> Iterator[Row]:
    rng = np.random.default_rng([SEED, PROMISE.place])
    for judges, samples, worlds in ((10, 30, 2000), (10, 100, 2000), (10, 400, 2000), (3, 100, 2000)):
        count = round(worlds * runs)
        found = [compared(equal_judges(rng, samples=samples, judges=judges), rng) for _ in range(count)]
        alone, shown, _ = (sum(column) for column in zip(*found, strict=True))
        kept = at_most(shown, count, 0.05)
        yield Row(
            f"{judges} equal judges, {samples} samples",
            percent(alone / count),
            share(shown, count),
            "at most 5 %",
            kept,
        )
    for worse in (0.05, 0.1):
        count = round(1000 * runs)
        found = [compared(equal_judges(rng, samples=200, judges=10, worse=worse), rng) for _ in range(count)]
        last = sum(row[-1] for row in found)
        world = f"one of ten errs {100 * worse:.0f} points more often, 200 samples: shown to differ from the best"
        yield Row(world, "", share(last, count), STATED, True)
