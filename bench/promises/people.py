"""People of different strictness: does the interval of the share that passes hold over people, too?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from alignment.agreement.people_like_these import share_by_people_like_these
from alignment.base.arrays import Ints
from alignment.base.estimate import Estimate
from alignment.judging.weighted import weighted_mean
from bench.promises import SEED, STATED, Promise, Row, at_least, percent, share

PASSES = 0.8  # how far above the bar a sample is on average, in units of one label's own noise
SAMPLES_DIFFER = 1.0
FEW = 0.2


class Labels(NamedTuple):
    """Arrays of shape (labels,), and what share these people, and people like them, would pass of all."""

    passes: Ints
    person: Ints
    sample: Ints
    these: float
    like_these: float


def labels_of(
    rng: np.random.Generator, *, people: int, samples: int, each: int, differ: float, few: bool = False
) -> Labels:
    """A person passes a sample that is better than the person is strict, within a label's noise; all are normal.

    Each sample goes to ``each`` people, in turns; ``differ``: how much people differ in strictness. ``few``: one in
    five is stricter by 2.5 of that than the others, who are alike."""
    strict = differ * (np.where(rng.random(people) < FEW, 2.0, -0.5) if few else rng.normal(0, 1, people))
    turns = (
        rng.permutation(samples * each) % people
        if each == 1
        else np.concatenate([rng.permutation(people)[:each] for _ in range(samples)])
    )
    sample = np.repeat(np.arange(samples), each)
    good = rng.normal(PASSES, SAMPLES_DIFFER, samples)
    passes = (good[sample] - strict[turns] + rng.normal(0, 1, sample.size) > 0).astype(np.int64)
    apart = 1 + SAMPLES_DIFFER**2
    own = norm.cdf((PASSES - strict) / apart**0.5)
    like_these = float(norm.cdf(PASSES / (apart + differ**2) ** 0.5))
    if few:
        some, most = norm.cdf((PASSES - differ * np.array([2.0, -0.5])) / apart**0.5)
        like_these = float(FEW * some + (1 - FEW) * most)
    return Labels(passes, turns, sample, float(own.mean()), like_these)


def intervals(labels: Labels) -> tuple[Estimate, Estimate]:
    """Over samples alone, and over people too."""
    alike = np.ones(labels.passes.size), np.zeros(labels.passes.size, np.int64)
    over_samples = weighted_mean(labels.passes, labels.sample, *alike, bounds=(0.0, 1.0))
    return over_samples, share_by_people_like_these(labels.passes, labels.person, labels.sample).share


def holds(found: Estimate, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def held(rng: np.random.Generator, **world: float) -> tuple[bool, bool, bool, float]:
    """Whether the interval over samples holds the share of people like these (before) and of these people, and the one
    over people too that of people like these; and how wide this is."""
    labels = labels_of(rng, **world)  # type: ignore[arg-type]
    over_samples, over_people = intervals(labels)
    width = 1.0 if over_people.low is None or over_people.high is None else over_people.high - over_people.low
    return (
        holds(over_samples, labels.like_these),
        holds(over_samples, labels.these),
        holds(over_people, labels.like_these),
        width,
    )


PROMISE = Promise(
    place=14,
    title="People vary",
    claim="The share that passes for people like these holds over people and samples; for these people, over samples.",
    worlds="Each sample goes to one person, in turns, or to two or all of them. People’s strictness is normal. "
    "Moderate: of four, the most lenient passes some 80 %, the strictest 60 %; great: 90 and 45 %. "
    "*A few*: one in five is much stricter than the others, which four people can’t know; we do not promise it. "
    "*Before*: the interval over samples, read as one of what people like these pass.",
)


def rows(runs: float) -> Iterator[Row]:
    rng = np.random.default_rng([SEED, 14])
    for differ, named in ((0.4, "moderate"), (1.0, "great"), (0.0, "none")):
        for people, samples, each in ((4, 200, 1), (4, 200, 2), (4, 100, 4), (6, 300, 1), (10, 400, 1), (4, 1000, 1)):
            count = round(2000 * runs)
            found = [held(rng, people=people, samples=samples, each=each, differ=differ) for _ in range(count)]
            before, these, like_these = (sum(row[at] for row in found) for at in range(3))
            wide = np.mean([row[3] for row in found])
            world = f"{people} people, {samples} samples, {each} label{'s' * (each > 1)} each, difference {named}"
            yield Row(
                f"{world}: like these (mean width {wide:.2f})",
                percent(before / count),
                share(like_these, count),
                "95 % or more",
                at_least(like_these, count, 0.95),
            )
            yield Row(f"{world}: these", "", share(these, count), "95 % or more", at_least(these, count, 0.95))
    for people in (4, 8):
        count = round(2000 * runs)
        found = [held(rng, people=people, samples=200, each=1, differ=1.0, few=True) for _ in range(count)]
        before, _, like_these = (sum(row[at] for row in found) for at in range(3))
        world = f"{people} people, a few much stricter: like these"
        yield Row(world, percent(before / count), share(like_these, count), STATED, True)
