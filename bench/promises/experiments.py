"""An experiment says better, not worse or worse as often as it may, of several versions, metrics and guards at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alignment import Asked, Measured, Quality, Rule, experiment_figures
from alignment.base.arrays import Bools, Floats
from bench.promises import SEED, STATED, Promise, Row, at_least, at_most, percent, share
from bench.promises.comparisons import World, answered, truth

RUNS = 2000
MARGIN = 0.1
PROMISE = Promise(
    place=16,
    title="Experiments",
    claim="All differences from the baseline lie within their 95 % intervals at once in 95 %, and within those of "
    "their sequences. A version that is no better is called *better* in 2.5 %, one that is worse by the margin *not "
    "worse* in 2.5 %, however many guards and versions there are.",
    worlds="360 questions in threes, drawn together; the judge is right in 90 % where people pass an answer, and in "
    "85, 60 and 75 % where they fail A’s, B’s and C’s. Groups go out to people in a drawn order, 40 of 120 in the end. "
    "All is worked out from columns as the product does it, with repeats averaged and failed requests as fails. "
    "*Before* is the judge’s raw difference. *Margin*: .10, of guards .05. *Looked at*: after every five groups; "
    "*before* is there the ordinary interval, held to the same at each look.",
)


@dataclass(frozen=True, eq=False, slots=True)
class Columns:
    """An experiment's, with all that people would say: ``value`` of shape (responses,)."""

    asked: Asked
    value: Floats
    score: Floats
    undefined: Bools

    @classmethod
    def of(cls, rng: np.random.Generator, world: World) -> Columns:
        """Groups are numbered in the order in which they are drawn, which says nothing of their answers."""
        found = answered(rng, world)
        versions, repeats, questions = found.good.shape
        shape = versions, repeats, questions
        failed = np.broadcast_to(found.failed[:, None], shape).ravel()
        undefined = np.broadcast_to(found.undefined[:, None], shape).ravel() & ~failed
        groups = int(found.group.max()) + 1
        asked = Asked(
            versions=["A", "B", "C"][:versions],
            baseline=0,
            version=np.repeat(np.arange(versions), repeats * questions).tolist(),
            question=np.tile(np.arange(questions), versions * repeats).tolist(),
            failed=failed.tolist(),
            abstained=[False] * failed.size,
            group=found.group.tolist(),
            unanswerable=[False] * questions,
            drawn=[False] * groups,
            closed=[False] * groups,
        )
        known = ~failed & ~undefined
        value, score = (np.where(known, each.ravel().astype(float), np.nan) for each in (found.good, found.said))
        return cls(asked, value, score, undefined)

    def figures(self, groups: int, rule: Rule, *more: Measured) -> dict[str, Any]:
        """Once people have labelled the answers to so many groups."""
        asked = self.asked
        of_row = np.asarray(asked.group)[np.asarray(asked.question)]
        said = np.where(of_row < groups, self.value, np.nan)
        quality = Quality(
            name="good",
            title="Good",
            score=self.score.tolist(),
            least=said.tolist(),
            most=said.tolist(),
            labelled=(~np.isnan(said)).tolist(),
            undefined=self.undefined.tolist(),
        )
        drawn = [place < groups for place in range(len(asked.drawn))]
        now = replace(asked, drawn=drawn)
        return experiment_figures(now, [quality, *more], rule, seed=SEED)


# Figures that hold together

THREE = World(questions=360, group=3, good=(0.5, 0.58, 0.55), tnr=(0.85, 0.6, 0.75))
GROUPS, LOOKS = 40, range(5, 41, 5)
TOGETHER: tuple[tuple[str, World], ...] = (
    ("three versions", THREE),
    ("two repeats", replace(THREE, repeats=2)),
    ("2, 6 and 4 % of requests fail", replace(THREE, failing=(0.02, 0.06, 0.04))),
    ("5, 15 and 10 % undefined", replace(THREE, undefined=(0.05, 0.15, 0.1))),
    (
        "all of that at once",
        replace(THREE, repeats=2, failing=(0.02, 0.06, 0.04), undefined=(0.05, 0.15, 0.1)),
    ),
)


def rows(runs: float) -> Iterator[Row]:
    worlds = max(40, round(RUNS * runs))
    for number, (name, world) in enumerate(TOGETHER):
        yield _together(name, world, worlds, np.random.default_rng([SEED, 16, number]))
    yield from _verdicts(worlds)
    yield from _looked_at(worlds)


@dataclass(frozen=True, slots=True)
class Together:
    """In how many worlds all differences were held."""

    raw: int
    corrected: int
    sequence: int


def _together(name: str, world: World, worlds: int, rng: np.random.Generator) -> Row:
    found = together(rng, world, worlds)
    return Row(
        f"{name}: all differences hold",
        percent(found.raw / worlds),
        f"{share(found.corrected, worlds)}; sequence {percent(found.sequence / worlds)}",
        "95 % or more",
        at_least(found.corrected, worlds, 0.95) and at_least(found.sequence, worlds, 0.95),
    )


def together(rng: np.random.Generator, world: World, worlds: int) -> Together:
    """The sequence is of the questions that are there; with all labels it is their difference."""
    first, *others = truth(world)
    rule, held = Rule("good", MARGIN, {}), np.zeros(3, int)
    for _ in range(worlds):
        columns = Columns.of(rng, world)
        found, whole = (_differences(columns.figures(groups, rule)) for groups in (GROUPS, 3 * GROUPS))
        held += np.all(
            [
                (
                    holds(one["raw"], level - first),
                    holds(one["corrected"], level - first),
                    holds(one["sequential"], true["sequential"]["value"]),
                )
                for one, true, level in zip(found, whole, others, strict=True)
            ],
            axis=0,
        )
    return Together(*held.tolist())


def _differences(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the first metric."""
    found: list[dict[str, Any]] = figures["metrics"][0]["differences"]
    return found


def holds(figure: dict[str, Any], true: float) -> bool:
    return bool(figure["low"] - 1e-9 <= true <= figure["high"] + 1e-9)


# Verdicts

GUARD_MARGIN = 0.05
GUARDS = {"answered": GUARD_MARGIN, "latency": 50.0}


def good_in(*good: float) -> World:
    return replace(THREE, good=good, tnr=THREE.tnr[: len(good)])


def _verdicts(worlds: int) -> Iterator[Row]:
    alike, worse, much_better = good_in(0.55, 0.55), good_in(0.6, 0.6 - MARGIN), good_in(0.45, 0.65)
    said: tuple[tuple[str, World, tuple[float, float] | None, set[str], str], ...] = (
        ("B is as good as A: said to be better", alike, None, {"better"}, AT_MOST),
        ("B is as good as A: said to be worse", alike, None, {"worse"}, AT_MOST),
        ("B and C are as good as A: any said to be better", good_in(0.55, 0.55, 0.55), None, {"better"}, AT_MOST),
        ("B is worse by the margin: said not to be", worse, None, {"better", "not_worse"}, AT_MOST),
        (
            "B is better by .20, but answers .05 less: said to be better or not worse",
            much_better,
            (0.98, 0.93),
            {"better", "not_worse"},
            AT_MOST,
        ),
        (
            "B is better by .20 and as good by two guards: said to be better",
            much_better,
            (0.98, 0.98),
            {"better"},
            STATED,
        ),
        ("B is as good, also by two guards: said not to be worse", alike, (0.98, 0.98), {"not_worse"}, STATED),
    )
    for number, (name, world, answering, verdicts, must) in enumerate(said):
        rng = np.random.default_rng([SEED, 16, 100 + number])
        hits = sum(verdict(rng, world, answering) in verdicts for _ in range(worlds))
        yield Row(name, "", share(hits, worlds), must, must == STATED or at_most(hits, worlds, 0.025))


AT_MOST = "at most 2.5 %"


def verdict(rng: np.random.Generator, world: World, answering: tuple[float, float] | None) -> str:
    """An experiment's, with two guards where it is given how often A and B answer."""
    columns, rule = Columns.of(rng, world), Rule("good", MARGIN, {} if answering is None else GUARDS)
    guards = [] if answering is None else _guards(rng, columns.asked, np.array(answering))
    return str(columns.figures(GROUPS, rule, *guards)["verdict"])


def _guards(rng: np.random.Generator, asked: Asked, answering: Floats) -> list[Measured]:
    """How often each version answers, and a latency that is the same but for luck."""
    version = np.asarray(asked.version)
    answers = (rng.random(version.size) < answering[version]).astype(float)
    latency = np.exp(rng.normal(6.0, 0.5, version.size))
    return [
        Measured("answered", "Answered", "share", answers.tolist(), higher_is_better=True),
        Measured("latency", "Latency", "ms", latency.tolist(), higher_is_better=False),
    ]


# Looks


def _looked_at(worlds: int) -> Iterator[Row]:
    for number, (name, gain, least) in enumerate(
        (("B is as good as A: ever above 0", 0.0, 0.0), ("B is worse by .10: ever above -.10", -MARGIN, -MARGIN))
    ):
        rng = np.random.default_rng([SEED, 16, 200 + number])
        world = good_in(0.6, 0.6 + gain)
        found = [ever_above(rng, world, least) for _ in range(worlds)]
        before, now = (sum(column) for column in zip(*found, strict=True))
        yield Row(
            f"looked at eight times, {name}", percent(before / worlds), share(now, worlds), AT_MOST,
            at_most(now, worlds, 0.025),
        )  # fmt: skip
    for gain in (0.1, 0.2, 0.3):
        rng = np.random.default_rng([SEED, 16, 300, round(1000 * gain)])
        world = good_in(0.45, 0.45 + gain)
        found = [ever_above(rng, world, 0.0) for _ in range(worlds)]
        before, now = (sum(column) for column in zip(*found, strict=True))
        yield Row(
            f"looked at eight times, B is better by {gain:.2f}: ever above 0",
            percent(before / worlds), share(now, worlds), STATED, True,
        )  # fmt: skip


def ever_above(rng: np.random.Generator, world: World, least: float) -> tuple[bool, bool]:
    """Whether any look shows a gain above ``least``, by the ordinary interval and by the sequence. That is of these
    questions: of them it is above what they truly gain, where they gain nothing in truth."""
    columns, rule = Columns.of(rng, world), Rule("good", MARGIN, {})
    looks = [_differences(columns.figures(groups, rule))[0] for groups in LOOKS]
    apart = world.good[1] - world.good[0]
    true = least
    if apart <= least:
        true = _differences(columns.figures(3 * GROUPS, rule))[0]["sequential"]["value"]
    return (
        any(one["corrected"]["low"] > least for one in looks),
        any(one["sequential"]["low"] > true + 1e-9 for one in looks),
    )
