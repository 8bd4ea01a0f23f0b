"""A judge is called as good as people only where enough of them labelled the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import Ratings, human_ceiling, level_of_look
from alignment.agreement.cohen import kappa_statistic
from alignment.base.tables import disagreement
from bench.promises import SEED, Promise, Row, at_least, at_most, percent, share

RUNS = 2000
PROMISE = Promise(
    4,
    "At the human ceiling",
    "The judge’s kappa is surely no more than 0.05 below a person’s.",
    "Three people label every sample, and are right in 90 % (99 %); the judge is right in 84 % (95 %), which is .117 "
    "(.080) below. *No worse*: the low end of the 95 % interval of the difference is above −0.05. *Before*: t times "
    "the error, from 10 samples on.",
)


def said(rng: np.random.Generator, units: int, people: float, judge: float) -> Ratings:
    truth = rng.integers(2, size=units)
    rights = (*[people] * 3, judge)
    values = [np.where(rng.random(units) < right, truth, 1 - truth) for right in rights]
    unit = np.tile(np.arange(units), 4)
    raters = ("ann", "bob", "cat", "judge")
    return Ratings(
        unit, np.repeat(np.arange(4), units), np.concatenate(values), unit, ("fail", "pass"), "binary", raters
    )


def true_difference(people: float, judge: float) -> float:
    """Kappa of the judge less a person's, with the two others where they agree; both verdicts are equally common."""

    def kappa(right: float) -> float:
        majority = people**2 / (people**2 + (1 - people) ** 2)
        agree = right * majority + (1 - right) * (1 - majority)
        return float(kappa_statistic(disagreement(2, None))(np.array([agree, 1 - agree, 1 - agree, agree])))

    return kappa(judge) - kappa(people)


def rows(runs: float) -> Iterator[Row]:
    worlds = max(50, round(RUNS * runs))
    # Before: 100 test samples of which few overlap; then t times the error by the jackknife.
    for units, before in ((10, "43 %"), (12, "34 %"), (15, "25 %"), (30, "2.6 %"), (100, "0.6 %")):
        rng = np.random.default_rng([SEED, 4, units])
        found = [human_ceiling(said(rng, units, 0.9, 0.84), "judge", interval="influence") for _ in range(worlds)]
        passed = sum(one.difference.low is not None and one.difference.low > -0.05 for one in found)
        world = f"{units} samples labelled by three; shown as no worse wrongly"
        yield Row(world, before, share(passed, worlds), "at most 5 %", at_most(passed, worlds, 0.05))
    level = level_of_look(10)
    for units, people, judge, before in (
        (30, 0.9, 0.84, "99.1 %"),
        (60, 0.9, 0.84, "99.7 %"),
        (150, 0.99, 0.95, "98.3 %"),
    ):
        rng, true, held = np.random.default_rng([SEED, 4, units, 1]), true_difference(people, judge), 0
        for _ in range(worlds):
            one = human_ceiling(said(rng, units, people, judge), "judge", interval="influence", level=level).difference
            held += one.low is None or one.high is None or one.low <= true <= one.high
        world = f"{units} samples, people right in {percent(people, 0)}; the interval at the tenth look held"
        yield Row(world, before, share(held, worlds), percent(level, 2), at_least(held, worlds, level))
