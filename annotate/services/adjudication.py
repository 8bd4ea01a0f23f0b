"""A reviewer settles what the rules did not."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.errors import Invalid, Stale
from annotate.models import Project, User, Verdict
from annotate.models.verdict import VerdictMethod, VerdictState
from annotate.scales import normalise
from annotate.services.labelling import MAX_COMMENT
from annotate.texts import is_storable


def decide(
    *, reviewer: User, project: Project, verdict_id: int, value: Any, reason: str, expected_revision: int
) -> Verdict:
    """Settles a unit with the reviewer's value: a disputed or reopened one, or one that was settled otherwise.
    Repeating the same decision changes nothing.

    Raises Http404, Invalid (value, reason), Stale when the labels or the decision changed since the reviewer looked.
    """
    reason = reason.strip() if is_storable(reason) else ""
    if not reason or len(reason) > MAX_COMMENT:
        raise Invalid("no_reason", _("Give the reason in a few words; the annotators learn from it."))
    with transaction.atomic():
        verdict = (
            Verdict.objects.select_for_update(of=("self",))
            .select_related("criterion")
            .filter(pk=verdict_id, criterion__project=project)
            .first()
        )
        if verdict is None:
            raise Http404(_("There is no such unit to decide."))
        chosen = normalise(verdict.criterion, value)
        if verdict.revision != expected_revision:
            repeated = (
                verdict.state == VerdictState.SETTLED
                and verdict.decided_by_id == reviewer.pk
                and (verdict.value, verdict.reason, verdict.revision) == (chosen, reason, expected_revision + 1)
            )
            if repeated:
                return verdict
            raise Stale(
                "stale",
                _("This unit was decided or labelled anew since you opened it."),
                current=verdict_as_dict(verdict),
                yours={"value": chosen, "reason": reason},
            )
        verdict.state = VerdictState.SETTLED
        verdict.method = VerdictMethod.ADJUDICATED
        verdict.value = chosen
        verdict.reason = reason
        verdict.decided_by = reviewer
        agreeing = sum(vote["value"] == chosen for vote in verdict.votes)
        verdict.confidence = agreeing / len(verdict.votes) if verdict.votes else None
        verdict.revision += 1
        verdict.save()
    return verdict


def verdict_as_dict(verdict: Verdict) -> dict[str, Any]:
    return {
        "id": verdict.pk,
        "unit": verdict.unit,
        "criterion": verdict.criterion.key,
        "state": verdict.state,
        "value": verdict.value,
        "method": verdict.method,
        "reason": verdict.reason,
        "confidence": verdict.confidence,
        "revision": verdict.revision,
    }
