"""Which disputed units could be settled many at once, and as what: by the agreement of their votes, or by Dawid and
Skene's model, which says how probable each value of a unit is, judged by all labels of a criterion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, cast

from django.utils.translation import gettext as _

import alignment
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.core.scales import require_rated
from annotate.core.text_tables import in_words
from annotate.models import Criterion
from annotate.verdicts.ratings_read import votes_of
from annotate.verdicts.read import Disputed, Queue

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


def _posteriors_of(criterion: Criterion) -> Posteriors:
    """Raises Conflict `not_identified` with a sentence when the labels can't carry the model."""
    require_rated(criterion)
    if not criterion.options:
        raise _refused(_("This criterion has no options, but the model needs options."))
    # A model of all that was said; of units, its proposals show those of a queue only, which has its reader.
    votes = votes_of(criterion, reader=SYSTEM)
    raters = [rater for _sample, _unit, rater, _value in votes]
    ratings = alignment.Ratings.from_columns(
        [(sample, unit) for sample, unit, _rater, _value in votes],
        raters,
        [value for _sample, _unit, _rater, value in votes],
        [sample for sample, _unit, _rater, _value in votes],
        scale=cast("alignment.Scale", criterion.scale),
        levels=criterion.levels,
    )
    reason = alignment.why_unidentified(ratings)
    if reason is not None:
        raise _refused(_("The labels are not enough for the model: %(reason)s.") % {"reason": in_words(reason)})
    fitted = alignment.fit_dawid_skene(ratings)
    if fitted.reason is not None or not fitted.converged:
        raise _refused(_("The model did not converge after %(n)d iterations.") % {"n": fitted.iterations})
    rows = zip(fitted.unit_ids, fitted.label.tolist(), fitted.posterior.max(axis=1).tolist(), strict=True)
    units = {
        cast("Unit", unit): (fitted.levels[place], probability)
        for unit, place, probability in rows
        if place != alignment.TIE
    }
    given = Counter(raters)
    errors = [RaterError(name, given[name], right) for name, right in zip(fitted.raters, fitted.right, strict=True)]
    return Posteriors(units, sorted(errors, key=lambda one: (-one.right, one.rater)), len(ratings))


def _refused(sentence: str) -> Conflict:
    return Conflict("not_identified", sentence)


# What one page and one request can carry, and one reviewer can answer for.
MOST_AT_ONCE = 5000
FEWEST_VOTES = 2


@dataclass(frozen=True)
class Proposal:
    """A disputed unit as it was looked at, and what it would be settled as."""

    id: int
    revision: int
    value: Any
    confidence: float


@dataclass(frozen=True)
class ValueCount:
    """How many units of a criterion would get a value."""

    criterion: str
    name: str
    value: Any
    label: str
    n: int


@dataclass(frozen=True)
class Preview:
    """considered: how many disputed units there are in all, or, where it is_part, were looked at. more: how many could
    follow at the next time. reached: of a part, where it ended, as a cursor; "": at the end."""

    considered: int
    proposals: list[Proposal]
    by_value: list[ValueCount]
    more: int
    model: Posteriors | None = None
    is_part: bool = False
    reached: str = ""


def agreed_from(queue: Queue, cursor: str, *, agreement: Any, votes: Any) -> Preview:
    """As `agreed`; of a walked queue (decision 74) among the next units after the cursor, as many as there is time
    for."""
    if not queue.is_walked:
        return agreed(queue, agreement=agreement, votes=votes)
    at = queue.position(cursor)
    part = queue.part(at, MOST_AT_ONCE)
    found = agreed(queue, agreement=agreement, votes=votes, only=part.rows)
    return replace(found, is_part=at is not None or part.reached is not None, reached=part.reached or "")


def agreed(queue: Queue, *, agreement: Any, votes: Any, only: Collection[int] | None = None) -> Preview:
    """The disputed units on which at least this share of at least this many votes agree. Raises Invalid.

    only: of these verdicts.
    """
    agreement, votes = check_agreement(agreement), check_votes(votes)
    rows = queue.disputed(only)
    found = [
        (row, row.value, row.agreement)
        for row in rows
        if row.agreement is not None and row.agreement >= agreement - 1e-9 and row.votes >= votes
    ]
    return _preview(queue, len(rows), found, None)


def probable(queue: Queue, criterion: Criterion, *, posterior: Any, only: Collection[int] | None = None) -> Preview:
    """The criterion's disputed units with a value that is at least so probable. Raises Invalid, Conflict."""
    posterior = check_posterior(posterior)
    model = _posteriors_of(criterion)
    rows = [row for row in queue.disputed(only) if row.criterion_id == criterion.pk]
    found = []
    for row in rows:
        value, probability = model.units.get((row.sample_id, row.unit), (None, 0.0))
        if probability >= posterior:
            found.append((row, value, probability))
    return _preview(queue, len(rows), found, model)


def _preview(
    queue: Queue, considered: int, found: list[tuple[Disputed, Any, float]], model: Posteriors | None
) -> Preview:
    """found: units, each with its value and how sure that is."""
    taken = [(row, Proposal(row.id, row.revision, value, sure)) for row, value, sure in found[:MOST_AT_ONCE]]
    criteria = {one.pk: one for one in queue.project.criteria.all()}
    # As a text, because a count needs something hashable that tells true from 1.
    counts = Counter((row.criterion_id, repr(proposal.value)) for row, proposal in taken)
    values = {(row.criterion_id, repr(proposal.value)): proposal.value for row, proposal in taken}
    by_value = []
    for (pk, spelled), n in counts.items():
        value, criterion = values[pk, spelled], criteria[pk]
        words = {repr(option["value"]): option.get("label") or str(option["value"]) for option in criterion.options}
        label = (
            ", ".join(words[repr(one)] for one in value) if isinstance(value, list) else words.get(spelled, str(value))
        )
        by_value.append(ValueCount(criterion.key, criterion.name, value, label, n))
    by_value.sort(key=lambda row: (row.criterion, -row.n, row.label))
    return Preview(considered, [proposal for _row, proposal in taken], by_value, len(found) - len(taken), model)


def check_agreement(agreement: Any) -> float:
    if isinstance(agreement, bool) or not isinstance(agreement, int | float) or not 0.5 < agreement <= 1:
        raise Invalid("bad_agreement", _("Minimum agreement: must be more than half of the votes, and at most all."))
    return float(agreement)


def check_votes(votes: Any) -> int:
    if isinstance(votes, bool) or not isinstance(votes, int) or not FEWEST_VOTES <= votes <= 1000:
        raise Invalid("bad_votes", _("Minimum number of votes: must be at least 2."))
    return votes


def check_posterior(posterior: Any) -> float:
    if isinstance(posterior, bool) or not isinstance(posterior, int | float) or not 0.5 < posterior <= 1:
        raise Invalid("bad_posterior", _("Minimum probability: must be above 0.5 and at most 1."))
    return float(posterior)
