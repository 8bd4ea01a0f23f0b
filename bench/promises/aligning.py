"""Choosing among candidates on dev does not claim a gain where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import paired_at_thresholds, select
from alignment.base.arrays import Ints
from alignment.calibration.split import folds
from bench.promises import SEED, STATED, Promise, Row, at_most, percent, share

PROMISE = Promise(
    place=10,
    title="Whether aligning a judge helped",
    claim="Where no candidate is better than the judge that one started from, the inner figure of choosing among them "
    "says in 5 % of cases or less that it helped.",
    worlds="Groups of two units; the start errs on every fourth unit, and each candidate answers some units anew, as "
    "well as the start does. *Before*: the same figure with the interval of a difference that nobody chose, and in "
    "brackets the best candidate’s own kappa less the start’s, on the labels that it was chosen by. *Better*: "
    "candidates that mend a part of the start’s errors.",
)
#: Groups, candidates, folds, the share of units that each answers anew; how many are better, by what part of errors.
NOTHING = ((100, 5, 4, 0.3), (100, 20, 4, 0.3), (250, 20, 4, 0.3), (250, 20, 4, 0.1), (250, 20, 10, 0.5))
BETTER = ((100, 20, 4, 0.3, 3, 0.3), (250, 20, 4, 0.3, 1, 0.2), (250, 20, 4, 0.3, 3, 0.3))


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(1000 * runs))
    for number, (groups, candidates, count, anew) in enumerate(NOTHING):
        rng = np.random.default_rng([SEED, number])
        plain = claimed = 0
        best: list[float] = []
        for _ in range(worlds):
            people, said, cluster, fold = world(rng, groups, candidates, count, anew)
            found = select(people, said, cluster, fold, 2, rng)
            claimed += is_above_0(found.gain.low)
            plain += is_above_0(naive_low(people, said, fold, cluster, found.of_folds))
            best.append(found.choice.kappa[found.choice.best] - found.choice.kappa[0])
        before = f"{percent(plain / worlds)} ({np.mean(best):+.2f})"
        name = f"{groups} groups, {candidates} candidates, {count} folds, {percent(anew, 0)} anew"
        yield Row(name, before, share(claimed, worlds), "at most 5 %", at_most(claimed, worlds, 0.05))
    for number, (groups, candidates, count, anew, better, mended) in enumerate(BETTER):
        rng = np.random.default_rng([SEED, 50 + number])
        helped = 0
        for _ in range(worlds):
            helped += is_above_0(select(*world(rng, groups, candidates, count, anew, better, mended), 2, rng).gain.low)
        name = f"{groups} groups, {better} of {candidates} better by {percent(mended, 0)} of the errors"
        yield Row(name, "", share(helped, worlds), STATED, kept=True)


def is_above_0(low: float | None) -> bool:
    return low is not None and low > 0


def world(
    rng: np.random.Generator,
    groups: int,
    candidates: int,
    count: int,
    anew: float,
    better: int = 0,
    mended: float = 0.0,
) -> tuple[Ints, Ints, Ints, Ints]:
    """People's answers, those of the start and the candidates, groups, and folds."""
    cluster = np.repeat(np.arange(groups), 2)
    people = (rng.random(cluster.size) < 0.7).astype(np.int64)

    def answers() -> Ints:
        return np.where(rng.random(cluster.size) < 0.75, people, 1 - people)

    start = answers()
    said = [start]
    for place in range(candidates):
        one = np.where(rng.random(cluster.size) < anew, answers(), start)
        said.append(np.where(rng.random(cluster.size) < mended, people, one) if place < better else one)
    return people, np.array(said), cluster, folds(range(groups), [True] * groups, count, rng)[cluster]


def naive_low(people: Ints, said: Ints, fold: Ints, cluster: Ints, chosen: tuple[int, ...]) -> float | None:
    """Of the interval that takes the procedure's answers as those of one judge."""
    procedure = said[np.array(chosen)[fold], np.arange(people.size)]
    return paired_at_thresholds(
        said[0].astype(float), procedure.astype(float), people, cluster, (0.5, 0.5), interval="jackknife"
    ).kappa.low
