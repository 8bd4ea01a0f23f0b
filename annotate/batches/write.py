"""A new batch: a draft with its samples drawn and its people named; and a plan of it before it is made."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from math import ceil
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.batches.checks import check_people, check_settings, next_number, note_batch
from annotate.batches.edit import store_settings
from annotate.batches.sample_choice import add_samples, check_seed, choose_samples, new_seed, without_rounds
from annotate.core.errors import Invalid
from annotate.models import Batch, Criterion, Membership, Project, Qualification, User
from annotate.models.batch import WITHHELD, Came, ConsensusRule, Strategy
from annotate.qualification.read import not_qualified
from annotate.samples.read import asked_keys, sample_tags, samples_keyed, samples_named


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
    came: Came = Came.DRAWN,
    strategy: str = Strategy.BALANCED,
    tag_key: str = "",
    overlap_share: float = 1,
    gold_share: float = 0,
    repeat_share: float = 0,
    gold_feedback: bool = False,
    lease_minutes: int = 30,
    consensus: str = ConsensusRule.MAJORITY,
    settle_share: float | None = None,
    settle_votes: int | None = None,
    single_labels: bool = False,
    proposals: Mapping[str, str] | None = None,
    withheld_share: float = WITHHELD,
    requires: Qualification | None = None,
    among: Set[int] | None = None,
    schedule: str = "",
) -> Batch:
    """A draft; `open_batch` makes the tasks.

    selection: {"method": "all"} | {"method": "filter", "filter": {metadata key: value}} |
    {"method": "random", "n": int, "seed"?: int, "filter"?: {…}} | {"method": "list", "samples": [their own ids],
    "note"?: why these, "came"?: how they were chosen (Came)}. A random selection without a seed of its own uses the
    batch's; a seed is drawn here when none is given, and stored.

    chances: for a list that was drawn elsewhere (judges.reports.next_samples), each sample's own id -> its
    probability of being drawn and its stratum. Such a batch is labelled in random order, so that what is labelled when
    it is closed early is a random part of it. came: EXPERIMENT of answers that are compared
    (annotate.tasks.assignment.in_turn); these are labelled in the order in which they are listed.

    overlap_share: the share of samples, drawn by the seed, that `overlap` people label; one person labels the others.
    tag_key: a metadata key; a sample that has it goes only to people with its value among their tags.
    gold_share, repeat_share: tasks with known answers, and own tasks a second time, per task of an annotator's own.
    single_labels: whether the label of one person settles a unit, by the word of `created_by`; it can be said later
    (annotate.batches.steps.count_single_labels).
    settle_share, settle_votes: with the consensus "threshold", what share of at least how many votes settles a unit.
    proposals: {criterion key: judge}, whose values annotators verify, but for a share of the groups of samples
    (annotate.batches.proposing).
    requires: only people who have this qualification get tasks; its own samples are left out.
    among, schedule: of an audit (annotate.batches.audits_make), which samples it draws from, and what made it.
    """
    given = check_settings(
        project,
        {
            "name": name, "criteria": criteria, "annotators": annotators, "overlap": overlap, "due_date": due_date,
            "strategy": strategy, "tag_key": tag_key, "overlap_share": overlap_share, "gold_share": gold_share,
            "repeat_share": repeat_share, "gold_feedback": gold_feedback, "lease_minutes": lease_minutes,
            "consensus": consensus, "settle_share": settle_share, "settle_votes": settle_votes,
            "single_labels": single_labels, "proposals": proposals or {}, "withheld_share": withheld_share,
            "requires": requires,
        },
    )  # fmt: skip
    if seed is not None:
        check_seed(seed)
        if selection.get("method") == "random" and selection.get("seed") is None:
            selection = {**selection, "seed": seed}
    choice = choose_samples(project=project, selection=selection, among=among)
    chosen, stored = choice.keys, choice.stored
    if not chosen:
        raise Invalid("no_samples", _("No samples match this selection."))
    seed = seed if seed is not None else new_seed()
    by_sample = choice.chances()
    if chances:
        ids = dict(samples_named(project, chances).values_list("pk", "external_id"))
        by_sample = {pk: chances[name] for pk, name in ids.items()}
        if by_sample.keys() != set(chosen):
            raise Invalid("bad_chances", _("A draw needs a probability for each of its samples, and for no others."))
        stored = {**stored, "came": came}
        if came == Came.EXPERIMENT:
            place = {name: at for at, name in enumerate(selection["samples"])}
            chosen.sort(key=lambda pk: place[ids[pk]])
        else:
            random.Random(seed).shuffle(chosen)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        batch = Batch(project=project, number=next_number(project), selection=stored, seed=seed, created_by=created_by)
        store_settings(batch, given, by=created_by)
        added = add_samples(batch, chosen, chances=by_sample)
        people = [user.username for user in annotators]
        said: dict[str, Any] = {"single_labels_count": True} if single_labels else {}
        said |= {"schedule": schedule} if schedule else {}
        note_batch(created_by, batch, "created", samples=len(added), people=people, **said)
    return batch


@dataclass(frozen=True)
class Need:
    """An expertise that samples need, and which of the chosen people have it."""

    tag: str
    samples: int
    people: list[str]
    # How many people each of the samples needs.
    overlap: int

    @property
    def is_met(self) -> bool:
        return len(self.people) >= self.overlap


@dataclass(frozen=True)
class Plan:
    """tasks: everything to label, without what measures the annotators. left_out: samples of which nothing is asked; of
    these, those that have no answer. in_rounds: samples left out since they are the required qualification's.
    unqualified: names of people who lack it. each: about how many each annotator gets; None
    where that is left to the queue."""

    samples: int
    left_out: int
    unanswered: int
    doubled: int
    tasks: int
    people: int
    each: int | None
    gold_each: int
    repeats_each: int
    needs: list[Need]
    in_rounds: int
    unqualified: list[str]


def plan_batch(
    *,
    project: Project,
    criteria: Sequence[Criterion],
    selection: Mapping[str, Any],
    annotators: Sequence[User],
    overlap: int,
    overlap_share: float = 1,
    strategy: str = Strategy.BALANCED,
    tag_key: str = "",
    gold_share: float = 0,
    repeat_share: float = 0,
    requires: Qualification | None = None,
    edited: Sequence[int] | None = None,
) -> Plan:
    """Raises Invalid, as making the batch would, when people or samples can't be chosen so. edited: the samples of a
    draft (annotate.batches.edit.samples_after), in place of a selection."""
    check_people(project, annotators, overlap)
    drawn = edited if edited is not None else choose_samples(project=project, selection=selection).keys
    there = without_rounds(requires, drawn)
    asked = asked_keys(there, criteria)
    chosen = [key for key in there if key in asked]
    left_out = set(there) - asked
    several = len(chosen) if overlap_share >= 1 else round(len(chosen) * overlap_share)
    tasks = len(chosen) + several * (overlap - 1)
    people = len(annotators)
    each = ceil(tasks / people) if people and strategy == Strategy.BALANCED else None
    return Plan(
        samples=len(chosen),
        left_out=len(left_out),
        unanswered=samples_keyed(left_out).filter(answer__isnull=True).count() if left_out else 0,
        doubled=several if overlap > 1 else 0,
        tasks=tasks,
        people=people,
        each=each,
        gold_each=round((each or 0) * gold_share),
        repeats_each=min(round((each or 0) * repeat_share), (each or 0) // 2),
        needs=_needs(project, chosen, tag_key, annotators, overlap if several else 1),
        in_rounds=len(drawn) - len(there),
        unqualified=[user.name for user in not_qualified(requires, annotators)],
    )


def _needs(project: Project, chosen: Sequence[int], key: str, annotators: Sequence[User], overlap: int) -> list[Need]:
    counts = Counter(sample_tags(key, chosen).values())
    members = Membership.objects.filter(project=project, user__in=annotators).select_related("user")
    tags_of = {member.user.name: member.tags for member in members.order_by("user__username")} if counts else {}
    return [
        Need(tag, samples, [name for name, tags in tags_of.items() if tag in tags], overlap)
        for tag, samples in sorted(counts.items())
    ]
