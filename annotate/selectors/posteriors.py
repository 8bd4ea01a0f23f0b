"""How probable each value of a unit is, judged by all labels of a criterion: Dawid and Skene's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django.utils.translation import gettext as _

from annotate.errors import Conflict
from annotate.models import Criterion
from annotate.selectors.ratings import votes_of

if TYPE_CHECKING:
    from alignment import DawidSkene, Ratings
    from alignment.base.ratings import Scale

# A sample's key, and the address within it.
Unit = tuple[int, str]


@dataclass(frozen=True)
class RaterError:
    """How often the model thinks an annotator right, weighed by how frequent each value is."""

    rater: str
    labels: int
    right: float


@dataclass(frozen=True)
class Posteriors:
    """A fitted model: a unit -> its most probable value with the probability of that."""

    units: dict[Unit, tuple[Any, float]]
    raters: list[RaterError]
    labels: int


def posteriors_of(criterion: Criterion) -> Posteriors:
    """Raises Conflict `not_identified` with a sentence when the labels can't carry the model."""
    # Here, not above: the statistics take a second to load, which every start would pay.
    from alignment import Ratings, fit_dawid_skene
    from alignment.consensus.dawid_skene import why_unidentified

    if not criterion.options:
        raise _refused(_("The criterion is a number without options, and the model needs options."))
    votes = votes_of(criterion)
    ratings = Ratings.from_columns(
        [(sample, unit) for sample, unit, _rater, _value in votes],
        [rater for _sample, _unit, rater, _value in votes],
        [value for _sample, _unit, _rater, value in votes],
        [sample for sample, _unit, _rater, _value in votes],
        scale=cast("Scale", criterion.scale),
        levels=criterion.levels,
    )
    reason = why_unidentified(ratings)
    if reason is not None:
        raise _refused(_("The labels don't carry the model: %(reason)s.") % {"reason": reason})
    fitted = fit_dawid_skene(ratings)
    if fitted.reason is not None or not fitted.converged:
        raise _refused(_("The model did not come to rest after %(n)d rounds.") % {"n": fitted.iterations})
    return Posteriors(_units(fitted), _raters(fitted, ratings), len(ratings))


def _units(fitted: DawidSkene) -> dict[Unit, tuple[Any, float]]:
    from alignment.consensus.majority import TIE

    greatest = fitted.posterior.max(axis=1)
    rows = zip(fitted.unit_ids, fitted.label.tolist(), greatest.tolist(), strict=True)
    return {
        cast("Unit", unit): (fitted.levels[place], probability) for unit, place, probability in rows if place != TIE
    }


def _raters(fitted: DawidSkene, ratings: Ratings) -> list[RaterError]:
    import numpy as np

    counts = np.bincount(ratings.rater, minlength=len(ratings.raters))
    labels = {name: int(n) for name, n in zip(ratings.raters, counts, strict=True)}
    found = []
    for index, name in enumerate(fitted.raters):
        right = np.diagonal(fitted.confusion[index])
        weight = np.where(np.isnan(right), 0.0, fitted.shares)
        found.append(RaterError(name, labels[name], float(np.nansum(right * weight) / weight.sum())))
    return sorted(found, key=lambda one: (-one.right, one.rater))


def _refused(sentence: str) -> Conflict:
    return Conflict("not_identified", sentence)
