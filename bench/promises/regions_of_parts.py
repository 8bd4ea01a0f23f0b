"""Regions where what was drawn is not alike: groups of which a part was drawn, samples that hardly ever come."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import certified_region, distance_steps
from alignment.base.arrays import Bools, Floats
from alignment.report import (
    Chance,
    Criterion,
    Evidence,
    Judged,
    JudgeScores,
    Option,
    UnitKey,
    reference_of,
    region_on_test,
)
from bench.promises import SEED, Promise, Row, at_most, percent, share

PROMISE = Promise(
    place=8,
    title="A region is of groups, however samples were drawn",
    claim="A certified region keeps its bounds where single samples of groups were drawn, and where some samples are "
    "drawn so seldom that none of them came.",
    worlds="*Parts*: half of the groups have one answer, half have eight. A judge passes 20.2 % of the bad answers "
    "that are alone and none of the others, so 10.1 % as a mean over groups. One sample in five is drawn. *Rare*: the "
    "judge passes all of a sort that is 10.7 % of the bad answers; one in fifty of these is labelled, half of the "
    "others. *Before*, a group counted by its samples’ chance, and chances that did not occur on test did not count.",
)
RARELY = 0.02
ASKED = Criterion("ok", 1, "OK", "answer", "binary", "Right?", (Option(True, "Yes"), Option(False, "No")), (True,))


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(1000 * runs))
    rng = np.random.default_rng([SEED, 84])
    found = [_parts(rng) for _ in range(worlds)]
    before, after = (sum(column) for column in zip(*found, strict=True))
    yield Row(
        "parts of groups", percent(before / worlds), share(after, worlds), "at most 5 %", at_most(after, worlds, 0.05)
    )
    rng = np.random.default_rng([SEED, 85])
    found = [_rare(rng) for _ in range(worlds)]
    before, after = (sum(column) for column in zip(*found, strict=True))
    yield Row("rare", percent(before / worlds), share(after, worlds), "at most 5 %", at_most(after, worlds, 0.05))


def _parts(rng: np.random.Generator, size: int = 8, groups: int = 800) -> tuple[bool, bool]:
    """Whether a region is certified by counting the drawn as they come, and by the product's rule."""
    sizes = np.where(np.arange(2 * groups) % 2, 1, size)
    group = np.repeat(np.arange(2 * groups), sizes)
    passed = (rng.random(2 * groups) < 0.5)[group]
    says = passed | ((rng.random(group.size) < 0.202) & (sizes[group] == 1))
    score = np.where(says, 1, -1) * (1 + rng.random(group.size))
    drawn, is_dev = rng.random(group.size) < 0.2, group // 2 % 2 == 0
    dev, test = ((score[at], passed[at], group[at]) for at in (drawn & is_dev, drawn & ~is_dev))
    steps = distance_steps(*dev, 0.0, np.unique(test[2]).size)
    plain = certified_region(*test, 0.0, steps).distance is not None
    names = [f"s{place}" for place in range(group.size)]
    labels: dict[UnitKey, bool] = {
        (name, "answer"): value for name, value, one in zip(names, passed.tolist(), drawn, strict=True) if one
    }
    scores = {(name, "answer"): one for name, one in zip(names, score.tolist(), strict=True)}
    evidence = Evidence(
        criterion=ASKED,
        seed=int(rng.integers(2**31)),
        units=list(labels),
        raters=["ann"] * len(labels),
        values=list(labels.values()),
        verdicts={},
        judges=[JudgeScores("j", "1", "ok", True, scores)],
        is_dev={name: bool(is_dev[int(name[1:])]) for name, _ in labels},
        chances={name: Chance(0.2, 1) for name, _ in labels},
        groups={name: f"g{one}" for name, one in zip(names, group.tolist(), strict=True)},
    )
    found = region_on_test(Judged(reference_of(evidence), evidence.judges[0]), 0.0)
    return plain, found["distance"] is not None


def _rare(rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether a region is certified by the chances that occur on test, and by the least of the design."""
    dev, test = _labelled(rng), _labelled(rng)
    return _certified(dev, test, 1.0), _certified(dev, test, RARELY)


def _labelled(rng: np.random.Generator) -> tuple[Floats, Bools, Floats]:
    """Score, people's verdict and chance of being labelled, of those who are: 560 good answers, 500 bad, 60 rare."""
    kind = np.repeat([0, 1, 2], [560, 500, 60])
    chance = np.array([0.5, 0.5, RARELY])[kind]
    known = rng.random(kind.size) < chance
    score = np.where(kind == 1, -1, 1) * (1 + rng.random(kind.size))
    return score[known], kind[known] == 0, chance[known]


def _certified(dev: tuple[Floats, Bools, Floats], test: tuple[Floats, Bools, Floats], least: float) -> bool:
    (score, passed, chance), (dev_score, dev_passed, dev_chance) = test, dev
    steps = distance_steps(
        dev_score, dev_passed, np.arange(dev_score.size), 0.0, score.size, probability=dev_chance, least=least
    )
    region = certified_region(score, passed, np.arange(score.size), 0.0, steps, probability=chance, least=least)
    return region.distance is not None
