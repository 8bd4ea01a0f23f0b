"""Batches: samples chosen, tasks assigned, opened, closed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.http import Http404
from django.utils import timezone

from annotate.errors import Conflict, Invalid
from annotate.models import Batch, BatchCriterion, BatchSample, Criterion, Membership, Project, Sample, Task, User
from annotate.models.batch import BatchStatus
from annotate.models.label import Label
from annotate.selectors.samples import samples_keyed, samples_named
from annotate.texts import check_json, is_storable
from annotate.unit_sql import UnitCount
from annotate.units import LISTED_KINDS

SELECTION_METHODS = ("all", "filter", "random", "list")
_SELECTION_FIELDS = {"method", "filter", "n", "seed"}
_LIST_FIELDS = {"method", "samples", "note"}
MAX_SEED = 2**31 - 1
MAX_NOTE = 500


def create_batch(
    *,
    project: Project,
    name: str,
    criteria: Sequence[Criterion],
    annotators: Sequence[User],
    overlap: int,
    selection: Mapping[str, Any],
    seed: int | None = None,
    due_date: date | None = None,
    created_by: User | None = None,
    chances: Mapping[str, tuple[float, int]] | None = None,
) -> Batch:
    """A draft with its samples drawn and its people named; `open_batch` makes the tasks.

    selection: {"method": "all"} | {"method": "filter", "filter": {metadata key: value}} |
    {"method": "random", "n": int, "seed"?: int, "filter"?: {…}} | {"method": "list", "samples": [their own ids],
    "note"?: why these}. A random selection without a seed of its own uses the batch's; a seed is drawn here when none
    is given, and stored.

    chances: for a list that was drawn by somebody else (judges.services.next_samples), each sample's own id -> its
    probability of being drawn and its stratum. Such a batch is labelled in random order, so that what is labelled when
    it is closed early is a random part of it.
    """
    name = name.strip()
    if not name or len(name) > 200 or not is_storable(name):
        raise Invalid("bad_name", "Give the batch a name of up to 200 characters.")
    _check_people(project, annotators, overlap)
    _check_due_date(due_date)
    if not criteria:
        raise Invalid("no_criteria", "Choose at least one criterion to ask.")
    for criterion in criteria:
        if criterion.project_id != project.pk or not criterion.is_current:
            raise Invalid("foreign_criterion", f"“{criterion.key}” is not a current criterion of this project.")
    if seed is not None:
        _check_seed(seed)
        if selection.get("method") == "random" and selection.get("seed") is None:
            selection = {**selection, "seed": seed}
    chosen, stored_selection = choose_samples(project=project, selection=selection)
    if not chosen:
        raise Invalid("no_samples", "No sample matches this choice.")
    seed = seed if seed is not None else _new_seed()
    by_sample = _by_sample(project, chosen, chances)
    if by_sample:
        random.Random(seed).shuffle(chosen)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        number = (project.batches.aggregate(last=Max("number"))["last"] or 0) + 1
        batch = Batch.objects.create(
            project=project,
            number=number,
            name=name,
            overlap=overlap,
            selection=stored_selection,
            seed=seed,
            due_date=due_date,
            created_by=created_by,
        )
        BatchCriterion.objects.bulk_create(
            BatchCriterion(batch=batch, criterion=criterion, position=position)
            for position, criterion in enumerate(criteria)
        )
        BatchSample.objects.bulk_create(
            (
                BatchSample(
                    batch=batch,
                    sample_id=pk,
                    position=position,
                    overlap=overlap,
                    probability=probability,
                    stratum=stratum,
                )
                for position, pk in enumerate(chosen)
                for probability, stratum in [by_sample.get(pk, (None, None))]
            ),
            batch_size=5000,
        )
        batch.annotators.set(annotators)
    return batch


def choose_samples(*, project: Project, selection: Mapping[str, Any]) -> tuple[list[int], dict[str, Any]]:
    """Primary keys of the chosen samples in import order, and the selection as it is stored (with its seed)."""
    method = selection.get("method", "all")
    if method not in SELECTION_METHODS:
        raise Invalid(
            "bad_selection", f"“{str(method)[:80]}” – choose samples by one of {', '.join(SELECTION_METHODS)}."
        )
    unknown = sorted(set(selection) - (_LIST_FIELDS if method == "list" else _SELECTION_FIELDS))
    if unknown:
        raise Invalid("bad_selection", f"selection: unknown field “{str(unknown[0])[:80]}”.")
    if method == "list":
        return _listed(project, selection)
    conditions = selection.get("filter") or {}
    if not isinstance(conditions, Mapping):
        raise Invalid("bad_filter", "filter: write an object of metadata keys and values.")
    if method == "filter" and not conditions:
        raise Invalid("bad_filter", "Name at least one metadata key and value to filter by.")
    samples = _matching(project, conditions)
    keys = list(samples.order_by("id").values_list("id", flat=True))
    stored: dict[str, Any] = {"method": method}
    if conditions:
        stored["filter"] = dict(conditions)
    if method != "random":
        return keys, stored
    n = selection.get("n")
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise Invalid("bad_n", "Say how many samples to draw: a whole number from 1.")
    if n > len(keys):
        raise Invalid("bad_n", f"Only {len(keys)} samples match; {n} can't be drawn.")
    seed = selection.get("seed")
    if seed is None:
        seed = _new_seed()
    _check_seed(seed)
    return sorted(random.Random(seed).sample(keys, n)), {**stored, "n": n, "seed": seed}


def _listed(project: Project, selection: Mapping[str, Any]) -> tuple[list[int], dict[str, Any]]:
    """Samples named one by one. The batch keeps them; its selection keeps how many they were, and why these."""
    names, note = selection.get("samples"), selection.get("note", "")
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise Invalid("bad_samples", "samples: a list of the samples' own ids.")
    if not isinstance(note, str) or len(note) > MAX_NOTE or not is_storable(note):
        raise Invalid("bad_note", f"note: a text of up to {MAX_NOTE} characters.")
    check_json(list(names))
    wanted = set(names)
    found = dict(samples_named(project, wanted).order_by("id").values_list("external_id", "id"))
    unknown = sorted(wanted - found.keys())
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise Invalid("unknown_sample", f"This project has no sample “{unknown[0][:80]}”{more}.")
    stored = {"method": "list", "n": len(found)} | ({"note": note} if note else {})
    return list(found.values()), stored


def _by_sample(
    project: Project, chosen: Sequence[int], chances: Mapping[str, tuple[float, int]] | None
) -> dict[int, tuple[float, int]]:
    """The chances by primary key; all of the chosen samples have one, or none has."""
    if not chances:
        return {}
    ids = samples_named(project, chances).values_list("pk", "external_id")
    found = {pk: chances[name] for pk, name in ids}
    if found.keys() != set(chosen):
        raise Invalid("bad_chances", "Every sample of a draw has a chance, and no other sample.")
    return found


def earliest_due_date() -> date:
    """Today, where the server is: the first day on which a new batch can be due."""
    return timezone.localdate()


def _check_due_date(due_date: date | None) -> None:
    today = earliest_due_date()
    if due_date is not None and due_date < today:
        raise Invalid(
            "past_due_date",
            f"The due date {due_date} has passed: it is {today} ({timezone.get_current_timezone_name()}). "
            "Choose today or a later day.",
        )


def _check_seed(seed: Any) -> None:
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MAX_SEED:
        raise Invalid("bad_seed", f"seed: a whole number from 0 to {MAX_SEED}.")


def _matching(project: Project, conditions: Mapping[str, Any]) -> QuerySet[Sample]:
    """Samples whose metadata contain the given values. Containment takes no operators, so names can't reach columns."""
    samples = Sample.objects.filter(project=project)
    for key, value in conditions.items():
        if not isinstance(key, str) or not isinstance(value, str | int | float | bool):
            raise Invalid("bad_filter", "filter: each metadata key takes a text, a number, or true/false.")
        check_json({key: value})
        if key == "pipeline_version":
            samples = samples.filter(pipeline_version=str(value))
        else:
            samples = samples.filter(metadata__contains={key: value})
    return samples


def _check_people(project: Project, annotators: Sequence[User], overlap: int) -> None:
    if not isinstance(overlap, int) or isinstance(overlap, bool) or overlap < 1:
        raise Invalid("bad_overlap", "Overlap: how many people label each sample, a whole number from 1.")
    if len(annotators) < overlap:
        raise Invalid(
            "too_few_annotators", f"An overlap of {overlap} needs at least {overlap} people; {len(annotators)} chosen."
        )
    members = set(
        Membership.objects.filter(project=project, is_active=True, user__is_active=True).values_list(
            "user_id", flat=True
        )
    )
    for user in annotators:
        if user.pk not in members:
            raise Invalid("not_a_member", f"{user.name} is not an active member of this project.")


def open_batch(*, batch: Batch) -> Batch:
    """Makes the tasks: each sample goes to `overlap` people, nobody twice, loads equal to within one task."""
    with transaction.atomic():
        batch = _locked(batch, BatchStatus.DRAFT, "opened")
        annotators = list(batch.annotators.order_by("id"))
        _check_people(batch.project, annotators, batch.overlap)
        samples = list(batch.batch_samples.order_by("position").values_list("sample_id", flat=True))
        _check_has_units(batch, samples)
        plan = assign(len(samples), [user.pk for user in annotators], batch.overlap, random.Random(batch.seed))
        positions = dict.fromkeys((user.pk for user in annotators), 0)
        tasks = []
        for sample_id, people in zip(samples, plan, strict=True):
            for annotator_id in people:
                tasks.append(
                    Task(batch=batch, sample_id=sample_id, annotator_id=annotator_id, position=positions[annotator_id])
                )
                positions[annotator_id] += 1
        Task.objects.bulk_create(tasks, batch_size=5000)
        batch.status = BatchStatus.OPEN
        batch.opened_at = timezone.now()
        batch.save(update_fields=["status", "opened_at"])
    return batch


def assign(samples: int, annotators: Sequence[int], overlap: int, rng: random.Random) -> list[list[int]]:
    """For each sample the `overlap` people with the fewest tasks so far, ties in random order.

    The loads differ by at most one, and every pair of people comes to share samples, which agreement needs.
    """
    load = dict.fromkeys(annotators, 0)
    plan = []
    for _ in range(samples):
        order = sorted(load, key=lambda person: (load[person], rng.random()))
        people = order[:overlap]
        for person in people:
            load[person] += 1
        plan.append(people)
    return plan


def _check_has_units(batch: Batch, samples: Sequence[int]) -> None:
    """Every criterion must find something to ask about; a batch that asks about nothing is a mistake."""
    for criterion in batch.criteria.all():
        listed = criterion.unit in LISTED_KINDS
        if listed and not samples_keyed(samples).alias(units=UnitCount(criterion.unit)).filter(units__gt=0).exists():
            raise Conflict(
                "nothing_to_ask",
                f"“{criterion.key}” asks about each {criterion.get_unit_display().lower()}, "
                "but no sample of this batch has one.",
            )


def start_adjudication(*, batch: Batch) -> Batch:
    """No more labelling; what is disputed goes on to the reviewers. Tasks not finished stay as they are."""
    with transaction.atomic():
        batch = _locked(batch, BatchStatus.OPEN, "closed for labelling")
        batch.status = BatchStatus.ADJUDICATING
        batch.save(update_fields=["status"])
    return batch


def close_batch(*, batch: Batch) -> Batch:
    with transaction.atomic():
        batch = _found(Batch.objects.select_for_update(), batch)
        if batch.status not in (BatchStatus.OPEN, BatchStatus.ADJUDICATING):
            raise Conflict("wrong_state", f"Batch {batch.number} is {batch.get_status_display().lower()}.")
        batch.status = BatchStatus.CLOSED
        batch.closed_at = timezone.now()
        batch.save(update_fields=["status", "closed_at"])
    return batch


def reopen_batch(*, batch: Batch) -> Batch:
    """Labelling goes on in a batch that was closed or handed to the reviewers too early."""
    with transaction.atomic():
        batch = _found(Batch.objects.select_for_update(), batch)
        if batch.status not in (BatchStatus.ADJUDICATING, BatchStatus.CLOSED):
            raise Conflict("wrong_state", f"Batch {batch.number} is {batch.get_status_display().lower()}.")
        batch.status = BatchStatus.OPEN
        batch.closed_at = None
        batch.save(update_fields=["status", "closed_at"])
    return batch


def delete_batch(*, batch: Batch) -> None:
    """Only a batch that carries no labels can go; a draft always can."""
    with transaction.atomic():
        # Not FOR UPDATE: a submission holds its task and refers to the batch, and we are about to want the task.
        batch = _found(Batch.objects.select_for_update(no_key=True), batch)
        # Whoever is about to save a label finds the task gone afterwards, or is counted here.
        list(batch.tasks.select_for_update().order_by("id").values_list("id", flat=True))
        labels = Label.objects.filter(task__batch=batch).count()
        if labels:
            raise Conflict(
                "has_labels",
                f"Batch {batch.number} carries {labels} labels and can't be deleted; close it instead.",
                labels=labels,
            )
        batch.tasks.all().delete()
        batch.delete()


def _found(batches: QuerySet[Batch], batch: Batch) -> Batch:
    """The batch as it is now; somebody may have deleted it since the caller looked."""
    current = batches.filter(pk=batch.pk).first()
    if current is None:
        raise Http404(f"This project has no batch {batch.number}.")
    return current


def _locked(batch: Batch, expected: BatchStatus, action: str) -> Batch:
    batch = _found(Batch.objects.select_for_update(), batch)
    if batch.status != expected:
        raise Conflict(
            "wrong_state",
            f"Batch {batch.number} is {batch.get_status_display().lower()}; only one that is "
            f"{expected.label.lower()} can be {action}.",
        )
    return batch


def _new_seed() -> int:
    return random.SystemRandom().randint(0, MAX_SEED)
