"""The people of a report, each by themselves: agreement with the others, own consistency, speed, habits, and drift."""

from typing import Any

import numpy as np

from alignment.arrays import Floats
from alignment.dawid_skene import DawidSkene, fit_dawid_skene
from alignment.errors import annotator_errors
from alignment.estimate import Estimate
from alignment.figures.habits import LEVEL, by_week, option_shares, own_consistency, pace
from alignment.figures.listed import Listed, listed_people
from alignment.figures.reference import Reference
from alignment.reasons import NO_LEVELS
from alignment.rest import agreement_with_rest

# Dawid and Skene's model gets as many rounds as fit into a quarter of a second; where these are too few, none.
LABELS_READ = 750_000
MOST_ROUNDS, LEAST_ROUNDS = 200, 10

NO_MODEL_INTERVAL = "the model gives no interval"
NO_SUCH_UNIT = "no such unit of theirs, by the model"


def annotator_figures(reference: Reference) -> dict[str, Any]:
    """Each annotator, and all together, as plain JSON. Agreement is with the majority of the *others* of a unit.

    On pass and fail where the criterion has them, else on the labels. Of more than 30 people those with the most units
    are shown, and ``left_out`` counts the rest; majorities, and what is said of all together, are everybody's.
    """
    people = listed_people(reference)
    base = people.base
    rest = agreement_with_rest(base, people.names, rng=people.rng("rest"))
    weeks, weekly = by_week(people)
    model, modelled = _model(people)
    rows = [
        {
            "ties": said.ties,
            "agreement": said.percent.as_dict(),
            "kappa": said.kappa.as_dict(),
            "rates": rates,
            "consistency": consistency.as_dict(),
            "seconds": seconds,
            "shares": used,
            "weeks": in_weeks,
            "model": of_model,
        }
        for said, rates, consistency, seconds, used, in_weeks, of_model in zip(
            [*rest.annotators, rest.together],
            _rates(people),
            own_consistency(people),
            pace(people),
            option_shares(people),
            weekly,
            modelled,
            strict=True,
        )
    ]
    together = {"units": base.n_units, "samples": base.n_clusters, "labels": len(base), **rows.pop()}
    return {
        "basis": "labels" if reference.passing is None else "pass or fail",
        "left_out": len(base.raters) - len(people.names),
        "weeks": weeks,
        "model": model,
        "together": together,
        "people": [
            {"name": name, "units": units, "samples": samples, **row}
            for name, units, samples, row in zip(people.names, people.units, people.samples, rows, strict=True)
        ],
    }


def _rates(people: Listed) -> list[dict[str, Any] | None]:
    """Of what the others pass (fail) the share that one passes (fails); None without passes."""
    if people.reference.passing is None:
        return [None] * people.rows
    found = annotator_errors(people.base, [True], annotators=people.names, rng=people.rng("rates"))
    rows = [*found.annotators, found.together]
    return [{"tpr": one.tpr.as_dict(), "tnr": one.tnr.as_dict()} for one in rows]


def _model(people: Listed) -> tuple[dict[str, Any], list[dict[str, Any] | None]]:
    """What Dawid and Skene's model, which finds the truth and everybody's errors at once, makes of each one."""
    base = people.base
    fitted, reason = None, NO_LEVELS
    if base.levels is not None:
        rounds = min(MOST_ROUNDS, LABELS_READ // max(1, len(base)))
        reason = f"{len(base):,} labels are too many to fit the model while a report is made"
        if rounds >= LEAST_ROUNDS:
            fitted = fit_dawid_skene(base, max_iterations=rounds)
            reason = fitted.reason or ("" if fitted.converged else f"the model had not settled after {rounds} rounds")
    if fitted is None or reason:
        return {"reason": reason, "rounds": None}, [None] * people.rows
    rows = [_of_model(people, fitted, code) for code in people.shown]
    return {"reason": None, "rounds": fitted.iterations}, [*rows, None]


def _of_model(people: Listed, fitted: DawidSkene, code: int) -> dict[str, Any]:
    support, right = fitted.support[code], np.nan_to_num(np.diag(fitted.confusion[code]))
    if people.reference.passing is None:
        return {"accuracy": _expected(right, support, "accuracy")}
    return {
        "tpr": _expected(right[1:], support[1:], "true positive rate"),
        "tnr": _expected(right[:1], support[:1], "true negative rate"),
    }


def _expected(right: Floats, support: Floats, name: str) -> dict[str, Any]:
    """The share of one's labels that the model takes for right; n is how many it expects of such units."""
    method, n = f"{name} by Dawid and Skene's model", round(support.sum())
    if not n:
        return Estimate.undefined(NO_SUCH_UNIT, method=method, level=LEVEL).as_dict()
    value = min(1.0, float((right * support).sum() / support.sum()))
    return Estimate(value, None, None, LEVEL, n, 0, method, NO_MODEL_INTERVAL).as_dict()
