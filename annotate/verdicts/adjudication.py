"""A reviewer settles what the rules did not, or sends a task back; an annotator has read what was decided otherwise.

Many disputed units are settled at once where their votes agree far enough, or where a model is sure of them. Settled is
what was looked at: a preview (proposals_read) names each unit with its revision and value, and units that changed since
are left as they are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.blindness import may_know_names, require_unblind
from annotate.core.errors import Conflict, Invalid, Stale
from annotate.core.rows import execute, first_or_raise
from annotate.core.scales import json_spelling, normalise
from annotate.core.texts import words_or_raise
from annotate.core.trail import note
from annotate.core.units import without_abstentions
from annotate.models import Criterion, LessonRead, Project, Task, User, Verdict
from annotate.models.label import RULED_METHODS, VerdictMethod, VerdictState
from annotate.tasks.write import return_task
from annotate.verdicts.disputes_read import one_dispute
from annotate.verdicts.lessons_read import own_revisions
from annotate.verdicts.proposals_read import (
    MOST_AT_ONCE,
    Preview,
    agreed,
    check_agreement,
    check_posterior,
    check_votes,
    probable,
)
from annotate.verdicts.read import Queue


def decide(
    *, reviewer: User, project: Project, verdict_id: int, value: Any, reason: str, expected_revision: int
) -> Verdict:
    """Settles a unit with the reviewer's value: a disputed or reopened one, or one that was settled otherwise.
    Repeating the same decision changes nothing.

    Raises Http404, Conflict (the reviewer still has the sample to label), Invalid (value, reason), Stale when the
    labels or the decision changed since the reviewer looked.
    """
    reason = _given_reason(reason)
    with transaction.atomic():
        verdict = _locked(reviewer, project, verdict_id)
        chosen = normalise(verdict.criterion, value)
        if verdict.revision != expected_revision:
            repeated = (
                verdict.state == VerdictState.SETTLED
                and verdict.decided_by_id == reviewer.pk
                and (verdict.value, verdict.reason, verdict.revision) == (chosen, reason, expected_revision + 1)
            )
            if repeated:
                return verdict
            raise _stale(verdict, value=chosen, reason=reason)
        verdict.state = VerdictState.SETTLED
        verdict.method = VerdictMethod.ADJUDICATED
        verdict.value = chosen
        verdict.reason = reason
        verdict.decided_by = reviewer
        verdict.approved_by = verdict.approved_at = None
        verdict.decided_votes = verdict.votes
        verdict.decided_at = timezone.now()
        agreeing = sum(vote["value"] == chosen for vote in verdict.votes)
        verdict.confidence = agreeing / len(verdict.votes) if verdict.votes else None
        verdict.revision += 1
        verdict.save()
    return verdict


def approve(*, reviewer: User, project: Project, verdict_id: int, expected_revision: int) -> Verdict:
    """Notes that a reviewer looked at what the votes settled by themselves, and found it right. Value and method stay.
    Repeating it changes nothing.

    Raises Http404, Conflict (the reviewer still has the sample to label; a person decided, or has to), Stale when the
    labels or the verdict changed since the reviewer looked.
    """
    with transaction.atomic():
        verdict = _locked(reviewer, project, verdict_id)
        if verdict.approved_by_id == reviewer.pk and verdict.revision == expected_revision + 1:
            return verdict
        if verdict.revision != expected_revision:
            raise _stale(verdict, value=verdict.value, reason="")
        if verdict.state != VerdictState.SETTLED or verdict.method not in RULED_METHODS:
            raise Conflict(
                "not_agreed",
                _("Only units resolved by consensus can be approved. Decide this unit instead."),
            )
        verdict.approved_by = reviewer
        verdict.approved_at = timezone.now()
        verdict.revision += 1
        verdict.save()
    return verdict


def _locked(reviewer: User, project: Project, verdict_id: int) -> Verdict:
    """The verdict, locked. Raises Http404, Conflict (blind)."""
    verdicts = Verdict.objects.select_for_update(of=("self",)).select_related("criterion", "sample")
    verdict = first_or_raise(
        without_abstentions(verdicts.filter(pk=verdict_id, criterion__project=project)),
        Http404(_("Unit not found.")),
    )
    require_unblind(reviewer, verdict.sample)
    return verdict


def _stale(verdict: Verdict, *, value: Any, reason: str) -> Stale:
    """value, reason: what the reviewer wanted it to be."""
    return Stale(
        "stale",
        _("This unit was decided or relabelled since you opened it."),
        current=verdict,
        yours={"value": value, "reason": reason},
    )


def _given_reason(reason: Any) -> str:
    refusal = Invalid("no_reason", _("Briefly explain your reason. Annotators learn from it."))
    return words_or_raise(reason, refusal)


def send_back(*, reviewer: User, project: Project, verdict_id: int, letter: str, message: str) -> Task:
    """Returns the task of the annotator who has this letter on the unit, with a message. The unit waits meanwhile.

    Raises Http404, Conflict (the reviewer still has the sample to label, or the task can't be returned, or asks an
    earlier version of the criterion), Invalid.
    """
    dispute = one_dispute(project, verdict_id, reader=reviewer, named=False)
    one = next((one for one in dispute.labels if one.letter == letter), None)
    if one is None:
        raise Invalid("unknown_annotator", _("Select whose label to send back."))
    if one.task_id is None:
        raise Conflict("imported_label", _("This label was imported and can’t be sent back."))
    if one.carried:
        raise Conflict(
            "carried_label",
            _(
                "This label was carried over from an earlier version of “%(name)s”. Decide the unit, or ask an admin "
                "for a batch with version %(version)d."
            )
            % {"name": dispute.verdict.criterion.name, "version": dispute.verdict.criterion.version},
        )
    try:
        return return_task(actor=reviewer, project=project, task_id=one.task_id, message=message)
    except Conflict as refusal:
        if refusal.code != "not_a_member" or may_know_names(reviewer, project):
            raise
        # The refusal has their name.
        said = _("This annotator is no longer an active member. Decide the unit yourself.")
        raise Conflict(refusal.code, said) from None


def show_names(*, actor: User, project: Project, shown: bool) -> None:
    """Notes that the actor switched the annotators' names on, or off again, for themselves."""
    action = "adjudication.names_shown" if shown else "adjudication.names_hidden"
    note(actor=actor, action=action, subject=project.name, project=project)


# id -> revision and value (annotate.core.scales.json_spelling), as a preview showed them.
_Seen = dict[int, tuple[int, str]]


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
    reason = _given_reason(reason)
    agreement, votes = check_agreement(agreement), check_votes(votes)
    looked_at = _check_seen(seen)
    queue = Queue(project, reader=reviewer)
    with transaction.atomic():
        execute(_LOCK, [list(looked_at), project.pk])
        preview = agreed(queue, agreement=agreement, votes=votes, only=looked_at)
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
    reason = "" if reason == "" else _given_reason(reason)
    looked_at = _check_seen(seen)
    queue = Queue(project, reader=reviewer)
    # Worked out before anything is locked, since it reads all labels. Votes that change in between change the revision
    # of their unit.
    found = probable(queue, criterion, posterior=posterior, only=looked_at)
    assert found.model is not None
    stated = _("Dawid–Skene: probability at least %(posterior)s; from %(labels)d labels by %(people)d annotators.") % {
        "posterior": f"{posterior:g}",
        "labels": found.model.labels,
        "people": len(found.model.raters),
    }
    with transaction.atomic():
        execute(_LOCK, [list(looked_at), project.pk])
        return _settle(
            reviewer,
            project,
            found,
            looked_at,
            method=VerdictMethod.DAWID_SKENE,
            reason=f"{reason} ({stated})" if reason else stated,
            details={"criterion": criterion.key, "posterior": posterior},
        )


def _is_value(value: Any) -> bool:
    """A single value, or a selection of some."""
    if isinstance(value, list):
        return all(isinstance(one, str | int | float | bool) for one in value)
    return isinstance(value, str | int | float | bool)


def _check_seen(seen: Any) -> _Seen:
    """What was looked at, from a request: [[id, revision, value], …]."""
    if not isinstance(seen, list | tuple) or not seen:
        raise Invalid("nothing_seen", _("This preview has nothing to resolve. Refresh it."))
    if len(seen) > MOST_AT_ONCE:
        raise Invalid("too_many", _("Resolve at most %(n)d units at once.") % {"n": MOST_AT_ONCE})
    for one in seen:
        if (
            not (isinstance(one, list | tuple) and len(one) == 3)
            or any(isinstance(n, bool) or not isinstance(n, int) or not 0 < n < 2**62 for n in one[:2])
            or not _is_value(one[2])
        ):
            raise Invalid("bad_seen", _("seen: must be a list of [id, revision, value], as in the preview."))
    looked_at = {pk: (revision, json_spelling(value)) for pk, revision, value in seen}
    if len(looked_at) < len(seen):
        raise Invalid("bad_seen", _("seen: each unit must be listed once."))
    return looked_at


# In the order in which a submission settles the units of a sample, so that neither waits for the other.
_LOCK = """
    SELECT FROM annotate_verdict v JOIN annotate_criterion c ON c.id = v.criterion_id
     WHERE v.id = ANY(%s) AND c.project_id = %s ORDER BY v.sample_id, v.unit, v.criterion_id FOR NO KEY UPDATE OF v
"""

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
    looked_at: _Seen,
    *,
    method: VerdictMethod,
    reason: str,
    details: dict[str, Any],
) -> Accepted:
    chosen = [one for one in preview.proposals if looked_at.get(one.id) == (one.revision, json_spelling(one.value))]
    # What a first try of the same request has settled.
    own = Verdict.objects.filter(
        pk__in=looked_at,
        criterion__project=project,
        state=VerdictState.SETTLED,
        method=method,
        decided_by=reviewer,
        reason=reason,
    )
    before = sum(
        looked_at[pk] == (revision - 1, json_spelling(value))
        for pk, revision, value in own.values_list("pk", "revision", "value")
    )
    settled = execute(
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


def mark_read(*, user: User, project: Project, verdict_ids: Collection[int]) -> int:
    """Marks these of the user's own lessons as read, as they stand now, and returns how many that were. Other ids
    change nothing."""
    own = own_revisions(user, project, verdict_ids)
    LessonRead.objects.bulk_create(
        [LessonRead(user=user, verdict_id=pk, revision=revision) for pk, revision in own.items()],
        update_conflicts=True,
        unique_fields=["user", "verdict"],
        update_fields=["revision"],
    )
    return len(own)
