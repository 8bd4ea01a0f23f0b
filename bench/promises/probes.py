"""What bias probes say of a judge, in worlds of which the bias is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from alignment import ProbeEffect, probe_effect
from bench.promises import SEED, Promise, Row, at_least, at_most, share

WORLDS = 2000
PROBES = 7
PROMISE = Promise(
    place=18,
    title="Bias probes",
    claim="What a change does to a judge’s answers lies in its interval, for all seven probes of a test together in 95 "
    "of 100 tests; and a bias of more than 5 % is claimed where there is none as large in at most 5 of 100.",
    worlds="A judge passes each unit with a chance of its own, and answers each time anew: a *sure* one the same in "
    "nine of ten units, a *noisy* one the same in 70 %. Each of seven probes turns its answer *up* to a pass, or "
    "*down* to a fail, in so many of the units. *Of five*: groups of five units with one chance, which a probe turns "
    "together. *Claimed*: an effect beyond 5 % that the probe doesn’t have; *found*: one that it has.",
)


@dataclass(frozen=True, slots=True)
class World:
    groups: int
    size: int
    noisy: bool
    up: float
    down: float

    @property
    def title(self) -> str:
        bias = "no bias" if not self.up and not self.down else f"up {self.up:.0%}, down {self.down:.0%}"
        kind = "noisy" if self.noisy else "sure"
        return f"{bias}, {kind}, {self.groups} groups{' of five' if self.size > 1 else ''}"


def world(rng: np.random.Generator, of: World) -> tuple[list[ProbeEffect], list[float], list[float]]:
    """The effects of all probes, and what they truly are in the population that the groups are drawn from."""
    group = np.repeat(np.arange(of.groups), of.size)
    chance = _chances(rng, of.groups, of.noisy)[group]
    clean, again = rng.random(chance.size) < chance, rng.random(chance.size) < chance
    found = []
    for _ in range(PROBES):
        said = rng.random(chance.size) < chance
        # What the probe does to a group's units hangs together, as their chances do.
        moved = rng.random(of.groups)[group]
        changed = np.where(moved < of.up, True, np.where(moved > 1 - of.down, False, said))
        gain = changed.astype(float) - clean
        level = 1 - 0.05 / (2 * PROBES)
        found.append(
            probe_effect((changed != clean).astype(float), (again != clean).astype(float), gain, group, level=level)
        )
    return found, *_truth(of)


def _chances(rng: np.random.Generator, groups: int, noisy: bool) -> np.ndarray:
    if noisy:
        return rng.beta(1.0, 0.7, groups)
    return np.where(rng.random(groups) < 0.9, (rng.random(groups) < 0.6).astype(float), 0.5)


def _truth(of: World) -> tuple[float, float]:
    """Effect and excess."""
    p, pq = _moments(of.noisy)
    up, down = of.up, of.down
    flips = up * (1 - p) + down * p + (1 - up - down) * 2 * pq
    return up * (1 - p) - down * p, flips - 2 * pq


def _moments(noisy: bool) -> tuple[float, float]:
    """The mean of the chances, and of chance times the rest."""
    if not noisy:
        return 0.9 * 0.6 + 0.05, 0.1 * 0.25
    a, b = 1.0, 0.7
    return a / (a + b), a * b / ((a + b) * (a + b + 1))


def rows(runs: float) -> Iterator[Row]:
    worlds = max(40, round(WORLDS * runs))
    for of in (
        World(150, 1, False, 0.0, 0.0),
        World(150, 1, True, 0.0, 0.0),
        World(40, 1, False, 0.0, 0.0),
        World(150, 1, False, 0.12, 0.0),
        World(150, 1, True, 0.5, 0.0),
        World(150, 1, False, 0.0, 0.3),
        World(150, 1, False, 0.1, 0.1),
        World(150, 5, True, 0.15, 0.05),
        World(40, 5, False, 0.6, 0.0),
    ):
        rng = np.random.default_rng([SEED, 18, of.groups, of.size, of.noisy, round(100 * of.up), round(100 * of.down)])
        held = wrong = told = 0
        for _ in range(worlds):
            found, effect, excess = world(rng, of)
            held += all(_holds(one, effect, excess) for one in found)
            wrong += any(_is_wrong(one, effect, excess) for one in found)
            told += sum(one.verdict in ("more", "less", "otherwise") for one in found)
        kept = at_least(held, worlds, 0.95) and at_most(wrong, worlds, 0.05)
        after = f"all held in {share(held, worlds)}, claimed in {wrong / worlds:.1%}".replace("%", " %").replace(
            "  ", " "
        )
        must = "95 %, claimed wrongly in at most 5 %"
        if abs(effect) > 0.05:
            after += f"; found {told / worlds / PROBES:.0%}".replace("%", " %")
        yield Row(of.title.replace("%", " %"), "", after, must, kept)


def _holds(one: ProbeEffect, effect: float, excess: float) -> bool:
    pairs = ((one.effect, effect), (one.excess, excess))
    return all(
        each is None or each.low is None or each.high is None or each.low <= truth <= each.high for each, truth in pairs
    )


def _is_wrong(one: ProbeEffect, effect: float, excess: float) -> bool:
    beyond = {"more": effect > 0.05, "less": effect < -0.05, "otherwise": excess > 0.05}
    return not beyond.get(one.verdict, True)
