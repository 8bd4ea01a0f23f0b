"""Intervals of shares hold near 1, and stay below it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import Estimate, corrected_rate, ppi_mean, weighted_mean
from bench.promises import SEED, Promise, Row, at_least, percent, share

RUNS = 2000
PROMISE = Promise(
    place=6,
    title="Pass rates near 1",
    claim="95 % intervals of a share of passes hold in 94 % of cases or more, and never go beyond 0 or 1; unless a "
    "few groups hold most of the units, or of what fails.",
    worlds="100 labels (of groups of 1 to 6 claims that repeat each other in half of the cases: 100 groups), and 1,000 "
    "answers that only a judge with TPR .95 and TNR .85 has seen. *Queue*: labels of all that a judge with TPR .93 and "
    "TNR .70 fails and of 20 % of what it passes. *Before*: PPI++ by t, and labels of the queue each alike, as "
    "measured then.",
)
FIGURES = ("labels alone", "clustered", "drawn", "PPI++", "corrected")


def figures(rng: np.random.Generator, passes: float) -> dict[str, Estimate]:
    def answers(size: int) -> tuple[np.ndarray, np.ndarray]:
        human = rng.random(size) < passes
        return human, np.where(human, rng.random(size) < 0.95, rng.random(size) >= 0.85)

    (human, judge), (_, others) = answers(100), answers(1000)
    at, beyond, alike = np.arange(100), 100 + np.arange(1000), (np.ones(100), np.zeros(100, dtype=int))
    size = rng.integers(1, 7, 100)
    group = np.repeat(at, size)
    of_group = human[group]
    claims = np.where(rng.random(group.size) < 0.5, of_group, rng.random(group.size) < passes)
    ones, zeros = np.ones(group.size), np.zeros(group.size, dtype=int)
    pool, said = answers(500)
    passed = np.flatnonzero(said)
    some = rng.permutation(passed)[: round(passed.size / 5)]
    drawn = np.append(np.flatnonzero(~said), some)
    chance = np.where(said[drawn], some.size / passed.size, 1.0)
    bounds = (0.0, 1.0)
    given = judge.astype(float), at, others.astype(float), beyond
    return {
        "labels alone": weighted_mean(human, at, *alike, bounds=bounds),
        "clustered": weighted_mean(claims, group, ones, zeros, bounds=bounds),
        "drawn": weighted_mean(pool[drawn], drawn, chance, said[drawn].astype(int), bounds=bounds),
        "PPI++": ppi_mean(human.astype(float), *given, bounds=bounds, interval="jackknife").tuned,
        "corrected": corrected_rate(judge, human, at, others, beyond, interval="jackknife").rate,
    }


def after_the_queue(rng: np.random.Generator, size: int) -> Estimate:
    """The corrected rate of 1,000 answers, by labels of all that the judge fails of others and a fifth of the rest."""

    def answers(count: int) -> tuple[np.ndarray, np.ndarray]:
        human = rng.random(count) < 0.85
        return human, np.where(human, rng.random(count) < 0.93, rng.random(count) >= 0.7)

    (human, said), (_, others) = answers(size), answers(1000)
    passed = np.flatnonzero(said)
    some = rng.permutation(passed)[: round(passed.size / 5)]
    at = np.append(np.flatnonzero(~said), some)
    chance = np.where(said[at], some.size / passed.size, 1.0)
    given = said[at], human[at], at, others, size + np.arange(1000)
    return corrected_rate(*given, probability=chance, stratum=said[at], interval="jackknife").rate


#: Labels, other answers, share that passes, TPR and TNR of a judge that is hardly ever wrong, and what was before.
GOOD_JUDGES = (
    (20, 1000, 0.85, 1.0, 0.8, "67 %"),
    (30, 10000, 0.5, 0.97, 1.0, "55 %"),
    (100, 20000, 0.97, 1.0, 0.8, "63 %"),
)


def by_a_good_judge(
    rng: np.random.Generator, labels: int, others: int, passes: float, tpr: float, tnr: float
) -> Estimate:
    """PPI++ of few labels and many answers."""
    human = rng.random(labels + others) < passes
    said = np.where(human, rng.random(human.size) < tpr, rng.random(human.size) >= tnr).astype(float)
    at = np.arange(human.size)
    given = human[:labels].astype(float), said[:labels], at[:labels], said[labels:], at[labels:]
    return ppi_mean(*given, bounds=(0.0, 1.0), interval="jackknife").tuned


def rows(runs: float) -> Iterator[Row]:
    worlds = max(40, round(RUNS * runs))
    for passes, before in ((0.7, ""), (0.95, "88 %"), (0.97, "80 %"), (0.98, "86 %")):
        rng = np.random.default_rng([SEED, 6, round(100 * passes)])
        found = [figures(rng, passes) for _ in range(worlds)]
        for name in FIGURES:
            earlier = before if name == "PPI++" else ""
            yield _row(f"{name}, {passes} pass", earlier, [one[name] for one in found], passes)
    for size, before in ((1000, "0.0 %"), (300, "")):
        rng = np.random.default_rng([SEED, 6, size])
        rates = [after_the_queue(rng, size) for _ in range(worlds)]
        yield _row(f"corrected, after the outcome queue of {size:,} answers, 0.85 pass", before, rates, 0.85)
    for labels, others, passes, tpr, tnr, before in GOOD_JUDGES:
        rng = np.random.default_rng([SEED, 6, labels, others])
        means = [by_a_good_judge(rng, labels, others, passes, tpr, tnr) for _ in range(worlds)]
        world = f"PPI++, {labels} labels, {others:,} answers, TPR {tpr}, TNR {tnr}, {passes} pass"
        yield _row(world, before, means, passes)


def _row(world: str, before: str, found: list[Estimate], truth: float) -> Row:
    there = [one for one in found if one.low is not None and one.high is not None]
    held = sum(one.low <= truth <= one.high for one in there)  # type: ignore[operator]
    beyond = any(one.low < 0 or one.high > 1 for one in there)  # type: ignore[operator]
    none = len(found) - len(there)
    after = f"{share(held, len(there)) if there else '–'}{f', none in {percent(none / len(found))}' if none else ''}"
    return Row(world, before, after, "94 %, within 0 and 1", not beyond and at_least(held, len(there), 0.94))
