"""How far each annotator agrees with the others of the same units."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from alignment.agreement.cohen import confusion, kappa_estimate, kappa_name
from alignment.base.arrays import Bools, Ints
from alignment.base.estimate import NO_LEVELS, NO_MAJORITY, NO_OTHERS, Estimate
from alignment.base.interval import Kind, Plan, share_of_trials
from alignment.base.ratings import Ratings, by_rater
from alignment.consensus.majority import TIE, rest_label

PERCENT = "agreement with the others' majority"


@dataclass(frozen=True, slots=True)
class RestAgreement:
    """One annotator against the majority of the others on ``n`` units, or all of them (``annotator`` is None).

    ``ties`` counts the units left out because the others had no majority.
    """

    annotator: str | None
    n: int
    ties: int
    percent: Estimate
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class WithTheRest:
    """The annotators asked for, and all labels together, each against the others of its unit."""

    annotators: list[RestAgreement]
    together: RestAgreement


def agreement_with_rest(
    ratings: Ratings,
    annotators: Sequence[str] | None = None,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> WithTheRest:
    """Percent agreement and Cohen's kappa of annotators with what more than half of the *others* of a unit said.

    Leaving the annotator out, so that no annotator agrees with a majority by having made it; units of single labels and
    units whose others are tied are left out. ``annotators``: whom to report, all unless given; the majority is
    always of all. ``ratings`` holds people only.

    Undefined: no levels; no other annotator rated these units; the others never had a majority; kappa with fewer than 2
    such units or where only one category was used. ValueError: no such rater.

    >>> ratings = Ratings.from_columns(
    ...     [1, 2, 3, 4] * 3, ["ann"] * 4 + ["bob"] * 4 + ["cat"] * 4, "ppff" + "ppff" + "pfff", [1, 2, 3, 4] * 3,
    ...     scale="binary", levels="fp",
    ... )
    >>> found = agreement_with_rest(ratings, interval="none")
    >>> [(row.annotator, row.n, row.ties, row.percent.value, row.kappa.value) for row in found.annotators]
    [('ann', 3, 1, 1.0, 1.0), ('bob', 3, 1, 1.0, 1.0), ('cat', 4, 0, 0.75, 0.5)]
    """
    plan = Plan(interval, rng, level)
    own = by_rater(ratings)
    asked = ratings.raters if annotators is None else annotators
    positions = [(name, own[ratings.rater_code(name)]) for name in asked]
    if ratings.levels is None:
        percent, kappa = (
            Estimate.undefined(NO_LEVELS, method=called, level=level) for called in (PERCENT, kappa_name(None))
        )
        nothing = RestAgreement(None, 0, 0, percent, kappa)
        return WithTheRest([replace(nothing, annotator=name) for name in asked], nothing)
    rest, shared = rest_label(ratings), has_company(ratings)
    return WithTheRest(
        annotators=[_held(ratings, rest, name, rated[shared[rated]], plan) for name, rated in positions],
        together=_held(ratings, rest, None, np.flatnonzero(shared), plan),
    )


def has_company(ratings: Ratings) -> Bools:
    """For each rating, whether another rater rated its unit, shape (ratings,)."""
    return np.bincount(ratings.unit)[ratings.unit] > 1 if len(ratings) else np.zeros(0, dtype=np.bool_)


def _held(ratings: Ratings, rest: Ints, name: str | None, met: Ints, plan: Plan) -> RestAgreement:
    used = met[rest[met] != TIE]
    reason = NO_MAJORITY if met.size else NO_OTHERS
    hits = ratings.value[used] == rest[used]
    percent = share_of_trials(hits, ratings.cluster[used], plan, name=PERCENT, undefined=reason)
    table = confusion(ratings.cluster[used], ratings.value[used], rest[used], len(ratings.levels or ()))
    kappa = kappa_estimate(ratings, table, used.size, None, plan)
    if not used.size:
        kappa = Estimate.undefined(reason, method=kappa_name(None), level=plan.level)
    return RestAgreement(name, used.size, met.size - used.size, percent, kappa)
