"""A region bounds false passes and false fails, whatever the judge is worth and however errors come in bundles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from alignment import certified_region, distance_steps
from alignment.base.arrays import Bools, Floats, Ints
from bench.promises import SEED, Promise, Row, at_most, percent, share

PROMISE = Promise(
    place=8,
    title="What a judge may decide alone",
    claim="Of what people fail in a certified region the judge passes at most 10 %, and of what they pass it fails at "
    "most 10 %, as means over groups, in 95 of 100 regions. Where another risk or certainty is asked for, that one.",
    worlds="A *worthless* judge and people pass 96 % each, at random. A *flat* one passes a little more than is "
    "allowed of what people fail (10.02 % where 10 % is), at every distance from the threshold, and is right else: any "
    "region of it is wrong to certify. Decisions are alone (*single*); of five in a group the luck is shared by half "
    "(*five*) or entirely (*copies*); *uneven* groups have 1 to 9, and the larger are worse; *lognormal* ones have 1 "
    "to 52, and only the largest 30 % err, each wrong or right as a whole; *drawn* are single ones, of which all that "
    "the judge fails are labelled and a fifth of what it passes. *Before*, a region bounded the share of all decisions "
    "that are wrong by 5 %: so often the worthless judge had one, and, with errors in the largest 3 % of lognormal "
    "groups, the bound missed.",
)
#: Of the worthless judge, by the number of groups on test: what commit d8b7acf certified in 100 worlds each.
BEFORE = {300: "5 %", 1000: "9 %", 3000: "20 %"}
#: Of lognormal groups: what the bound on all decisions missed.
MISSED = {100: "14 %", 300: "7 %", 1000: "7 %"}
SHAPES = ("single", "five", "copies", "uneven", "lognormal", "drawn")


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(1000 * runs))
    for groups, before in BEFORE.items():
        rng = np.random.default_rng([SEED, groups])
        found = sum(_worthless(rng, groups) for _ in range(worlds))
        world = f"worthless, {groups:,} groups"
        yield Row(world, before, share(found, worlds), "at most 5 %", at_most(found, worlds, 0.05))
    asked = [
        *(Region("flat", passed, 1000, shape) for passed in (0.5, 0.8) for shape in SHAPES),
        *(Region("flat", 0.5, groups, "lognormal") for groups in (100, 300)),
        *(
            Region("flat", 0.5, 1000, shape, risk, confidence)
            for risk, confidence in ((0.05, 0.95), (0.2, 0.95), (0.1, 0.9), (0.1, 0.99))
            for shape in ("single", "five", "drawn")
        ),
    ]
    for number, one in enumerate(asked):
        rng = np.random.default_rng([SEED, number])
        found = sum(certified(rng, one)[1] for _ in range(worlds))
        world = f"flat, {percent(one.passed, 0)} pass, {one.groups:,} groups, {one.shape}"
        if (one.risk, one.confidence) != (0.1, 0.95):
            world += f": {percent(one.risk, 0)} at {percent(one.confidence, 0)}"
        before = MISSED[one.groups] if one.shape == "lognormal" and one.passed == 0.5 else ""
        allowed = 1 - one.confidence
        kept = at_most(found, worlds, allowed)
        yield Row(world, before, share(found, worlds), f"at most {percent(allowed, 0)}", kept)


def _worthless(rng: np.random.Generator, groups: int) -> bool:
    (dev, dev_human), (score, human) = ((rng.random(groups), rng.random(groups) < 0.96) for _ in range(2))
    steps = distance_steps(dev, dev_human, np.arange(groups), 0.04, groups)
    return certified_region(score, human, np.arange(groups), 0.04, steps).distance is not None


SLOPE = {"sharp": 2.0, "fair": 1.0, "blunt": 0.7}
FLAT = 1.002
#: Of the luck, the share that the decisions of a group have in common.
SHARED = {"five": 0.5, "copies": 1.0, "uneven": 0.5, "lognormal": 1.0}
#: Those that are alike as a whole lie at one distance.
TOGETHER = ("copies", "lognormal")
#: Sizes of groups, all equally frequent, and by what factor they err more.
SIZES = {
    "five": (np.full(1, 5), np.ones(1)),
    "copies": (np.full(1, 5), np.ones(1)),
    "uneven": (np.arange(1, 10), 0.5 + 0.1 * np.arange(1, 10)),
    "lognormal": (np.ceil(np.exp(1.2 * ndtri((np.arange(1000) + 0.5) / 1000))).astype(int), np.arange(1000) // 700),
}
ALONE = (np.ones(1, dtype=int), np.ones(1))
DISTANCES = np.linspace(0, 3, 301)


@dataclass(frozen=True, slots=True)
class Region:
    """A judge, the share that people pass, and how decisions lie in groups; distances are uniform from 0 to 3."""

    judge: str
    passed: float
    groups: int
    shape: str
    risk: float = 0.1
    confidence: float = 0.95

    def sizes(self) -> tuple[Ints, Floats]:
        sizes, worse = SIZES.get(self.shape, ALONE)
        return sizes, worse / worse.mean()

    def rate(self, distance: Floats) -> Floats:
        flat = np.full(distance.shape, FLAT * self.risk)
        return flat if self.judge == "flat" else ndtr(-SLOPE[self.judge] * distance)

    def drawn(self, rng: np.random.Generator) -> tuple[Floats, Bools, Ints, Floats]:
        """Score, people's verdict, group and the chance by which it was drawn; the threshold is 0."""
        sizes, worse = self.sizes()
        kind = rng.integers(sizes.size, size=self.groups)
        group = np.repeat(np.arange(self.groups), sizes[kind])
        distance = 3 * (rng.random(self.groups)[group] if self.shape in TOGETHER else rng.random(group.size))
        human = rng.random(group.size) < self.passed
        wrong = ndtr(luck(rng, group, SHARED.get(self.shape, 0.0))) < self.rate(distance) * worse[kind][group]
        if self.judge == "flat":
            wrong &= ~human
        chance = np.where(human ^ wrong, 0.2, 1.0) if self.shape == "drawn" else np.ones(group.size)
        known = rng.random(group.size) < chance
        score = np.where(human ^ wrong, distance, -distance)
        return score[known], human[known], group[known], chance[known]

    def true_risk(self) -> Floats:
        """The greater of both risks beyond each of ``DISTANCES``, as a mean over groups."""
        sizes, worse = self.sizes()
        rates = np.minimum(1, np.outer(self.rate(DISTANCES), worse))[::-1]
        beyond = (rates.cumsum(axis=0) / np.arange(1, DISTANCES.size + 1)[:, None])[::-1]
        near = 1.0 if self.shape in TOGETHER else (1 - DISTANCES / 3)[:, None]
        # Of a flat judge's decisions only those on what people fail are wrong.
        kinds = (1 - self.passed,) if self.judge == "flat" else (self.passed, 1 - self.passed)
        has = [1 - (1 - share * near) ** sizes + 1e-12 for share in kinds]
        return np.max([(one * beyond).sum(axis=1) / (one * np.ones_like(beyond)).sum(axis=1) for one in has], axis=0)


def certified(rng: np.random.Generator, asked: Region) -> tuple[float, bool]:
    """Of a world: the true share of decisions that lie in its region, and whether more is wrong there than allowed."""
    (*dev, dev_chance), (score, human, group, chance) = asked.drawn(rng), asked.drawn(rng)
    how = {"risk": asked.risk, "confidence": asked.confidence}
    steps = distance_steps(*dev, 0.0, np.unique(group).size, probability=dev_chance, **how)
    region = certified_region(score, human, group, 0.0, steps, probability=chance, **how)
    if region.distance is None:
        return 0.0, False
    risk = np.interp(region.distance, DISTANCES, asked.true_risk())
    # Distances are uniform.
    return max(0.0, 1 - region.distance / 3), bool(risk > asked.risk)


def luck(rng: np.random.Generator, cluster: Ints, shared: float) -> Floats:
    """Standard normal, of which samples share a part of the variance."""
    common = rng.normal(size=cluster.max() + 1)[cluster]
    return np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=cluster.size)
