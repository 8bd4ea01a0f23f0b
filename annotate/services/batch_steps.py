"""A batch's states: draft, open, paused, adjudicating, closed."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.errors import Conflict
from annotate.models import Batch, User, Verdict
from annotate.models.batch import BatchStatus
from annotate.models.label import Label
from annotate.selectors.gold import gold_for, gold_samples
from annotate.selectors.projects import active_members
from annotate.selectors.samples import samples_keyed
from annotate.services import audit, notices
from annotate.services.assignment import check_tags
from annotate.services.batch_checks import check_people, found, locked
from annotate.services.making_tasks import make_tasks
from annotate.services.moving import at_work, lock_samples, lock_takers, settle_batch
from annotate.services.tasks import HandedOn, hand_on_of_the_gone
from annotate.unit_sql import UnitCount
from annotate.units import LISTED_KINDS


def open_batch(*, batch: Batch, actor: User | None = None) -> Batch:
    """Makes the tasks: each sample's overlap, nobody twice; shared out now, or free for whoever asks for one."""
    with transaction.atomic():
        batch = locked(batch, BatchStatus.DRAFT)
        annotators = list(batch.annotators.order_by("id"))
        check_people(batch.project, annotators, batch.overlap)
        members = active_members(batch.project)
        tags_of = {user.pk: members[user.pk] for user in annotators}
        check_tags(batch, tags_of)
        samples = list(batch.batch_samples.order_by("position"))
        _check_has_units(batch, [row.sample_id for row in samples])
        if batch.gold_share:
            _check_gold(batch, tags_of)
        make_tasks(batch, samples, tags_of)
        batch.status = BatchStatus.OPEN
        batch.opened_at = timezone.now()
        batch.save(update_fields=["status", "opened_at"])
        notices.batch_opened(batch)
        _note(actor, batch, "opened", tasks=batch.tasks.count())
    return batch


def _check_has_units(batch: Batch, samples: Sequence[int]) -> None:
    """Every criterion must find something to ask about; a batch that asks about nothing is a mistake."""
    for criterion in batch.criteria.all():
        listed = criterion.unit in LISTED_KINDS
        if listed and not samples_keyed(samples).alias(units=UnitCount(criterion.unit)).filter(units__gt=0).exists():
            said = _("“%(key)s” asks about each %(kind)s, but no sample of this batch has one.")
            given = {"key": criterion.key, "kind": criterion.get_unit_display().lower()}
            raise Conflict("nothing_to_ask", said % given)


def _check_gold(batch: Batch, tags_of: Mapping[int, Collection[str]]) -> None:
    if not gold_samples(batch):
        raise Conflict(
            "no_gold",
            _("No sample has a known answer to what this batch asks; give some, or set the share of gold to 0."),
        )
    rng = random.Random(batch.seed)
    if not any(gold_for(batch, person, tags=tags, besides=(), rng=rng) for person, tags in tags_of.items()):
        raise Conflict(
            "no_gold",
            _(
                "Nobody in this batch can be measured by the known answers: they have labelled those samples, have "
                "seen the answers, or lack the expertise. Give other answers, or set the share of gold to 0."
            ),
        )


def pause_batch(*, actor: User | None, batch: Batch) -> Batch:
    """Nobody labels until it is resumed; everything stays where it is. Repeating it changes nothing."""
    return _switch(actor, batch, BatchStatus.OPEN, BatchStatus.PAUSED, "paused")


def resume_batch(*, actor: User | None, batch: Batch) -> Batch:
    """Labelling goes on where it was. Repeating it changes nothing."""
    return _switch(actor, batch, BatchStatus.PAUSED, BatchStatus.OPEN, "resumed")


def _switch(actor: User | None, batch: Batch, before: BatchStatus, after: BatchStatus, what: str) -> Batch:
    with transaction.atomic():
        batch = locked(batch, before, after)
        if batch.status == before:
            batch.status = after
            batch.save(update_fields=["status"])
            _note(actor, batch, what)
    return batch


def start_adjudication(*, batch: Batch, actor: User | None = None) -> Batch:
    """No more labelling; what is disputed goes on to the reviewers, and with it what fewer people labelled than should
    have. Tasks not finished stay as they are."""
    with transaction.atomic():
        batch = locked(batch, BatchStatus.OPEN, BatchStatus.PAUSED)
        batch.status = BatchStatus.ADJUDICATING
        batch.save(update_fields=["status"])
        _note(actor, batch, "adjudicating", verdicts=_settle_half_labelled(batch))
    return batch


def close_batch(*, batch: Batch, actor: User | None = None) -> Batch:
    """Ends the labelling, if that wasn't done before, and the adjudication. Disputes still wait for the reviewers."""
    with transaction.atomic():
        batch = locked(batch, BatchStatus.OPEN, BatchStatus.PAUSED, BatchStatus.ADJUDICATING)
        batch.status = BatchStatus.CLOSED
        batch.closed_at = timezone.now()
        batch.save(update_fields=["status", "closed_at"])
        _note(actor, batch, "closed", verdicts=_settle_half_labelled(batch))
    return batch


def _settle_half_labelled(batch: Batch) -> int:
    """Samples that people were still at work on: what was submitted is all that there will be. Returns how many
    verdicts changed."""
    samples = list(at_work(batch).order_by().values_list("sample", flat=True).distinct())
    lock_samples(samples)
    return settle_batch(batch, samples)


def reopen_batch(*, batch: Batch, actor: User | None = None) -> HandedOn:
    """Labelling goes on in a batch that was closed or handed to the reviewers too early. Open tasks of people who have
    left meanwhile go to somebody else, as they do when somebody leaves; returns how many these were.

    A verdict on half of the votes stays, since somebody may have decided it, and is worked out anew once its sample is
    labelled; until then no reviewer is asked about it (selectors.adjudication).
    """
    with transaction.atomic():
        batch = locked(batch, BatchStatus.ADJUDICATING, BatchStatus.CLOSED)
        batch.status = BatchStatus.OPEN
        batch.closed_at = None
        batch.save(update_fields=["status", "closed_at"])
        _note(actor, batch, "reopened")
        return hand_on_of_the_gone(actor=actor, batch=batch)


def delete_batch(*, batch: Batch, actor: User | None = None) -> None:
    """Only a batch that carries no labels can go; a draft always can."""
    with transaction.atomic():
        batch = found(Batch.objects.select_for_update(no_key=True), batch)
        # Before the tasks, as everybody who takes one (services.queue); the rows go with the batch.
        lock_takers(batch.pk)
        # Whoever is about to save a label finds the task gone afterwards, or is counted here.
        list(batch.tasks.select_for_update().order_by("id").values_list("id", flat=True))
        labels = Label.objects.filter(task__batch=batch).count()
        if labels:
            said = _("Batch %(number)d carries %(labels)d labels and can't be deleted; close it instead.")
            raise Conflict("has_labels", said % {"number": batch.number, "labels": labels}, labels=labels)
        batch.tasks.all().delete()
        # Made from labels of elsewhere when its people had skipped: no vote of theirs is in them.
        Verdict.objects.filter(batch=batch).update(batch=None)
        batch.delete()
        _note(actor, batch, "deleted")


def _note(actor: User | None, batch: Batch, what: str, **details: int) -> None:
    audit.note(
        actor=actor,
        action=f"batch.{what}",
        subject=batch.name,
        project=batch.project,
        number=batch.number,
        **details,
    )
