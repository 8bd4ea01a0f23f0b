"""A region bounds false passes and false fails, whatever the judge is worth and however errors come in bundles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import certified_region, distance_steps
from bench.certainty import DISTANCES, Region
from bench.promises import SEED, Promise, Row, at_most, share

PROMISE = Promise(
    place=8,
    title="What a judge may decide alone",
    claim="Of what people fail in a certified region the judge passes at most 10 %, and of what they pass it fails at "
    "most 10 %, as means over groups, in 95 of 100 regions.",
    worlds="A *worthless* judge and people pass 96 % each, at random. A *flat* one passes 10.02 % of what people fail, "
    "at every distance from the threshold, as `bench.certainty` has it: decisions alone, five that are alike, large "
    "groups that err as a whole, and labels of all that the judge fails but a fifth of what it passes. *Before*, a "
    "region bounded the share of all decisions that are wrong by 5 %, and certified the worthless judge so often.",
)
#: Of the worthless judge, by the number of groups on test: what commit d8b7acf certified in 100 worlds each.
BEFORE = {300: "5 %", 1000: "9 %", 3000: "20 %"}


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(1000 * runs))
    for groups, before in BEFORE.items():
        rng = np.random.default_rng([SEED, groups])
        found = sum(_worthless(rng, groups) for _ in range(worlds))
        world = f"worthless, {groups:,} groups"
        yield Row(world, before, share(found, worlds), "at most 5 %", at_most(found, worlds, 0.05))
    for number, shape in enumerate(("single", "copies", "lognormal", "drawn")):
        rng = np.random.default_rng([SEED, number])
        asked = Region("flat", 0.5, 1000, shape)
        found = sum(_broken(rng, asked) for _ in range(worlds))
        yield Row(f"flat, 1,000 groups, {shape}", "", share(found, worlds), "at most 5 %", at_most(found, worlds, 0.05))


def _worthless(rng: np.random.Generator, groups: int) -> bool:
    (dev, dev_human), (score, human) = ((rng.random(groups), rng.random(groups) < 0.96) for _ in range(2))
    steps = distance_steps(dev, dev_human, np.arange(groups), 0.04, groups)
    return certified_region(score, human, np.arange(groups), 0.04, steps).distance is not None


def _broken(rng: np.random.Generator, asked: Region) -> bool:
    (*dev, dev_chance), (score, human, group, chance) = asked.drawn(rng), asked.drawn(rng)
    steps = distance_steps(*dev, 0.0, np.unique(group).size, probability=dev_chance)
    region = certified_region(score, human, group, 0.0, steps, probability=chance)
    return region.distance is not None and np.interp(region.distance, DISTANCES, asked.true_risk()) > asked.risk
