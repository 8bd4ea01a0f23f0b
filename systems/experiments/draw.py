"""Drawing what people label: whole groups of questions in an order that a seed gives, with the answers of all compared
versions to them in one batch."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import check_seed
from annotate.batches.steps import open_batch
from annotate.batches.write import create_batch
from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.models import Batch, Criterion, Project, User
from annotate.models.batch import Came
from annotate.projects.read import active_annotators, current_criteria
from annotate.samples.read import asked_keys, samples_keyed
from judges.core.split import keep_for_systems, sides_of
from systems.experiments.read import ExperimentState
from systems.experiments.responses_read import Compared, compared_responses, draws_of
from systems.models import Experiment, ExperimentDraw

USUAL_OVERLAP = 2


@dataclass(frozen=True)
class Drawing:
    """questions: how many were drawn, of the `population` that can be drawn from; samples: answers in the batch."""

    batch: Batch
    questions: int
    samples: int
    population: int


def draw_labels(
    *,
    actor: User | None,
    experiment: Experiment,
    questions: Any,
    seed: Any,
    annotators: Sequence[User] | None = None,
    overlap: int | None = None,
    single_labels: bool = False,
    opens: bool = True,
) -> Drawing:
    """The next so many questions of the experiment's order, which the first draw's seed gives; about so many, where
    groups are drawn that have several. Their answers are on the side of systems from then on, for every criterion that
    is asked.

    annotators: all active ones of the project where none are named. overlap: two people, where there are so many.
    single_labels: whether the label of one person settles a unit, by the word of the actor; without it, and with an
    overlap of 1, nothing is settled until a reviewer or an admin says so. opens: whether the batch opens at once; else
    it is a draft.

    Raises Invalid and Conflict.
    """
    project, people = experiment.project, people_for(experiment, questions, seed, annotators)
    with transaction.atomic():
        lock(experiment, seed)
        criteria = criteria_of(experiment)
        if not criteria:
            said = _("No metric of this experiment is decided by annotators: all are measured.")
            raise Conflict("nothing_to_ask", said)
        found = compared_responses(experiment)
        drawn = _next(experiment, found, criteria, questions, seed)
        samples = _samples_of(found, drawn, criteria)
        for criterion in criteria:
            keep_for_systems(criterion, samples)
        batch = batch_of(
            samples,
            chance=_chance(experiment, drawn),
            project=project,
            name=_("Answers to %(n)d drawn questions") % {"n": _questions(found, drawn)},
            criteria=criteria,
            annotators=people,
            overlap=overlap,
            single_labels=single_labels,
            seed=seed,
            created_by=actor,
        )
        ExperimentDraw.objects.create(experiment=experiment, batch=batch, groups=drawn)
        note(
            actor=actor, action="experiment.drawn", subject=experiment.name, project=project, batch=batch.number,
            questions=_questions(found, drawn), samples=len(samples), seed=seed,
        )  # fmt: skip
        if opens:
            batch = open_batch(batch=batch, actor=actor)
    population = sum(group in set(experiment.order) for group in found.groups.values())
    return Drawing(batch, _questions(found, drawn), len(samples), population)


# Also what draws of pairs ask for (systems.experiments.pairs)


def people_for(experiment: Experiment, questions: Any, seed: Any, named: Sequence[User] | None) -> list[User]:
    """Who labels what is drawn. Raises Invalid, and Conflict where there is nobody."""
    if not isinstance(questions, int) or isinstance(questions, bool) or questions < 1:
        raise Invalid("bad_questions", _("questions: must be a whole number, at least 1."))
    check_seed(seed)
    people = list(active_annotators(experiment.project) if named is None else named)
    if not people:
        raise Conflict("no_annotators", _("This project has no active annotators. Add some, or name who labels."))
    return people


def batch_of(samples: Sequence[str], *, chance: float, overlap: int | None, **about: Any) -> Batch:
    """A draft of these samples, drawn with this chance, whose groups the same people label. about: of the batch."""
    return create_batch(
        overlap=min(USUAL_OVERLAP, len(about["annotators"])) if overlap is None else overlap,
        selection={"method": "list", "samples": samples},
        chances=dict.fromkeys(samples, (chance, 1)),
        came=Came.EXPERIMENT,
        **about,
    )


def lock(experiment: Experiment, seed: int) -> None:
    """One draw after the other, inside the caller's transaction. Raises Conflict where the order has another seed."""
    Project.objects.select_for_update(no_key=True).get(pk=experiment.project_id)
    experiment.refresh_from_db()
    if experiment.seed not in (None, seed):
        raise Conflict(
            "other_seed",
            _("The order of labelling was drawn with seed %(seed)d. Later draws follow it; use the same seed.")
            % {"seed": experiment.seed},
        )


def criteria_of(experiment: Experiment) -> list[Criterion]:
    """Those by which people decide its metrics."""
    keys = {metric["criterion"] for metric in ExperimentState(experiment).rule.metrics if "criterion" in metric}
    return [one for one in current_criteria(experiment.project) if one.key in keys]


def order_of(experiment: Experiment, found: Compared, sided: Collection[str], seed: int) -> list[str]:
    """All groups in the order in which they are drawn; without those on a side of a criterion, where there is none
    yet."""
    if experiment.seed is not None:
        return list(experiment.order)
    order = sorted(set(found.groups.values()).difference(sided))
    random.Random(seed).shuffle(order)
    return order


def take(free: Sequence[str], groups: Mapping[int, str], questions: int, *, sided: bool) -> list[str]:
    """The first of the `free` groups that have about so many questions. groups: of each question. sided: whether some
    groups are not free as they are dev or test. Raises Invalid where there are not so many."""
    there = set(free)
    left = sum(group in there for group in groups.values())
    if left < questions:
        said = _("Only %(left)d questions can be drawn; %(wanted)d can’t.")
        if sided:
            said += " " + _("Answers on the dev or test set of a criterion are not drawn.")
        raise Invalid("too_many_questions", said % {"left": left, "wanted": questions})
    return list(free[: max(1, round(questions * len(free) / left))])


def on_a_side(experiment: Experiment, found: Compared, criteria: Sequence[Criterion]) -> set[str]:
    """Groups that are dev or test for one of the criteria."""
    names = _names(found.samples)
    group_of = _groups_of_samples(found)
    return {
        group_of[key]
        for criterion in criteria
        for sides in [sides_of(criterion, names.values())]
        for key, name in names.items()
        if name in sides
    }


def _next(
    experiment: Experiment, found: Compared, criteria: Sequence[Criterion], questions: int, seed: int
) -> list[str]:
    """The groups that are drawn now. Those that came to dev or test since the order was drawn are passed over, and go
    to its end; what is not in the order is not drawn from."""
    sided = on_a_side(experiment, found, criteria)
    order = order_of(experiment, found, sided, seed)
    before = {group for draw in draws_of(experiment) for group in draw.groups}
    free = [group for group in order if group not in before and group not in sided]
    drawn = take(free, found.groups, questions, sided=bool(sided))
    rest = set(drawn)
    experiment.seed = seed
    experiment.order = [
        *(group for group in order if group in before),
        *drawn,
        *(group for group in free if group not in rest),
        *(group for group in order if group in sided and group not in before),
    ]
    experiment.save(update_fields=["seed", "order"])
    return drawn


def _names(samples: Collection[int]) -> dict[int, str]:
    return dict(samples_keyed(samples).values_list("pk", "external_id"))


def _groups_of_samples(found: Compared) -> dict[int, str]:
    pairs = zip(found.sample, found.question, strict=True)
    return {sample: found.groups[question] for sample, question in pairs if sample is not None}


def _samples_of(found: Compared, drawn: Sequence[str], criteria: Sequence[Criterion]) -> list[str]:
    """By their own ids, in the order in which their groups were drawn."""
    place = {group: at for at, group in enumerate(drawn)}
    group_of = _groups_of_samples(found)
    keys = [sample for sample in found.samples if group_of[sample] in place]
    asked = asked_keys(keys, criteria)
    if not asked:
        raise Conflict("nothing_to_ask", _("Nothing can be asked of the answers to these questions."))
    names = _names(keys)
    return [names[key] for key in sorted(asked, key=lambda key: (place[group_of[key]], key))]


def _chance(experiment: Experiment, drawn: Sequence[str]) -> float:
    """With which any group of the order was drawn by now, in this draw or one before it."""
    before = {group for draw in draws_of(experiment) for group in draw.groups}
    return len(before | set(drawn)) / len(experiment.order)


def _questions(found: Compared, drawn: Collection[str]) -> int:
    there = set(drawn)
    return sum(group in there for group in found.groups.values())
