"""A reviewer settles what the rules did not, or asks an annotator to look again."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.errors import Conflict, Invalid, Stale
from annotate.models import Project, Task, User, Verdict
from annotate.models.verdict import RULED_METHODS, VerdictMethod, VerdictState
from annotate.scales import normalise
from annotate.selectors.adjudication import one_verdict, verdict_as_dict
from annotate.selectors.disputes import people_of, require_unblind, side_by_side
from annotate.services.audit import note
from annotate.services.tasks import return_task
from annotate.texts import MAX_COMMENT, is_storable


def decide(
    *, reviewer: User, project: Project, verdict_id: int, value: Any, reason: str, expected_revision: int
) -> Verdict:
    """Settles a unit with the reviewer's value: a disputed or reopened one, or one that was settled otherwise.
    Repeating the same decision changes nothing.

    Raises Http404, Conflict (the reviewer still has the sample to label), Invalid (value, reason), Stale when the
    labels or the decision changed since the reviewer looked.
    """
    reason = given_reason(reason)
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
                _("Only what the labels settled by themselves can be approved. This unit is a reviewer's to decide."),
            )
        verdict.approved_by = reviewer
        verdict.approved_at = timezone.now()
        verdict.revision += 1
        verdict.save()
    return verdict


def _locked(reviewer: User, project: Project, verdict_id: int) -> Verdict:
    """The verdict, which nobody else changes until the transaction ends. Raises Http404, Conflict (blind)."""
    verdict = (
        Verdict.objects.select_for_update(of=("self",))
        .select_related("criterion", "sample")
        .filter(pk=verdict_id, criterion__project=project)
        .first()
    )
    if verdict is None:
        raise Http404(_("There is no such unit to decide."))
    require_unblind(reviewer, verdict.sample)
    return verdict


def _stale(verdict: Verdict, *, value: Any, reason: str) -> Stale:
    """value, reason: what the reviewer wanted it to be."""
    return Stale(
        "stale",
        _("This unit was decided or labelled anew since you opened it."),
        current=verdict_as_dict(verdict),
        yours={"value": value, "reason": reason},
    )


def given_reason(reason: Any) -> str:
    """The reason of a decision, as it is stored. Raises Invalid."""
    reason = reason.strip() if is_storable(reason) else ""
    if not reason or len(reason) > MAX_COMMENT:
        raise Invalid("no_reason", _("Give the reason in a few words; the annotators learn from it."))
    return reason


def send_back(*, reviewer: User, project: Project, verdict_id: int, letter: str, message: str) -> Task:
    """Returns the task of the annotator who has this letter on the unit, with a message. The unit waits meanwhile.

    Raises Http404, Conflict (the reviewer still has the sample to label, or the task can't be returned, or asks an
    earlier version of the criterion), Invalid.
    """
    verdict = one_verdict(project, verdict_id)
    require_unblind(reviewer, verdict.sample)
    said = side_by_side(verdict, people_of(verdict.sample, named=False))
    one = next((one for one in said if one.letter == letter), None)
    if one is None:
        raise Invalid("unknown_annotator", _("Choose whose label goes back."))
    if one.task_id is None:
        raise Conflict("imported_label", _("This label was made elsewhere; there is nobody here to send it back to."))
    if one.carried:
        raise Conflict(
            "carried_label",
            _(
                "This label was carried over; the task in which it was given asks an earlier version of “%(name)s”. "
                "Decide the unit yourself, or have an admin put the sample in a batch that asks version %(version)d."
            )
            % {"name": verdict.criterion.name, "version": verdict.criterion.version},
        )
    return return_task(actor=reviewer, project=project, task_id=one.task_id, message=message)


def show_names(*, actor: User, project: Project, shown: bool) -> None:
    """Notes that somebody switched the annotators' names on, or off again, for themselves."""
    action = "adjudication.names_shown" if shown else "adjudication.names_hidden"
    note(actor=actor, action=action, subject=project.name, project=project)
