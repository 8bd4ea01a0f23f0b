"""Of what two judges decide in a certified cascade, people say the same as often as was certified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from alignment import AGREEMENTS, NO_ANSWER, Cascade, TwoJudges, cascade_family, certified_cascades, level_of_look
from alignment.aligning.cascades import PEOPLE
from alignment.base.arrays import Bools, Floats, Ints
from bench.promises import SEED, STATED, Promise, Row, at_most, percent, share
from bench.promises.regions import ALONE, SHARED, SIZES, luck

PROMISE = Promise(
    place=9,
    title="What two judges may decide together",
    claim="Of what the judges of a certified cascade decide, people say the same in the certified share or more, as a "
    "mean over groups, in 95 of 100 looks: of all four shares together, and of all looks at the criterion.",
    worlds="A *flat* pair errs a little more often than the share allows, however sure it is (1.002 times): any "
    "cascade of it is wrong to certify for that share. A *rising* pair errs the more often, the less sure it is, so "
    "that each of the four shares is missed from some step on. Groups as in *What a judge may decide alone*. "
    "*Unsettled*: people settle 95 % of the units; the others count as errors. *Ten candidates*: ten pairs after each "
    "other, each made on a dev part of its own, are looked at on the same test part; *each at the first look’s level*: "
    "as if looks were counted by pair.",
)
GROUPS = 300
FLAT = 1.002
FRESH = 20_000


@dataclass(frozen=True, slots=True)
class Pair:
    """The chance to err from the surest to the least sure answer, of the cheap and of the dear judge."""

    cheap: tuple[float, float]
    dear: tuple[float, float]
    shape: str = "single"
    unsettled: float = 0.0

    def drawn(self, rng: np.random.Generator, groups: int) -> TwoJudges:
        sizes, worse = SIZES.get(self.shape, ALONE)
        kind = rng.integers(sizes.size, size=groups)
        group = np.repeat(np.arange(groups), sizes[kind])
        factor = (worse / worse.mean())[kind][group]
        people = (rng.random(group.size) < 0.7).astype(np.int64)
        settled = rng.random(group.size) >= self.unsettled
        cheap, cheap_sure = self._answers(rng, self.cheap, people, group, factor)
        dear, dear_sure = self._answers(rng, self.dear, people, group, factor)
        return TwoJudges.of(cheap, cheap_sure, dear, dear_sure, np.where(settled, people, NO_ANSWER), group)

    def _answers(
        self, rng: np.random.Generator, ends: tuple[float, float], people: Ints, group: Ints, factor: Floats
    ) -> tuple[Ints, Floats]:
        sure = rng.random(group.size)
        rate = (ends[1] + (ends[0] - ends[1]) * sure) * factor
        wrong = ndtr(luck(rng, group, SHARED.get(self.shape, 0.0))) < rate
        return np.where(wrong, 1 - people, people), sure


RISING = Pair((0.02, 0.45), (0.01, 0.35))


def flat(risk: float, shape: str) -> Pair:
    return Pair((FLAT * risk, FLAT * risk), (FLAT * risk, FLAT * risk), shape)


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(1000 * runs))
    asked = [(f"flat at {percent(1 - risk, 0)}, {shape}", flat(risk, shape)) for risk, shape in (
        (0.2, "single"), (0.1, "single"), (0.05, "single"), (0.2, "five"), (0.2, "copies"), (0.2, "uneven"),
        (0.2, "lognormal"),
    )]  # fmt: skip
    asked += [(f"rising, {shape}", Pair(RISING.cheap, RISING.dear, shape)) for shape in ("single", "five", "uneven")]
    asked.append(("rising, unsettled", Pair((0.0, 0.4), (0.0, 0.3), unsettled=0.05)))
    for number, (world, pair) in enumerate(asked):
        rng = np.random.default_rng([SEED, number])
        fresh = Truth(pair.drawn(rng, FRESH))
        found = sum(look(rng, pair, pair.drawn(rng, GROUPS), fresh, 1).is_wrong for _ in range(worlds))
        yield Row(world, "–", share(found, worlds), "at most 5 %", at_most(found, worlds, 0.05))
    for at_first, must in ((False, "at most 5 %"), (True, STATED)):
        rng, fresh = (
            np.random.default_rng([SEED, 99]),
            Truth(flat(0.2, "single").drawn(np.random.default_rng(SEED), FRESH)),
        )
        found = sum(ten(rng, fresh, at_first=at_first) for _ in range(worlds))
        world = "flat at 80 %, ten candidates" + (", each at the first look’s level" if at_first else "")
        yield Row(world, "", share(found, worlds), must, at_first or at_most(found, worlds, 0.05))
    rng = np.random.default_rng([SEED, 100])
    fresh = Truth(RISING.drawn(rng, FRESH))
    left = np.mean([look(rng, RISING, RISING.drawn(rng, GROUPS), fresh, 1).decided for _ in range(worlds)], axis=0)
    told = ", ".join(f"{percent(one, 0)} at {percent(aim, 0)}" for one, aim in zip(left, AGREEMENTS, strict=True))
    yield Row("rising, single: decided by the judges, on average", "", told, STATED, kept=True)


class Truth:
    """What a cascade comes to on many fresh groups of the same source."""

    def __init__(self, fresh: TwoJudges) -> None:
        self._fresh = fresh

    def disagreement(self, cascade: Cascade) -> float:
        decider = cascade.decider(self._fresh)
        return mean_share(self._fresh.disagrees(decider), decider != PEOPLE, self._fresh.cluster)


def mean_share(wrong: Bools, decided: Bools, cluster: Ints) -> float:
    n = np.bincount(cluster[decided])
    errors = np.bincount(cluster[decided], wrong[decided])
    return float((errors[n > 0] / n[n > 0]).mean()) if n.size else 0.0


@dataclass(frozen=True, slots=True)
class Look:
    is_wrong: bool
    decided: list[float]


def look(rng: np.random.Generator, pair: Pair, test: TwoJudges, truth: Truth, k: int) -> Look:
    """k: which look at the criterion it is."""
    confidence = level_of_look(k)
    family = cascade_family(pair.drawn(rng, GROUPS), GROUPS, confidence=confidence)
    found = certified_cascades(test, family, confidence=confidence)
    wrong = any(one.step and truth.disagreement(one.step.cascade) > 1 - one.agreement for one in found)
    return Look(wrong, [0.0 if one.step is None else 1 - one.step.shares[PEOPLE] for one in found])


def ten(rng: np.random.Generator, truth: Truth, *, at_first: bool) -> bool:
    """Whether any of ten pairs that are alike gets a wrong certificate; people label the test part once."""
    pair = flat(0.2, "single")
    tests = [pair.drawn(rng, GROUPS) for _ in range(10)]
    people = tests[0].people
    same = [
        TwoJudges(
            np.where(one.cheap == one.people, people, 1 - people), one.cheap_sure,
            np.where(one.dear == one.people, people, 1 - people), one.dear_sure, people, one.cluster,
        )
        for one in tests
    ]  # fmt: skip
    return any(look(rng, pair, test, truth, 1 if at_first else k).is_wrong for k, test in enumerate(same, start=1))
