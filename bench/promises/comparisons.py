"""Versions of a system are compared rightly, by few labels and a judge that errs more on one version than the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from alignment import Estimate, Responses, VersionComparison, compare_versions, conclude, difference_sequence
from alignment.base.arrays import Bools, Floats, Ints
from alignment.base.interval import t_quantile
from bench.promises import SEED, STATED, Promise, Row, at_least, at_most, percent, share

RUNS = 2000
PROMISE = Promise(
    place=15,
    title="Comparing versions",
    claim="The 95 % interval of a corrected difference between two versions holds in 94 to 96 %, and in 94 % or more "
    "where few labels differ; that of a level in 94 % or more. While labels arrive, all intervals of the sequence hold "
    "at once in 95 %.",
    worlds="720 questions to two builds, whose answers are good in 48 % and 58.2 %, somewhat alike (correlation .3); "
    "people label both answers to 120 questions, drawn at random. The judge has TPR .90 on both, TNR .85 on A and .60 "
    "on B. *Before* is the judge’s raw difference, as it is printed elsewhere. *Width*: that of the corrected interval "
    "as a share of that of labels alone. *Groups*: questions in fours of one difficulty, drawn together. *Repeats*: "
    "each question three times, averaged. *One side*: A’s answers to 120 questions are labelled, and B’s to 60 of "
    "them. *Apart*: A’s to 120 questions, B’s to 120 others. *By chances*: 40 % of the questions where the judge fails "
    "an answer, 10 % of the rest. *Failures*: of 2 % of A’s requests and 6 % of B’s, all on the harder questions. "
    "*Undefined*: 5 and 15 % of answers, there too. *Unresolved*: labels that people differ on, more often of bad "
    "answers and twice as often of B’s. *Confused*: on 6 % of the questions A’s answer is good and B’s bad, and the "
    "judge says the opposite. *Mistakes*: the same worlds computed otherwise. *While labels arrive*, one looks after "
    "each; *before* is an ordinary interval of labels alone, looked at from the 20th on.",
)


@dataclass(frozen=True, slots=True)
class World:
    """Two versions, A and B, or more. ``how``: of what people's labels are."""

    questions: int = 720
    labelled: int = 120
    good: tuple[float, ...] = (0.48, 0.582)
    alike: float = 0.3
    tpr: float = 0.9
    tnr: tuple[float, ...] = (0.85, 0.6)
    group: int = 1
    repeats: int = 1
    how: str = "both"
    failing: tuple[float, ...] = (0.0,)
    undefined: tuple[float, ...] = (0.0,)
    disputed: float = 0.0
    confused: float = 0.0


@dataclass(frozen=True, eq=False, slots=True)
class Answers:
    """What became of a world: ``group`` of shape (questions,), ``good`` and what the judge ``said`` of shape (versions,
    repeats, questions), the rest (versions, questions)."""

    group: Ints
    good: Bools
    said: Bools
    failed: Bools
    undefined: Bools


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """The same with repeats averaged: ``group`` of shape (questions,), the rest (versions, questions)."""

    group: Ints
    value: Floats
    score: Floats
    there: Bools
    failed: Bools
    disputed: Bools


def answered(rng: np.random.Generator, world: World) -> Answers:
    groups = -(-world.questions // world.group)
    group = np.repeat(np.arange(groups), world.group)[: world.questions]
    common = rng.normal(size=groups)[group]
    shape = (len(world.good), world.repeats, world.questions)
    luck = np.sqrt(world.alike) * common + np.sqrt(1 - world.alike) * rng.normal(size=shape)
    good = luck < ndtri(np.array(world.good))[:, None, None]
    wrong_pass = rng.random(shape) >= np.array(world.tnr)[:, None, None]
    said = np.where(good, rng.random(shape) < world.tpr, wrong_pass)
    if world.confused:
        these = rng.random(world.questions) < world.confused
        good[:, :, these], said[:, :, these] = np.array([[[True]], [[False]]]), np.array([[[False]], [[True]]])
    # Twice the rate in the harder half, none in the easier.
    hard = 2 * (common > 0)

    def struck(rates: tuple[float, ...]) -> Bools:
        return rng.random(shape[::2]) < np.array(rates)[:, None] * hard

    return Answers(group, good, said, struck(world.failing), struck(world.undefined))


def drawn(rng: np.random.Generator, world: World) -> Drawn:
    found = answered(rng, world)
    value, score = (np.where(found.failed, 0.0, each.mean(axis=1)) for each in (found.good, found.said))
    rate = world.disputed * np.linspace(0.5, 1.0, len(world.good))[:, None] * np.where(value < 1, 2.0, 0.5)
    disputed = (rng.random(value.shape) < rate) & ~found.failed
    return Drawn(found.group, value, score, ~found.undefined, found.failed, disputed)


@lru_cache
def truth(world: World) -> tuple[float, ...]:
    """The levels of all versions, where need be of so many questions that luck is out of it."""
    if not any(world.failing + world.undefined):
        first, *others = ((1 - world.confused) * share for share in world.good)
        return first + world.confused, *others
    many = drawn(np.random.default_rng([SEED, 14]), replace(world, questions=2_000_000))
    return tuple(float(many.value[one][many.there[one]].mean()) for one in range(len(world.good)))


def labelled(rng: np.random.Generator, world: World, found: Drawn) -> tuple[Bools, Floats, Ints]:
    """Which answers are labelled, with which chance, and of which stratum; shape (2, questions)."""
    n, q = world.labelled, world.questions
    order = rng.permutation(int(found.group.max()) + 1)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    at, size, part = place[found.group], order.size, round(n / world.group)
    own_stratum = np.repeat([[0], [1]], q, axis=1)
    if world.how == "one side":
        asked = np.stack([at < part, at < part // 2])
        return asked, np.repeat([[part / size], [part // 2 / size]], q, axis=1), own_stratum
    if world.how == "apart":
        asked = np.stack([at < part, (part <= at) & (at < 2 * part)])
        return asked, np.full((2, q), part / size), own_stratum
    if world.how == "by chances":
        some = (found.score < 1).any(axis=0)
        asked, chance = np.zeros(q, np.bool_), np.zeros(q)
        for stratum, wanted in ((some, 0.4), (~some, 0.1)):
            among = np.flatnonzero(stratum)
            taken = rng.permutation(among)[: max(2, round(wanted * among.size))]
            asked[taken], chance[among] = True, taken.size / among.size
        return np.stack([asked] * 2), np.stack([chance] * 2), np.stack([some.astype(int)] * 2)
    return np.stack([at < part] * 2), np.full((2, q), part / size), np.zeros((2, q), int)


def responses(found: Drawn, how: tuple[Bools, Floats, Ints], kept: Bools | None = None) -> Responses:
    """As the product gives them; of answers that are ``kept``."""
    asked, chance, stratum = how
    there = (found.there if kept is None else found.there & kept).ravel()
    open_ends = [np.where(asked, np.where(found.disputed, end, found.value), np.nan) for end in (0.0, 1.0)]
    version = np.repeat([0, 1], found.group.size)
    columns = (version, np.tile(found.group, 2), found.score, *open_ends, chance, stratum)
    names = ("version", "group", "score", "least", "most", "probability", "stratum")
    return Responses.of(**{name: column.ravel()[there] for name, column in zip(names, columns, strict=True)})


def compared(rng: np.random.Generator, world: World) -> VersionComparison:
    found = drawn(rng, world)
    return compare_versions(responses(found, labelled(rng, world, found)), 2, rng=rng)


NOMINAL, AT_LEAST = "94 to 96 %", "94 % or more"
SECTION = World()
CONFUSED = World(tpr=1.0, tnr=(1.0, 1.0), labelled=30, confused=0.06)
WORLDS: tuple[tuple[str, World, str], ...] = (
    ("as above", SECTION, NOMINAL),
    ("60 of 120 questions labelled", World(questions=120, labelled=60), NOMINAL),
    ("groups of 4", World(group=4, labelled=240), NOMINAL),
    ("repeats", World(repeats=3), NOMINAL),
    ("one side", World(how="one side"), NOMINAL),
    ("apart", World(how="apart"), NOMINAL),
    ("by chances", World(how="by chances"), NOMINAL),
    ("failures", World(failing=(0.02, 0.06)), NOMINAL),
    ("undefined", World(undefined=(0.05, 0.15)), NOMINAL),
    ("a judge right in 98 %, 240 labelled", World(tpr=0.98, tnr=(0.98, 0.98), labelled=240), NOMINAL),
    ("a judge right in 98 %, 30 labelled", World(tpr=0.98, tnr=(0.98, 0.98), labelled=30), AT_LEAST),
    ("30 labelled", World(labelled=30), AT_LEAST),
    ("good in 97 % and 98.5 %, 60 labelled", World(good=(0.97, 0.985), labelled=60), AT_LEAST),
    ("good in 97 % and 98.5 %, by chances", World(good=(0.97, 0.985), how="by chances"), AT_LEAST),
    ("a judge that is right, but confused, 30 labelled", CONFUSED, AT_LEAST),
    ("unresolved, 2.5 % of labels", World(disputed=0.025), AT_LEAST),
    ("unresolved, 10 % of labels", World(disputed=0.1), AT_LEAST),
)


def rows(runs: float) -> Iterator[Row]:
    worlds = max(40, round(RUNS * runs))
    for number, (name, world, must) in enumerate(WORLDS):
        rng = np.random.default_rng([SEED, 14, number])
        yield from _held(name, world, [compared(rng, world) for _ in range(worlds)], must)
    for number, (name, world, wrong) in enumerate(MISTAKES):
        rng = np.random.default_rng([SEED, 14, 100 + number])
        found = [wrong(rng, world) for _ in range(worlds)]
        yield Row(f"mistake: {name}", "", _spelt(found, truth(world)), STATED, True)
    yield from _sequences(worlds)


def _spelt(found: list[Estimate], levels: tuple[float, ...]) -> str:
    apart = levels[1] - levels[0]
    held = sum(_holds(one, apart) for one in found)
    off = np.mean([one.value for one in found]) - apart
    width = np.mean([one.high - one.low for one in found])  # type: ignore[operator]
    return f"held in {share(held, len(found))}, off by {off:+.3f}, {width:.3f} wide"


def _holds(found: Estimate, true: float) -> bool:
    return found.low is not None and found.high is not None and bool(found.low <= true <= found.high)


def _held(name: str, world: World, found: list[VersionComparison], must: str) -> Iterator[Row]:
    levels, runs = truth(world), len(found)
    apart, figures = levels[1] - levels[0], [one.differences[0].figure for one in found]
    raw, held = (sum(_holds(getattr(one, way), apart) for one in figures) for way in ("raw", "corrected"))
    off_raw, off = (np.mean([getattr(one, way).value for one in figures]) - apart for way in ("raw", "corrected"))
    wide, alone = (np.mean([_width(getattr(one, way)) for one in figures]) for way in ("corrected", "people"))
    of_levels = sum(
        _holds(one.levels[version].figure.corrected, levels[version]) for one in found for version in (0, 1)
    )
    yield Row(
        f"{name}, truly {apart:+.3f}",
        f"held in {percent(raw / runs)}, off by {off_raw:+.3f}",
        f"held in {share(held, runs)}, off by {off:+.3f}, width {wide / alone:.2f}; levels in "
        f"{percent(of_levels / (2 * runs))}",
        must,
        at_least(held, runs, 0.94)
        and (must == AT_LEAST or at_most(held, runs, 0.96))
        and at_least(of_levels, 2 * runs, 0.94),
    )
    if world.disputed:
        differences = (one.differences[0] for one in found)
        told = (conclude(one.figure.corrected, margin=0.0, unresolved=one.unresolved) for one in differences)
        concluded = sum(one.reason is None for one in told)
        yield Row(f"{name}: concluded from", "", share(concluded, runs), STATED, True)


def _width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


# What goes wrong otherwise.


def without_disputes(rng: np.random.Generator, world: World) -> Estimate:
    """What people differ on is left out."""
    found = drawn(rng, world)
    asked, chance, stratum = labelled(rng, world, found)
    how = asked & ~found.disputed, chance, stratum
    return compare_versions(responses(found, how), 2, rng=rng).differences[0].figure.corrected


def tuned_on_them(rng: np.random.Generator, world: World) -> Estimate:
    """The judge learns from a third of the very labels that correct it, and says there what people said."""
    found = drawn(rng, world)
    how = labelled(rng, world, found)
    learnt = how[0] & (rng.random(how[0].shape) < 1 / 3)
    tuned = replace(found, score=np.where(learnt, found.value, found.score))
    return compare_versions(responses(tuned, how), 2, rng=rng).differences[0].figure.corrected


def variances_added(rng: np.random.Generator, world: World) -> Estimate:
    """As if the versions had been asked other questions."""
    found = drawn(rng, world)
    comparison = compare_versions(responses(found, labelled(rng, world, found)), 2, rng=rng)
    figure = comparison.differences[0].figure.corrected
    halves = [_width(one.figure.corrected) / 2 for one in comparison.levels]
    half = float(np.hypot(*halves))
    assert figure.value is not None
    return replace(figure, low=figure.value - half, high=figure.value + half)


def complete_cases(rng: np.random.Generator, world: World) -> Estimate:
    """Questions on which either request failed are left out."""
    found = drawn(rng, world)
    kept = np.stack([~found.failed.any(axis=0)] * 2)
    made = responses(found, labelled(rng, world, found), kept)
    return compare_versions(made, 2, rng=rng).differences[0].figure.corrected


MISTAKES: tuple[tuple[str, World, Callable[[np.random.Generator, World], Estimate]], ...] = (
    ("unresolved (10 %) left out", World(disputed=0.1), without_disputes),
    ("the judge tuned on these labels", SECTION, tuned_on_them),
    ("variances of levels added, answers more alike (.8)", World(alike=0.8), variances_added),
    ("complete cases, where 2 and 10 % fail", World(failing=(0.02, 0.1)), complete_cases),
)


# While labels arrive.


def _sequences(worlds: int) -> Iterator[Row]:
    for name, world, labels in (
        ("good in 58.2 % both", World(questions=300, good=(0.582, 0.582)), 300),
        ("good in 97 % both", World(questions=300, good=(0.97, 0.97)), 300),
    ):
        rng = np.random.default_rng([SEED, 14, 200, round(1000 * world.good[0])])
        found = [_followed(rng, world, labels) for _ in range(worlds)]
        ever, before = (sum(column) for column in zip(*found, strict=True))
        yield Row(
            f"while {labels} labels arrive, {name}: the truth was ever outside",
            percent(before / worlds),
            share(ever, worlds),
            "at most 5 %",
            at_most(ever, worlds, 0.05),
        )
    for gain in (0.1, 0.2):
        world = World(good=(0.48, 0.48 + gain))
        rng = np.random.default_rng([SEED, 14, 300, round(1000 * gain)])
        when = [_stops(rng, world) for _ in range(worlds)]
        chances = [f"{percent(sum(at <= by for at in when) / worlds, 0)} by {by}" for by in (120, 240, 480, 720)]
        yield Row(f"while 720 labels arrive, truly {gain:+.1f}: shown", "", ", ".join(chances), STATED, True)


def _differences(rng: np.random.Generator, world: World) -> tuple[Floats, Floats]:
    found = drawn(rng, world)
    return found.value[1] - found.value[0], found.score[1] - found.score[0]


def _followed(rng: np.random.Generator, world: World, labels: int) -> tuple[bool, bool]:
    """Whether the truth of these questions was ever outside; and outside t's interval, looked at from 20 labels on."""
    people, judge = _differences(rng, world)
    true = people.mean()
    found = difference_sequence(people[:labels], people[:labels], judge)
    count = np.arange(20, labels + 1)
    mean, squares = (each.cumsum()[19:labels] / count for each in (people, people**2))
    left = 1 - count / people.size
    error = np.sqrt(np.maximum(squares - mean**2, 0.0) / (count - 1) * left)
    t = np.array([t_quantile(n - 1, 0.95) for n in count.tolist()])
    plain = np.abs(mean - true) > t * error + 1e-9
    return bool(((found.low > true + 1e-9) | (found.high < true - 1e-9)).any()), bool(plain.any())


def _stops(rng: np.random.Generator, world: World) -> float:
    people, judge = _differences(rng, world)
    better = np.flatnonzero(difference_sequence(people, people, judge).low > 0)
    return float(better[0]) + 1 if better.size else np.inf
