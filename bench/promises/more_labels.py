"""“About n more drawn labels” settles it as often as is said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import Endpoint, Estimate, at_threshold, decision_on, level_of_look, plannable_from_estimate
from alignment.base.arrays import Floats
from bench.promises import SEED, Promise, Row, at_least, percent, share

PROMISE = Promise(
    10,
    "About n more labels",
    "So many more drawn labels settle, with a chance of 80 %, whether the judge reaches what is asked for.",
    "A judge of any kappa from .1 to .8 has a first look at some groups; where it can’t be told, as many labels are "
    "drawn as it asks for, and there is a second look, at its own level. *Before* the plan was for a half-width.",
)
RUNS, ENDPOINT = 9_000, Endpoint()
ALL = Estimate(1.0, 0.99, 1.0, n=100, clusters=100)


def kappa_of(cells: Floats, look: int) -> Estimate:
    """Of single units, by their cells [tn, fp, fn, tp]."""
    judge, people = np.repeat([0.0, 1.0, 0.0, 1.0], cells), np.repeat([0, 0, 1, 1], cells)
    plan = {"interval": "jackknife", "level": level_of_look(look)}
    return at_threshold(judge, people, np.arange(people.size), 0.5, **plan).kappa


def rows(runs: float) -> Iterator[Row]:
    rng = np.random.default_rng([SEED, 10])
    for groups in (60, 100, 300):
        asked = settled = before = counted = 0
        for kappa in rng.uniform(0.1, 0.8, round(RUNS * runs)):
            right = (1 + kappa) / 2
            chances = [right / 2, (1 - right) / 2, (1 - right) / 2, right / 2]
            cells = rng.multinomial(groups, chances)
            first = kappa_of(cells, 1)
            found = decision_on(ENDPOINT, first, ALL, next_level=level_of_look(2))
            if found.verdict != "cannot_tell" or first.value is None:
                continue
            plain = plannable_from_estimate(first).more_for(max(abs(first.value - ENDPOINT.bar), 0.025))
            if plain and plain < 20 * groups:
                counted += 1
                before += is_settled(cells + rng.multinomial(plain, chances))
            if found.more is not None:
                asked += 1
                settled += is_settled(cells + rng.multinomial(found.more, chances))
        yield Row(
            f"{groups} groups at the first look",
            percent(before / counted),
            share(settled, asked),
            "80 %, at least 75 %",
            at_least(settled, asked, 0.75),
        )


def is_settled(cells: Floats) -> bool:
    return decision_on(ENDPOINT, kappa_of(cells, 2), ALL).verdict != "cannot_tell"
