"""How well people agree with each other on a criterion, as plain JSON.

People and judges in one matrix of kappas: everybody is a rater.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from alignment.agreement.mean_kappa import mean_pairwise_kappa
from alignment.agreement.pairs import Pair, pairwise
from alignment.agreement.summary import agreement_summary
from alignment.base.estimate import Estimate
from alignment.base.ratings import Ratings
from alignment.report.comparison import Comparison
from alignment.report.evidence import UnitKey, Value, generator
from alignment.report.reference import Reference


def agreement_figures(criterion: str, ratings: Ratings, seed: int) -> dict[str, Any]:
    """Every agreement statistic of the ratings of the criterion with this key."""
    summary = agreement_summary(ratings, generator(seed, "agreement", criterion))
    pairs = pairwise(ratings, rng=generator(seed, "pairs", criterion))
    return {
        "criterion": criterion,
        "scale": ratings.scale,
        "units": ratings.n_units,
        "ratings": len(ratings),
        "raters": list(ratings.raters),
        "estimates": {name: estimate.as_dict() for name, estimate in cast("Mapping[str, Estimate]", summary).items()},
        "pairs": [_pair(pair) for pair in pairs],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    """Plain numbers. `low` and `high`: the interval of the unweighted kappa; `reason`: why one is missing."""
    return {
        "a": pair.a,
        "b": pair.b,
        "n": pair.n,
        "kappa": pair.kappa.value,
        "low": pair.kappa.low,
        "high": pair.kappa.high,
        "linear": pair.linear.value,
        "quadratic": pair.quadratic.value,
        "reason": pair.kappa.reason,
    }


MAX_PEOPLE = 20


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    values: dict[UnitKey, Value]


def people_among_themselves(reference: Reference) -> Estimate:
    """Mean kappa of pairs of people, on pass and fail where the criterion has them, else on its labels."""
    ratings = reference.ratings if reference.passing is None else reference.passing
    return mean_pairwise_kappa(ratings, rng=_rng(reference, "people"))


def kappa_matrix(reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]) -> dict[str, Any]:
    """Kappa of every two raters with common units, as plain JSON.

    With pass and fail: people's labels read so, and judges with their decisions on the dev part.
    Without: the labels themselves, and only judges that answer with labels. Of more than 20 people those with the most
    units are shown, and `left_out` counts the others who share units with somebody.
    """
    base = reference.ratings if reference.passing is None else reference.passing
    judges = [
        _Column(title, {**(one.labels if reference.passing is None else one.decisions)})
        for title, one in zip(titles, comparisons, strict=True)
    ]
    judges = [judge for judge in judges if judge.values]
    people, left_out = _most_active(base, {unit for judge in judges for unit in judge.values})
    names = [f"p{place}" for place in range(len(people))] + [f"j{place}" for place in range(len(judges))]
    # Sorted by name p0, p1, p10, p2 …: the table below goes by our own order, so that doesn't matter.
    ratings = _joined(base, people, judges)
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for pair in pairwise(ratings, rng=_rng(reference, "matrix")):
        cell = {"n": pair.n, **{k: getattr(pair.kappa, v) for k, v in _CELL.items()}}
        cells[pair.a, pair.b] = cells[pair.b, pair.a] = cell
    counts = dict(zip(*np.unique(ratings.rater, return_counts=True), strict=True))
    units = {name: int(counts.get(code, 0)) for code, name in enumerate(ratings.raters)}
    shown = [*((name, "person") for name in people), *((judge.title, "judge") for judge in judges)]
    return {
        "basis": "labels" if reference.passing is None else "pass or fail",
        "raters": [
            {"name": title, "kind": kind, "units": units.get(name, 0)}
            for name, (title, kind) in zip(names, shown, strict=True)
        ],
        "cells": [[cells.get((a, b)) for b in names] for a in names],
        "left_out": left_out,
    }


def _rng(reference: Reference, figure: str) -> np.random.Generator:
    return generator(reference.evidence.seed, figure, reference.evidence.criterion.key)


_CELL = {"kappa": "value", "low": "low", "high": "high", "reason": "reason"}


def _most_active(base: Ratings, judged: set[UnitKey]) -> tuple[list[str], int]:
    """People who share a unit with another person or a judge, those with the most units first."""
    ids = base.unit_ids or ()
    shared = np.bincount(base.unit, minlength=len(ids)) > 1
    if judged:
        shared |= np.array([unit in judged for unit in ids], dtype=np.bool_)
    sharing = np.unique(base.rater[shared[base.unit]])
    counts = np.bincount(base.rater, minlength=len(base.raters))
    order = sorted(sharing.tolist(), key=lambda code: (-counts[code], base.raters[code]))
    return [base.raters[code] for code in order[:MAX_PEOPLE]], max(0, len(order) - MAX_PEOPLE)


def _joined(base: Ratings, people: Sequence[str], judges: Sequence[_Column]) -> Ratings:
    """One table of the chosen people and the judges, under short names: a judge may be called like a person."""
    chosen = base.select_raters(people)
    units = [chosen.unit_id(code) for code in chosen.unit]
    raters = [f"p{code}" for code in chosen.rater]
    values = [code if chosen.levels is None else chosen.levels[code] for code in chosen.value.tolist()]
    for place, judge in enumerate(judges):
        units += judge.values.keys()
        raters += [f"j{place}"] * len(judge.values)
        values += judge.values.values()
    clusters = [unit[0] for unit in units]  # type: ignore[index]
    return Ratings.from_columns(units, raters, values, clusters, scale=base.scale, levels=base.levels)
