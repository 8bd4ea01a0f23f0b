"""A reviewer settles many disputed units at once: those whose votes agree far enough, or those that a model is sure of.

What is settled is what was looked at: a preview (annotate.selectors.proposals) names each unit with its revision and
value, and whatever is no longer so is left for the next time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Criterion, Project, User, Verdict
from annotate.models.verdict import VerdictMethod, VerdictState
from annotate.scales import Value
from annotate.selectors.adjudication import Queue
from annotate.selectors.proposals import (
    MOST_AT_ONCE,
    Preview,
    agreed,
    check_agreement,
    check_posterior,
    check_votes,
    probable,
)
from annotate.services.adjudication import given_reason
from annotate.services.audit import note

# id, revision, value
Seen = tuple[int, int, Value]


@dataclass(frozen=True)
class Accepted:
    """settled: how many hold as they were looked at. left: how many had changed, and were left as they are."""

    settled: int
    left: int


def accept_agreed(
    *, reviewer: User, project: Project, agreement: float, votes: int, seen: Sequence[Any], reason: str
) -> Accepted:
    """Settles the units of a preview at the value that most votes are for. Repeating it changes nothing.

    Raises Invalid.
    """
    reason = given_reason(reason)
    agreement, votes = check_agreement(agreement), check_votes(votes)
    looked_at = check_seen(seen)
    queue = Queue(project, reviewer)
    with transaction.atomic():
        _lock(project, looked_at)
        preview = agreed(queue, agreement=agreement, votes=votes, only=[one[0] for one in looked_at])
        return _settle(
            reviewer,
            project,
            preview,
            looked_at,
            method=VerdictMethod.ACCEPTED,
            reason=reason,
            details={"agreement": agreement, "votes": votes},
        )


def accept_probable(
    *, reviewer: User, project: Project, criterion: Criterion, posterior: float, seen: Sequence[Any], reason: str = ""
) -> Accepted:
    """Settles the units of a preview as the model says; the stored reason states the threshold and what it rests on.

    Raises Invalid, Conflict `not_identified`.
    """
    posterior = check_posterior(posterior)
    reason = "" if reason == "" else given_reason(reason)
    looked_at = check_seen(seen)
    queue = Queue(project, reviewer)
    # Worked out before anything is locked, since it reads all labels. Whatever votes change in between change the
    # revision of their unit.
    found = probable(queue, criterion, posterior=posterior, only=[one[0] for one in looked_at])
    assert found.model is not None
    stated = _("Dawid–Skene: probability at least %(posterior)s; from %(labels)d labels of %(people)d people.") % {
        "posterior": f"{posterior:g}",
        "labels": found.model.labels,
        "people": len(found.model.raters),
    }
    with transaction.atomic():
        _lock(project, looked_at)
        return _settle(
            reviewer,
            project,
            found,
            looked_at,
            method=VerdictMethod.DAWID_SKENE,
            reason=f"{reason} ({stated})" if reason else stated,
            details={"criterion": criterion.key, "posterior": posterior},
        )


def check_seen(seen: Any) -> list[Seen]:
    """What was looked at, from a request: [[id, revision, value], …]."""
    if not isinstance(seen, list | tuple) or not seen:
        raise Invalid("nothing_seen", _("There is nothing to settle in this preview; look again."))
    if len(seen) > MOST_AT_ONCE:
        raise Invalid("too_many", _("Settle at most %(n)d units at once.") % {"n": MOST_AT_ONCE})
    for one in seen:
        whole = isinstance(one, list | tuple) and len(one) == 3
        if not whole or any(isinstance(n, bool) or not isinstance(n, int) or not 0 < n < 2**62 for n in one[:2]):
            raise Invalid("bad_seen", _("seen: a list of [id, revision, value], as the preview gives it."))
        if not isinstance(one[2], str | int | float | bool):
            raise Invalid("bad_seen", _("seen: a list of [id, revision, value], as the preview gives it."))
    if len({one[0] for one in seen}) < len(seen):
        raise Invalid("bad_seen", _("seen: each unit once."))
    return [tuple(one) for one in seen]


# In the order in which a submission settles the units of a sample, so that neither waits for the other.
_LOCK = """
    SELECT FROM annotate_verdict v JOIN annotate_criterion c ON c.id = v.criterion_id
     WHERE v.id = ANY(%s) AND c.project_id = %s ORDER BY v.sample_id, v.unit, v.criterion_id FOR NO KEY UPDATE OF v
"""


def _lock(project: Project, looked_at: Sequence[Seen]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [[one[0] for one in looked_at], project.pk])


_SETTLE = """
    UPDATE annotate_verdict v SET
           state = %(settled)s, method = %(method)s, value = p.value::jsonb, confidence = p.confidence,
           reason = %(reason)s, decided_by_id = %(reviewer)s, decided_votes = v.votes, decided_at = now(),
           revision = v.revision + 1, updated_at = now()
      FROM unnest(%(ids)s::bigint[], %(revisions)s::bigint[], %(values)s::text[], %(confidences)s::float[])
           AS p (id, revision, value, confidence)
     WHERE v.id = p.id AND v.revision = p.revision AND v.state = %(disputed)s
"""


def _settle(
    reviewer: User,
    project: Project,
    preview: Preview,
    looked_at: Sequence[Seen],
    *,
    method: VerdictMethod,
    reason: str,
    details: dict[str, Any],
) -> Accepted:
    expected = {pk: (revision, _spelled(value)) for pk, revision, value in looked_at}
    chosen = [one for one in preview.proposals if expected.get(one.id) == (one.revision, _spelled(one.value))]
    before = _already(reviewer, project, expected, method, reason)
    with connection.cursor() as cursor:
        cursor.execute(
            _SETTLE,
            {
                "settled": VerdictState.SETTLED.value,
                "disputed": VerdictState.DISPUTED.value,
                "method": method.value,
                "reason": reason,
                "reviewer": reviewer.pk,
                "ids": [one.id for one in chosen],
                "revisions": [one.revision for one in chosen],
                "values": [json.dumps(one.value) for one in chosen],
                "confidences": [one.confidence for one in chosen],
            },
        )
        settled = cursor.rowcount
    left = len(looked_at) - settled - before
    if settled:
        note(
            actor=reviewer,
            action="verdicts.accepted",
            subject=project.name,
            project=project,
            method=method.value,
            settled=settled,
            left=left,
            reason=reason,
            **details,
        )
    return Accepted(settled + before, left)


def _already(
    reviewer: User, project: Project, expected: dict[int, tuple[int, str]], method: VerdictMethod, reason: str
) -> int:
    """How many of these a first try of the same request has settled."""
    rows = Verdict.objects.filter(
        pk__in=expected,
        criterion__project=project,
        state=VerdictState.SETTLED,
        method=method,
        decided_by=reviewer,
        reason=reason,
    ).values_list("pk", "revision", "value")
    return sum(expected[pk] == (revision - 1, _spelled(value)) for pk, revision, value in rows)


def _spelled(value: Any) -> str:
    """4 and 4.0 are one value in JSON; true and 1 are not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value)
