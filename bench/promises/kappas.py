"""Intervals of kappa hold, at the edge as well, or there are none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import Design, Estimate, at_threshold, krippendorff_alpha, level_of_look, weighted_at_threshold
from alignment.judging.decision import PERMITTING, Endpoint, Verdict, decision_on
from bench.coverage_cells import confusion_of, ratings_of
from bench.promises import SEED, Promise, Row, at_least, at_most, percent, share

RUNS = 2000
PROMISE = Promise(
    place=13,
    title="Intervals of kappa",
    claim="95 % intervals of kappa hold the true value in 94 % of cases or more, or there is none; where there hardly "
    "ever is one, those there are hold in 92 % or more. Not where a few groups hold most of the units. Nothing is "
    "decided on fewer than 30 groups, nor on more that are worth fewer, since a few of them stand for most samples.",
    worlds="A judge says what people say, or by chance passes as often as they do: kappa is the share that it copies. "
    "Groups have 1 to 6 claims, or one. *Before*: influence functions with t, as measured then. *Known and drawn*: "
    "single answers labelled before, and some of a pool; the bar is the true kappa. *Before*: each group counted "
    "alike, and t went by Kish's number of those with the rarer verdict.",
)
#: Groups, share that passes, whether single, and what was before.
WORLDS = (
    (40, 0.7, False, "93.9 %"), (100, 0.7, False, "93.3 %"), (40, 0.9, False, "92.5 %"), (100, 0.9, False, "93.7 %"),
    (200, 0.9, False, "94.3 %"), (100, 0.95, False, "93.9 %"), (30, 0.9, True, "71 %"), (100, 0.5, True, ""),
)  # fmt: skip
BAR = 0.4
#: Groups that were known, drawn, and drawn from; the share that passes; what was before, of intervals and of decisions.
FEW = (
    (1000, 20, 1000, 0.5, "93.8 %", "3.5 %, 2.8 %"), (300, 5, 100, 0.5, "82.3 %", "15.2 %, 2.5 %"),
    (300, 20, 100, 0.85, "94.3 %", "0.9 %, 4.8 %"), (300, 20, 300, 0.85, "91.2 %", "1.1 %, 7.8 %"),
    (1000, 20, 1000, 0.85, "89.6 %", "1.1 %, 9.2 %"),
)  # fmt: skip


def kappa_of(
    rng: np.random.Generator, groups: int, passes: float, kappa: float, single: bool, level: float
) -> Estimate:
    sizes = np.ones(groups, dtype=int) if single else rng.integers(1, 7, groups)
    group = np.repeat(np.arange(groups), sizes)
    human = rng.random(group.size) < passes
    judge = np.where(rng.random(group.size) < kappa, human, rng.random(group.size) < passes)
    return at_threshold(judge.astype(float), human, group, 0.5, interval="jackknife", level=level).kappa


def by_chance(rng: np.random.Generator, groups: int, passes: float, judge_passes: float) -> Estimate:
    """Of a judge that does not look, kappa 0. Hardly an answer is failed by both."""
    human, judge = rng.random(groups) < passes, rng.random(groups) < judge_passes
    return at_threshold(judge.astype(float), human, np.arange(groups), 0.5, interval="jackknife").kappa


def drawn(rng: np.random.Generator, size: int, passes: float, tpr: float, tnr: float, share: float = 0.2) -> Estimate:
    """All that the judge fails and a ``share`` of what it passes are labelled."""
    human = rng.random(size) < passes
    judge = np.where(human, rng.random(size) < tpr, rng.random(size) >= tnr)
    passed = np.flatnonzero(judge)
    some = rng.permutation(passed)[: round(passed.size * share)]
    at = np.append(np.flatnonzero(~judge), some)
    chance = np.where(judge[at], some.size / passed.size, 1.0)
    return weighted_at_threshold(judge[at].astype(float), human[at], at, 0.5, chance, judge[at].astype(int)).kappa


def on_known_and_drawn(
    rng: np.random.Generator, known: int, taken: int, pool: int, passes: float
) -> tuple[Estimate, Verdict]:
    """What is decided on a judge whose kappa is the bar."""
    human = rng.random(known + pool) < passes
    judge = np.where(rng.random(human.size) < BAR, human, rng.random(human.size) < passes)
    at = np.append(np.arange(known), known + rng.permutation(pool)[:taken])
    design = at, np.where(at < known, 1.0, taken / pool), at >= known
    kappa = weighted_at_threshold(judge[at].astype(float), human[at], at, 0.5, *design[1:]).kappa
    all_scored = Estimate(1.0, 1.0, 1.0, n=at.size, clusters=at.size)
    return kappa, decision_on(Endpoint(bar=BAR), kappa, all_scored, alike=Design.of(*design).alike).verdict


def true_kappa(passes: float, tpr: float, tnr: float) -> float:
    judge = passes * tpr + (1 - passes) * (1 - tnr)
    agree = passes * tpr + (1 - passes) * tnr
    by_chance = passes * judge + (1 - passes) * (1 - judge)
    return (agree - by_chance) / (1 - by_chance)


def rows(runs: float) -> Iterator[Row]:
    worlds = max(40, round(RUNS * runs))
    for number, (groups, passes, single, before) in enumerate(WORLDS):
        for kappa in (0.3, 0.6, 0.85):
            rng = np.random.default_rng([SEED, 13, number, round(100 * kappa)])
            found = [kappa_of(rng, groups, passes, kappa, single, 0.95) for _ in range(worlds)]
            world = f"{groups} groups{' of one' if single else ''}, {percent(passes, 0)} pass, kappa {kappa}"
            yield _row(world, before if kappa == 0.6 or (single and kappa == 0.3) else "", found, kappa, 0.94)
    level = level_of_look(10)
    for groups, passes in ((50, 0.5), (200, 0.8)):
        rng = np.random.default_rng([SEED, 13, groups])
        found = [kappa_of(rng, groups, passes, 0.6, True, level) for _ in range(worlds)]
        yield _row(f"{groups} groups of one, {percent(passes, 0)} pass, kappa 0.6, tenth look", "", found, 0.6, level)
    for size, passes, tpr, tnr in ((1000, 0.85, 0.93, 0.7), (300, 0.85, 0.93, 0.7), (1000, 0.85, 0.98, 0.8)):
        rng = np.random.default_rng([SEED, 13, size, round(100 * tpr)])
        found = [drawn(rng, size, passes, tpr, tnr) for _ in range(worlds)]
        world = f"outcome queue of {size:,} answers, TPR {tpr}, TNR {tnr}"
        yield _row(world, "90.7 to 93.3 %" if size == 1000 else "", found, true_kappa(passes, tpr, tnr), 0.94)
    for size, passes, tpr, tnr, part, before in (
        (1000, 0.85, 0.98, 0.8, 0.05, "78 %"),
        (3000, 0.9, 0.95, 0.8, 0.01, "46 %"),
    ):
        rng = np.random.default_rng([SEED, 13, size, round(100 * part)])
        found = [drawn(rng, size, passes, tpr, tnr, part) for _ in range(worlds)]
        world = f"outcome queue of {size:,} answers, with {percent(part, 0)} of what it passes, TPR {tpr}, TNR {tnr}"
        yield _row(world, before, found, true_kappa(passes, tpr, tnr), 0.94)
    for groups, passes, before in ((100, 0.93, "59 %"), (1000, 0.99, "66 %")):
        rng = np.random.default_rng([SEED, 13, groups, round(100 * passes), 0])
        found = [by_chance(rng, groups, passes, 0.9) for _ in range(worlds)]
        yield _row(
            f"{groups} groups of one, {percent(passes, 0)} pass, a judge that passes 90 % without looking",
            before,
            found,
            0.0,
            0.94,
        )
    for kappa, before in ((0.3, "79 %"), (0.6, ""), (0.8, "")):
        rng = np.random.default_rng([SEED, 13, 30, round(100 * kappa), 1])
        tables = (ratings_of(rng, confusion_of(kappa, 0.1), 30, 1) for _ in range(worlds))
        found = [krippendorff_alpha(one, interval="jackknife") for one in tables]
        yield _row(f"30 groups of one, two people who each pass 90 %, alpha {kappa}", before, found, kappa, 0.94)
    for known, taken, pool, passes, held, decided in FEW:
        rng = np.random.default_rng([SEED, 13, known, taken, pool, round(100 * passes)])
        kappas, verdicts = zip(
            *(on_known_and_drawn(rng, known, taken, pool, passes) for _ in range(worlds)), strict=True
        )
        world = f"{known:,} known and {taken} drawn of {pool:,}, {percent(passes, 0)} pass"
        yield _row(world, held, list(kappas), BAR, 0.94)
        good, bad = (sum(one in wrong for one in verdicts) for wrong in (PERMITTING, ("not_for_use",)))
        kept = at_most(good, worlds, 0.025) and at_most(bad, worlds, 0.025)
        after = f"{percent(good / worlds)}, {percent(bad / worlds)} of {worlds:,}"
        yield Row(f"{world}: permitted, not for use", decided, after, "each at most 2.5 %", kept)
    rng = np.random.default_rng([SEED, 5])
    for groups, passes, before in ((30, 0.9, "9 to 13 %"), (100, 0.98, "")):
        kappas = [kappa_of(rng, groups, passes, 0.3, True, 0.95) for _ in range(worlds)]
        useful = sum(one.low is not None and one.low >= 0.4 for one in kappas)
        world = f"{groups} groups of one, {percent(passes, 0)} pass, kappa 0.3: surely 0.4 or more"
        yield Row(world, before, share(useful, worlds), "at most 2.5 %", at_most(useful, worlds, 0.025))


def _row(world: str, before: str, found: list[Estimate], truth: float, promised: float) -> Row:
    there = [one for one in found if one.low is not None and one.high is not None]
    held = sum(one.low <= truth <= one.high for one in there)  # type: ignore[operator]
    none = len(found) - len(there)
    # No interval claims nothing: of all worlds so many must not miss.
    after = f"{share(held, len(there)) if there else '–'}{f', none in {percent(none / len(found))}' if none else ''}"
    kept = at_least(held + none, len(found), promised) and at_least(held, len(there), 0.92)
    return Row(world, before, after, f"{100 * promised:.4g} % or none", kept)
