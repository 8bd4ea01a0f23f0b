"""How well people agree with each other, and one matrix of the kappas of people and judges, as plain JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from alignment.agreement.mean_kappa import mean_pairwise_kappa
from alignment.agreement.pairs import pairwise
from alignment.agreement.summary import agreement_summary
from alignment.base.estimate import Estimate
from alignment.base.ratings import Ratings
from alignment.report.comparison import Comparison
from alignment.report.evidence import UnitKey, Value
from alignment.report.reference import Reference

MAX_PEOPLE = 20


def agreement_figures(criterion: str, ratings: Ratings) -> dict[str, Any]:
    """Every agreement statistic of the ratings of the criterion with this key."""
    summary = agreement_summary(ratings, interval="jackknife")
    pairs = pairwise(ratings, interval="jackknife")
    return {
        "criterion": criterion,
        "scale": ratings.scale,
        "units": ratings.n_units,
        "ratings": len(ratings),
        "raters": list(ratings.raters),
        "estimates": {name: estimate.as_dict() for name, estimate in cast("Mapping[str, Estimate]", summary).items()},
        # Plain numbers. `low` and `high`: the interval of the unweighted kappa; `reason`: why one is missing.
        "pairs": [
            {
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
            for pair in pairs
        ],
    }


def people_among_themselves(base: Ratings) -> Estimate:
    """Mean kappa of pairs of people. ``base``: as ``Reference.base``."""
    return mean_pairwise_kappa(base, interval="jackknife")


def kappa_matrix(reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]) -> dict[str, Any]:
    """Kappa of every two raters with common units, as plain JSON.

    With pass and fail: people's labels read so, and judges with their decisions on the dev part.
    Without: the labels themselves, and only judges that answer with labels. Of more than 20 people those with the most
    units are shown, and `left_out` counts the others who share units with another rater.
    """
    base = reference.base
    said: list[tuple[str, Mapping[UnitKey, Value]]] = [
        (title, one.labels if reference.passing is None else one.all_decisions)
        for title, one in zip(titles, comparisons, strict=True)
    ]
    judges = [(title, values) for title, values in said if values]
    people, left_out = _most_active(base, {unit for _, values in judges for unit in values})
    names = [f"p{place}" for place in range(len(people))] + [f"j{place}" for place in range(len(judges))]
    # Sorted by name p0, p1, p10, p2 …: the table below goes by our own order, so that doesn't matter.
    ratings = _joined(reference, people, [values for _, values in judges])
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for pair in pairwise(ratings, interval="jackknife"):
        cell = {"kappa": pair.kappa.value, "low": pair.kappa.low, "high": pair.kappa.high, "reason": pair.kappa.reason}
        cells[pair.a, pair.b] = cells[pair.b, pair.a] = {"n": pair.n, **cell}
    counts = dict(zip(*np.unique(ratings.rater, return_counts=True), strict=True))
    units = {name: int(counts.get(code, 0)) for code, name in enumerate(ratings.raters)}
    shown = [*((name, "person") for name in people), *((title, "judge") for title, _ in judges)]
    return {
        "basis": reference.basis,
        "raters": [
            {"name": title, "kind": kind, "units": units.get(name, 0)}
            for name, (title, kind) in zip(names, shown, strict=True)
        ],
        "cells": [[cells.get((a, b)) for b in names] for a in names],
        "left_out": left_out,
    }


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


def _joined(reference: Reference, people: Sequence[str], judges: Sequence[Mapping[UnitKey, Value]]) -> Ratings:
    """One table of the chosen people and the judges, under short names: a judge may be called like a person."""
    base = reference.base
    chosen = base.select_raters(people)
    units = [cast("UnitKey", chosen.unit_id(code)) for code in chosen.unit]
    raters = [f"p{code}" for code in chosen.rater]
    values = [code if chosen.levels is None else chosen.levels[code] for code in chosen.value.tolist()]
    for place, judge in enumerate(judges):
        units += judge.keys()
        raters += [f"j{place}"] * len(judge)
        values += judge.values()
    return Ratings.from_columns(units, raters, values, reference.clusters(units), scale=base.scale, levels=base.levels)
