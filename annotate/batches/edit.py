"""A draft as it is edited: any of its settings, and which samples it has, by the checks that it was created with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.batches.checks import TOGETHER, check_settings, locked, note_batch
from annotate.batches.sample_choice import add_samples, choose_samples
from annotate.core.errors import Conflict, Invalid
from annotate.models import Batch, BatchCriterion, User
from annotate.models.batch import CHOSEN_BY_PEOPLE, BatchStatus, Came
from annotate.projects.read import annotators_of, asked_in

_LISTS = ("criteria", "annotators")
# What they say changes which samples there are, which of them several people label, or which expertise each needs.
_OF_SAMPLES = {"criteria", "overlap", "overlap_share", "requires", "tag_key"}


def require_draft(batch: Batch) -> None:
    if batch.status != BatchStatus.DRAFT:
        said = _("Batch %(number)d is no longer a draft and can’t be edited. Extend it instead, or create another.")
        raise Conflict("not_a_draft", said % {"number": batch.number})


def settings_of(batch: Batch) -> dict[str, Any]:
    """As they were given (annotate.batches.checks.SETTINGS)."""
    stored = (
        "name", "due_date", "overlap", "overlap_share", "strategy", "lease_minutes", "tag_key", "gold_share",
        "repeat_share", "gold_feedback", "consensus", "settle_share", "settle_votes", "proposals", "withheld_share",
        "requires",
    )  # fmt: skip
    return {
        **{name: getattr(batch, name) for name in stored},
        "criteria": asked_in(batch),
        "annotators": annotators_of(batch),
        "single_labels": batch.single_labels_at is not None,
    }


def edit_batch(
    *,
    actor: User | None,
    batch: Batch,
    selection: Mapping[str, Any] | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    **settings: Any,
) -> Batch:
    """What is not named stays as it is. Raises Conflict when the batch is no draft any more.

    selection: another choice of samples, in place of the one there was. add, remove: samples by their own ids, from
    that choice.
    """
    with transaction.atomic():
        batch = locked(batch)
        require_draft(batch)
        stands = settings_of(batch)
        if settings.get("consensus", stands["consensus"]) != stands["consensus"]:
            # Share and votes go with the rule that they belong to.
            settings = {"settle_share": None, "settle_votes": None, **settings}
        # A date that has passed meanwhile may stay.
        asked = {name: value for name, value in settings.items() if name != "due_date" or value != stands[name]}
        for names in TOGETHER:
            if asked.keys() & set(names):
                asked |= {name: settings.get(name, stands[name]) for name in names}
        given = check_settings(batch.project, asked)
        changed = {name: value for name, value in given.items() if _differs(name, value, stands[name])}
        choice = samples_after(batch, selection=selection, add=add, remove=remove)
        there = set(batch.batch_samples.values_list("sample_id", flat=True))
        store_settings(batch, changed, by=actor)
        is_other = choice.stored != batch.selection or set(choice.keys) != there
        if is_other or changed.keys() & _OF_SAMPLES:
            _set_samples(batch, choice)
        if changed or is_other:
            samples = {"samples": len(choice.keys)} if is_other else {}
            note_batch(actor, batch, "edited", fields=[*sorted(changed), *samples], **samples)
    return Batch.objects.select_related("project").get(pk=batch.pk)


def _differs(name: str, value: Any, stands: Any) -> bool:
    return bool(set(value) != set(stands) if name == "annotators" else value != stands)


@dataclass(frozen=True, slots=True)
class Edited:
    """keys: of the samples, in the order of the batch. stored: the batch's selection. chances: of those that have one,
    with their stratum."""

    keys: list[int]
    stored: dict[str, Any]
    chances: dict[int, tuple[float, int]]


def samples_after(
    batch: Batch,
    *,
    selection: Mapping[str, Any] | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> Edited:
    """Which samples the draft would have.

    Those that are added by hand have no chance, as in a batch that is extended; and when some of a draw are removed by
    hand, the rest is chosen by hand too. An audit's samples are not all of its draw any more then, so that they no
    longer came by it. Raises Invalid.
    """
    project = batch.project
    if selection is None:
        rows = batch.batch_samples.order_by("position").values_list("sample_id", "probability", "stratum")
        keys = [key for key, _chance, _stratum in rows]
        chances = {key: (chance, stratum or 1) for key, chance, stratum in rows if chance is not None}
        stored = dict(batch.selection)
    else:
        choice = choose_samples(project=project, selection=selection)
        keys, chances, stored = list(choice.keys), choice.chances(), dict(choice.stored)
    if remove:
        gone = set(choose_samples(project=project, selection={"method": "list", "samples": list(remove)}).keys)
        foreign = gone - set(keys)
        if foreign:
            raise Invalid("not_in_batch", _("This batch has no sample with one of the IDs to remove."))
        keys, chances = [key for key in keys if key not in gone], {}
        came = stored["came"] if stored["came"] in CHOSEN_BY_PEOPLE else Came.BY_HAND
        note = {"note": stored["note"]} if "note" in stored else {}
        stored = {"method": "list", "n": len(keys), "came": came, **note}
    if add:
        there = set(keys)
        more = choose_samples(project=project, selection={"method": "list", "samples": list(add)})
        new = [key for key in more.keys if key not in there]
        keys = [*keys, *new]
        if stored["method"] == "list":
            stored = {**stored, "n": len(keys)}
        elif new:
            came = Came.BY_HAND if stored["came"] == Came.AUDIT else stored["came"]
            extensions = [*stored.get("extensions", []), {**more.stored, "n": len(new)}]
            stored = {**stored, "came": came, "extensions": extensions}
    if not keys:
        raise Invalid("no_samples", _("No samples match this selection."))
    return Edited(keys, stored, chances)


def store_settings(batch: Batch, given: Mapping[str, Any], *, by: User | None) -> None:
    """Saves the batch with these settings, which are checked. Inside the caller's transaction."""
    for name, value in given.items():
        if name == "single_labels":
            batch.single_labels_at = timezone.now() if value else None
            batch.single_labels_by = by if value else None
        elif name not in _LISTS:
            setattr(batch, name, value)
    batch.save()
    if "criteria" in given:
        batch.batch_criteria.all().delete()
        BatchCriterion.objects.bulk_create(
            BatchCriterion(batch=batch, criterion=criterion, position=position)
            for position, criterion in enumerate(given["criteria"])
        )
    if "annotators" in given:
        batch.annotators.set(given["annotators"])


def _set_samples(batch: Batch, choice: Edited) -> None:
    batch.batch_samples.all().delete()
    batch.selection = choice.stored
    batch.save(update_fields=["selection"])
    add_samples(batch, choice.keys, chances=choice.chances)
