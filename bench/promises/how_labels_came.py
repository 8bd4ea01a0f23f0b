"""Labels of the product's own draws stand for all samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import draw, weighted_at_threshold, weighted_mean
from alignment.base.estimate import Estimate
from alignment.report import JudgeScores, draw_by_outcome, outcomes_of
from bench.promises import SEED, Promise, Row, at_least, percent, share

PROMISE = Promise(
    place=1,
    title="How labels came",
    claim="A sample counts with the chance with which it was drawn; one without a known chance is in no guarantee. A "
    "group counts once, also where its samples lie in several strata.",
    worlds="1,000 answers of which people pass 85 %, and a judge with TPR .93 and TNR .70. People label all that it "
    "fails and 20 % of what it passes, drawn by the product. *Before*: every label alike, as looks did. *Groups*: 150 "
    "of six answers with one verdict, of which people pass two thirds; a judge copies people in 60 % of groups, and "
    "three in ten of each stratum are drawn. *Before*: what was drawn of a group in another stratum was taken for "
    "another group.",
)
TRUE = {"TPR": 0.93, "TNR": 0.70, "share of passes": 0.85}
GROUPS = {"share of passes": 2 / 3, "kappa": 0.6}
RUNS = 2000


def figures(seed: int, *, size: int = 1000, weighted: bool = True) -> dict[str, Estimate]:
    """Of one world what its labels say."""
    rng = np.random.default_rng(seed)
    passed = rng.random(size) < TRUE["share of passes"]
    said = np.where(passed, rng.random(size) < TRUE["TPR"], rng.random(size) >= TRUE["TNR"])
    names = [f"s{place}" for place in range(size)]
    labels = {(name, "answer"): "yes" if says else "no" for name, says in zip(names, said.tolist(), strict=True)}
    judge = JudgeScores("judge", "1", "ok", True, labels=labels)
    outcomes = outcomes_of(judge, passes=["yes"], threshold=None, samples=names, sizes={})
    drawn = draw_by_outcome(outcomes, {"fail": 1.0, "pass": 0.2}, seed=seed).chosen
    at = np.array([int(name[1:]) for name in drawn])
    probability, stratum = np.array(list(drawn.values())).T if weighted else (np.ones(at.size), np.zeros(at.size))
    found = weighted_at_threshold(said[at].astype(float), passed[at], at, 0.5, probability, stratum.astype(int))
    mean = weighted_mean(passed[at], at, probability, stratum.astype(int), bounds=(0.0, 1.0))
    return {"TPR": found.tpr, "TNR": found.tnr, "share of passes": mean}


def in_strata(rng: np.random.Generator, strata: int, *, parts: bool = False) -> tuple[Estimate, Estimate]:
    """Share of passes and kappa where answers of a group are alike; ``parts``: each part of a group as a group."""
    group = np.repeat(np.arange(150), 6)
    human, other = rng.random((2, 150)) < GROUPS["share of passes"]
    judge = np.where(rng.random(150) < GROUPS["kappa"], human, other)
    stratum = rng.integers(0, strata, group.size)
    taken = np.round(0.3 * np.bincount(stratum, minlength=strata)).astype(int)
    found = draw(stratum, taken, rng)
    at = np.flatnonzero(found.drawn)
    design = group[at] * strata + stratum[at] if parts else group[at], found.probability[at], stratum[at]
    passed, said = human[group[at]], judge[group[at]].astype(float)
    kappa = weighted_at_threshold(said, passed, design[0], 0.5, *design[1:]).kappa
    return weighted_mean(passed, *design, bounds=(0.0, 1.0)), kappa


def rows(runs: float) -> Iterator[Row]:
    worlds = max(1, round(RUNS * runs))
    for strata in (1, 2, 8):
        now, then = (
            [in_strata(np.random.default_rng([SEED, 29, strata, seed]), strata, parts=parts) for seed in range(worlds)]
            for parts in (False, True)
        )
        for place, (name, true) in enumerate(GROUPS.items()):
            held, before = (sum(_holds(one[place], true) for one in of) for of in (now, then))
            yield Row(
                f"groups in {strata} {'stratum' if strata == 1 else 'strata'}: {name}, truly {true:.2f}",
                f"interval held in {percent(before / worlds)}",
                f"interval held in {share(held, worlds)}",
                "94 % or more",
                at_least(held, worlds, 0.94),
            )
    found = [figures(SEED + seed) for seed in range(worlds)]
    plain = [figures(SEED + seed, weighted=False) for seed in range(worlds)]
    for name, true in TRUE.items():
        now, before = _held(found, name, true), _held(plain, name, true)
        yield Row(
            f"{name}, truly {true:.2f}",
            f"{_mean(plain, name):.3f} on average; interval held in {percent(before / worlds)}",
            f"{_mean(found, name):.3f} on average; interval held in {share(now, worlds)}",
            "94 % or more, and within .01 on average",
            at_least(now, worlds, 0.94) and abs(_mean(found, name) - true) < 0.01 + 2 * _error(found, name),
        )


def _mean(found: list[dict[str, Estimate]], name: str) -> float:
    return float(np.mean([one[name].value for one in found]))


def _error(found: list[dict[str, Estimate]], name: str) -> float:
    return float(np.std([one[name].value for one in found]) / np.sqrt(len(found)))


def _held(found: list[dict[str, Estimate]], name: str, true: float) -> int:
    return sum(_holds(one[name], true) for one in found)


def _holds(found: Estimate, true: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= true <= found.high
