"""Editing the claims of a sample before people label them. The changes themselves are in claim_edits.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.advisory import no_import_writes, waits_a_little
from annotate.core.errors import Conflict, Invalid, Stale
from annotate.core.rows import execute
from annotate.core.texts import check_json
from annotate.core.units import is_dropped, unit_number, unit_title
from annotate.models import ClaimEdit, Project, Sample, User
from annotate.models.sample import ClaimsSource
from annotate.samples.claim_edits import apply_change, go_back
from annotate.samples.claim_splitting import Claim
from annotate.samples.claims_read import (
    CHECKED,
    IMPORTED,
    ClaimsState,
    batches_at_work,
    claims_state,
    in_words,
    may_know,
    said_about_claims,
    why_abstained,
    why_fixed,
)


def edit_claims(
    *, actor: User, project: Project, sample_id: int, change: Mapping[str, Any], expected_revision: int
) -> ClaimsState:
    """Makes one change and returns the claims as they are then.

    change: one of claim_edits, {"op": "restore_revision", "revision": 3}, or {"op": "checked"}: the actor has read the
    claims and found them good. Repeating a change that was made at `expected_revision` changes nothing and gives the
    claims as they are. A change that changes nothing makes no revision.

    Raises Http404, Stale (they were changed in between; carries both), Conflict (people are at work on the claims, or
    something rests on one that would change), Invalid.
    """
    if not isinstance(change, Mapping):
        raise Invalid("bad_change", _("Must be an object with “op”."))
    check_json(dict(change))
    with transaction.atomic():
        sample = locked_sample(project, sample_id)
        if sample.answer is None:
            raise Conflict("no_answer", _("This sample has no answer, so it has no claims."))
        if expected_revision != sample.claims_revision:
            return _repeated_or_stale(sample, actor, change, expected_revision)
        batches = list(batches_at_work(sample))
        if batches:
            told = may_know(actor, sample)
            named = [{"number": batch.number, "name": batch.name, "status": batch.status} for batch in batches]
            raise Conflict("claims_in_use", why_fixed(batches, told=told), **({"batches": named} if told else {}))
        if sample.abstained and change != {"op": CHECKED}:
            raise Conflict("abstained", why_abstained())
        before = sample.claims
        after = _after(sample, change)
        state = claims_state(sample, user=actor)
        if after == before and (change["op"] != CHECKED or state.checked):
            return state
        _require_untouched(actor, sample, before, after)
        if not state.history or state.history[0].revision != sample.claims_revision:
            # The history begins with the imported claims, and continues with them after a file named others.
            began = {"op": IMPORTED, "source": sample.claims_source}
            ClaimEdit.objects.create(
                sample=sample, revision=sample.claims_revision, change=began, claims=before, actor=actor
            )
        sample.claims, sample.claims_revision = after, sample.claims_revision + 1
        if after != before:
            sample.claims_source = ClaimsSource.EDITED
        sample.save(update_fields=["claims", "claims_revision", "claims_source"])
        ClaimEdit.objects.create(
            sample=sample, revision=sample.claims_revision, change=dict(change), claims=after, actor=actor
        )
        return claims_state(sample, user=actor)


# In the order of all locks, after the imports: a file of labels or scores counts the claims and writes about them
# later. The batches: one that is being opened sends them to people. The sample: against other editors, and statements
# that store a reference to it.
_LOCK = """SELECT FROM annotate_batch WHERE id IN (
    SELECT batch_id FROM annotate_batchsample WHERE sample_id = %s
    UNION SELECT batch_id FROM annotate_task WHERE sample_id = %s) ORDER BY id FOR SHARE"""


def locked_sample(project: Project, sample_id: int) -> Sample:
    """For a change of what its claims are. Waits a little for others to be done, but not for the end of a large
    import."""
    no_import_writes(project.pk)
    with waits_a_little(_("An import or a batch is using this sample. Try again in a moment.")):
        execute(_LOCK, [sample_id, sample_id])
        sample = Sample.objects.select_for_update().filter(project=project, pk=sample_id).first()
    if sample is None:
        raise Http404(_("Sample not found in this project."))
    return sample


def _repeated_or_stale(sample: Sample, actor: User, change: Mapping[str, Any], expected_revision: int) -> ClaimsState:
    made = sample.claim_edits.filter(revision=expected_revision + 1, actor=actor).first()
    current = claims_state(sample, user=actor)
    if made is not None and made.change == dict(change):
        return current
    raise Stale(
        "stale",
        _("These claims were changed in the meantime. Your change was not saved."),
        current=current,
        yours=dict(change),
    )


def _after(sample: Sample, change: Mapping[str, Any]) -> list[Claim]:
    name = change.get("op")
    if name == CHECKED and set(change) == {"op"}:
        return list(sample.claims)
    if name == "restore_revision" and set(change) == {"op", "revision"}:
        revision = change["revision"]
        if isinstance(revision, bool) or not isinstance(revision, int) or not 0 < revision < 2**31:
            raise Invalid("bad_change", _("%(name)s: must be a whole number, at least 1.") % {"name": "revision"})
        if revision == sample.claims_revision:
            return list(sample.claims)
        then = sample.claim_edits.filter(revision=revision).values_list("claims", flat=True).first()
        if then is None:
            raise Invalid("unknown_revision", _("Revision %(n)d of the claims not found.") % {"n": revision})
        return go_back(sample.claims, then)
    return apply_change(change, sample.claims, sample.answer or "")


def _require_untouched(actor: User, sample: Sample, before: Sequence[Claim], after: Sequence[Claim]) -> None:
    """What something was said about stays what it was said about."""
    said = said_about_claims(sample)
    for index, claim in enumerate(before):
        if index in said and _meaning(claim) != _meaning(after[index]):
            told = may_know(actor, sample)
            title = unit_title(f"claim:{index}", unit_number(sample, f"claim:{index}"))
            raise Conflict(
                "claim_in_use",
                _("%(claim)s has %(counts)s and can’t be changed. You can change other claims or add new ones.")
                % {"claim": title, "counts": in_words(said[index], told=told)},
                unit=f"claim:{index}",
                **({"carries": said[index]} if told else {}),
            )


def _meaning(claim: Mapping[str, Any]) -> tuple[Any, ...]:
    return claim["text"], claim["start"], claim["end"], is_dropped(claim)
