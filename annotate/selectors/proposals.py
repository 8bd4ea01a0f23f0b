"""Which disputed units could be settled many at once, and as what: by the agreement of their votes, or by a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Criterion
from annotate.selectors.adjudication import Disputed, Queue
from annotate.selectors.posteriors import Posteriors, posteriors_of

# What one page and one request can carry, and one person can answer for.
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
    """considered: how many disputed units there are in all. more: how many could follow at the next time."""

    considered: int
    proposals: list[Proposal]
    by_value: list[ValueCount]
    more: int
    model: Posteriors | None = None


def agreed(queue: Queue, *, agreement: Any, votes: Any, only: Collection[int] | None = None) -> Preview:
    """The disputed units on which at least this share of at least so many votes agree. Raises Invalid.

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
    model = posteriors_of(criterion)
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
        by_value.append(ValueCount(criterion.key, criterion.name, value, words.get(spelled, str(value)), n))
    by_value.sort(key=lambda row: (row.criterion, -row.n, row.label))
    return Preview(considered, [proposal for _row, proposal in taken], by_value, len(found) - len(taken), model)


def check_agreement(agreement: Any) -> float:
    if isinstance(agreement, bool) or not isinstance(agreement, int | float) or not 0.5 < agreement <= 1:
        raise Invalid("bad_agreement", _("The agreement is more than half of the votes, and at most all of them."))
    return float(agreement)


def check_votes(votes: Any) -> int:
    if isinstance(votes, bool) or not isinstance(votes, int) or not FEWEST_VOTES <= votes <= 1000:
        raise Invalid(
            "bad_votes", _("Say how many votes a unit needs at least: 2 or more. One vote agrees with nobody.")
        )
    return votes


def check_posterior(posterior: Any) -> float:
    if isinstance(posterior, bool) or not isinstance(posterior, int | float) or not 0.5 < posterior <= 1:
        raise Invalid("bad_posterior", _("The probability is more than one half, and at most 1."))
    return float(posterior)
