"""Drawing what people label: whole groups of questions in an order that a seed gives, with the answers of all compared
versions to them in one batch."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
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
    opens: bool = True,
) -> Drawing:
    """The next so many questions of the experiment's order, which the first draw's seed gives; about so many, where
    groups are drawn that have several. Their answers are on the side of systems from then on, for every criterion that
    is asked.

    annotators: all active ones of the project where none are named. overlap: two people, where there are so many.
    opens: whether the batch opens at once; else it is a draft.

    Raises Invalid and Conflict.
    """
    if not isinstance(questions, int) or isinstance(questions, bool) or questions < 1:
        raise Invalid("bad_questions", _("questions: must be a whole number, at least 1."))
    check_seed(seed)
    project = experiment.project
    people = active_annotators(project) if annotators is None else list(annotators)
    if not people:
        raise Conflict("no_annotators", _("This project has no active annotators. Add some, or name who labels."))
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        experiment.refresh_from_db()
        if experiment.seed not in (None, seed):
            raise Conflict(
                "other_seed",
                _("The order of labelling was drawn with seed %(seed)d. Later draws follow it; use the same seed.")
                % {"seed": experiment.seed},
            )
        criteria = _criteria(experiment)
        found = compared_responses(experiment)
        drawn = _next(experiment, found, criteria, questions, seed)
        samples = _samples_of(found, drawn, criteria)
        for criterion in criteria:
            keep_for_systems(criterion, samples)
        chance = _chance(experiment, drawn)
        batch = create_batch(
            project=project,
            name=_("Answers to %(n)d drawn questions") % {"n": _questions(found, drawn)},
            criteria=criteria,
            annotators=people,
            overlap=min(USUAL_OVERLAP, len(people)) if overlap is None else overlap,
            selection={"method": "list", "samples": samples},
            seed=seed,
            created_by=actor,
            chances=dict.fromkeys(samples, (chance, 1)),
            came=Came.EXPERIMENT,
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


def _criteria(experiment: Experiment) -> list[Criterion]:
    keys = {metric["criterion"] for metric in ExperimentState(experiment).rule.metrics if "criterion" in metric}
    found = [one for one in current_criteria(experiment.project) if one.key in keys]
    if not found:
        raise Conflict("nothing_to_ask", _("No metric of this experiment is decided by annotators: all are measured."))
    return found


def _next(
    experiment: Experiment, found: Compared, criteria: Sequence[Criterion], questions: int, seed: int
) -> list[str]:
    """The groups that are drawn now. Those that came to dev or test since the order was drawn are passed over, and go
    to its end; what is not in the order is not drawn from."""
    sided = _on_a_side(experiment, found, criteria)
    if experiment.seed is None:
        order = sorted(set(found.groups.values()) - sided)
        random.Random(seed).shuffle(order)
    else:
        order = list(experiment.order)
    before = {group for draw in draws_of(experiment) for group in draw.groups}
    free = [group for group in order if group not in before and group not in sided]
    left = [question for question, group in found.groups.items() if group in set(free)]
    if len(left) < questions:
        said = _("Only %(left)d questions can be drawn; %(wanted)d can’t.")
        if sided:
            said += " " + _("Answers on the dev or test set of a criterion are not drawn.")
        raise Invalid("too_many_questions", said % {"left": len(left), "wanted": questions})
    drawn = free[: max(1, round(questions * len(free) / len(left)))]
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


def _on_a_side(experiment: Experiment, found: Compared, criteria: Sequence[Criterion]) -> set[str]:
    names = _names(found.samples)
    group_of = _groups_of_samples(found)
    return {
        group_of[key]
        for criterion in criteria
        for sides in [sides_of(criterion, names.values())]
        for key, name in names.items()
        if name in sides
    }


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
