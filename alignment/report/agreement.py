"""How well people agree with each other, and one matrix of the kappas of people and judges, as plain JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from alignment.agreement.mean_kappa import mean_pairwise_kappa
from alignment.agreement.pairs import pairwise
from alignment.agreement.summary import agreement_summary
from alignment.base.coded import Coded
from alignment.base.estimate import Estimate
from alignment.base.ratings import Ratings, encode_values
from alignment.report.comparison import Comparison
from alignment.report.evidence import Value
from alignment.report.reference import Reference
from alignment.report.units import ByUnit, UnitKey, by_unit

MAX_PEOPLE = 20


def agreement_figures(criterion: str, ratings: Ratings) -> dict[str, Any]:
    """Every agreement statistic of the ratings of the criterion with this key, and the kappas of all pairs."""
    return {**agreement_at_a_glance(criterion, ratings), "pairs": _pairs(ratings)}


def agreement_at_a_glance(criterion: str, ratings: Ratings) -> dict[str, Any]:
    """The same without the pairs."""
    summary = agreement_summary(ratings, interval="jackknife")
    return {
        "criterion": criterion,
        "scale": ratings.scale,
        "units": ratings.n_units,
        "ratings": len(ratings),
        "raters": list(ratings.raters),
        "estimates": {name: estimate.as_dict() for name, estimate in cast("Mapping[str, Estimate]", summary).items()},
    }


def _pairs(ratings: Ratings) -> list[dict[str, Any]]:
    """Plain numbers. `low` and `high`: the interval of the unweighted kappa; `reason`: why one is missing."""
    return [
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
        for pair in pairwise(ratings, interval="jackknife")
    ]


def people_among_themselves(base: Ratings) -> Estimate:
    """Mean kappa of pairs of people. ``base``: as ``Reference.base``."""
    return mean_pairwise_kappa(base, interval="jackknife")


def kappa_matrix(reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]) -> dict[str, Any]:
    """Kappa of every two raters with common units, as plain JSON.

    With pass and fail: people's labels read so, and judges with their decisions on the dev part.
    Without: the labels themselves, and only judges that answer with labels. Of more than 20 people those with the most
    units are shown, and `left_out` counts the others who share units with another rater.
    """
    said: list[tuple[str, Mapping[UnitKey, Value]]] = [
        (title, one.labels if reference.passing is None else one.all_decisions)
        for title, one in zip(titles, comparisons, strict=True)
    ]
    judges = [(title, values) for title, values in said if values]
    people, left_out = _most_active(reference, [values for _, values in judges])
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


def _most_active(reference: Reference, judges: Sequence[Mapping[UnitKey, Value]]) -> tuple[list[str], int]:
    """People who share a unit with another person or a judge, those with the most units first."""
    base = reference.base
    judged = np.zeros(len(reference.units), dtype=np.bool_)
    for judge in judges:
        judged |= ByUnit.of(reference.units, judge, object).known
    shared = (np.bincount(base.unit, minlength=reference.rated.size) > 1) | judged[reference.rated]
    sharing = np.unique(base.rater[shared[base.unit]])
    counts = np.bincount(base.rater, minlength=len(base.raters))
    order = sorted(sharing.tolist(), key=lambda code: (-counts[code], base.raters[code]))
    return [base.raters[code] for code in order[:MAX_PEOPLE]], max(0, len(order) - MAX_PEOPLE)


def _joined(reference: Reference, people: Sequence[str], judges: Sequence[Mapping[UnitKey, Value]]) -> Ratings:
    """One table of the chosen people and the judges, under short names: a judge may be called like a person."""
    chosen = reference.base.select_raters(people)
    units = reference.units
    for judge in judges:
        units = units.with_all(judge)
    said = [by_unit(judge, object) for judge in judges]
    unit = np.concatenate([units.places(reference.units)[reference.rated[chosen.unit]], *map(units.places, said)])
    rater = [chosen.rater, *(np.full(len(one), len(people) + at) for at, one in enumerate(said))]
    names = [*(f"p{place}" for place in range(len(people))), *(f"j{place}" for place in range(len(said)))]
    levels = chosen.levels
    value = np.concatenate([chosen.value, *(encode_values(one.column, levels, "value") for one in said)])
    group, groups = reference.evidence.groups_of(units.samples)
    return Ratings.from_columns(
        Coded(range(len(units)), unit),
        Coded(names, np.concatenate(rater)),
        value.tolist() if levels is None else Coded(levels, value),
        Coded(groups, group[units.sample[unit]]),
        scale=chosen.scale,
        levels=levels,
    )
