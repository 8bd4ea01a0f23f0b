"""What makes tasks of a qualification: a person who comes into it gets the training, and later each test they start."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.rows import next_position
from annotate.core.scales import json_spelling
from annotate.core.units import without_abstentions
from annotate.labels.gold_read import gold_for
from annotate.models import Batch, Candidate, GoldAnswer, Qualification, Task, Try, User
from annotate.models.batch import BatchStatus, Purpose
from annotate.qualification.choice import draw, varied
from annotate.qualification.read import own_standing


def enrol(qualification: Qualification, people: Iterable[User]) -> list[User]:
    """Gives each person who is not in it yet their training, in an order of their own. Returns these people. Samples
    that a person labelled, decided or has to label anywhere are no training for them, and are left out. Inside the
    caller's transaction."""
    training, test = qualification.training, qualification.test
    new = [user for user in people if Candidate.objects.get_or_create(qualification=qualification, user=user)[1]]
    for user in new:
        _give(training, user, _unmet(training, user))
    for batch in (training, test):
        batch.annotators.add(*new)
    return new


def start_test(*, actor: User, qualification: Qualification) -> Try:
    """The actor's next test: samples that they never met, and that hold at least two options of each criterion. While
    one is under way, that one.

    Raises Http404 (not in it), Conflict (qualified already, training not finished, no tries or samples left).
    """
    with transaction.atomic():
        list(Candidate.objects.select_for_update().filter(qualification=qualification, user=actor))
        standing = own_standing(qualification, actor)
        if standing.state == "testing":
            return standing.tests[-1]
        _check(standing.state, qualification)
        batch = qualification.test
        options = known_options(batch, _unmet(batch, actor))
        rng = random.Random(f"test {qualification.seed} {actor.pk} {len(standing.tests) + 1}")
        samples = draw(options, qualification.test_samples, rng)
        if len(samples) < qualification.test_samples or len(varied(options, samples)) < batch.criteria.count():
            raise Conflict("no_samples_left", _("There are no test samples left that you haven’t seen. Ask an admin."))
        test = Try.objects.create(candidate=standing.candidate, number=len(standing.tests) + 1)
        test.tasks.set(_give(batch, actor, samples))
    return test


def _check(state: str, qualification: Qualification) -> None:
    if qualification.test.status != BatchStatus.OPEN:
        raise Conflict("qualification_ended", _("This qualification has ended."))
    if state == "qualified":
        raise Conflict("qualified", _("You are qualified already."))
    if state == "training":
        raise Conflict("training_left", _("Complete the training first."))
    if state != "ready":
        raise Conflict("no_tries_left", _("You have no tries left. Ask an admin for another one."))


def _unmet(batch: Batch, user: User) -> list[int]:
    """Samples of the round that are new to the user, in random order: neither labelled, decided nor to be labelled."""
    rng = random.Random(f"{batch.pk} {batch.seed} {user.pk}")
    return [pk for pk, _tag in gold_for(batch, user.pk, tags=(), besides=(), rng=rng)]


def _give(batch: Batch, user: User, samples: Sequence[int]) -> list[Task]:
    first = next_position(Task.objects.filter(batch=batch, annotator=user))
    tasks = [
        Task(batch=batch, annotator=user, sample_id=pk, purpose=Purpose.GOLD, position=first + index)
        for index, pk in enumerate(samples)
    ]
    return Task.objects.bulk_create(tasks)


def known_options(batch: Batch, samples: Collection[int]) -> dict[int, set[tuple[Hashable, str]]]:
    """Of each of the samples the options of its known answers to what the batch asks."""
    answers = GoldAnswer.objects.filter(sample__in=samples, criterion__in=batch.criteria.all())
    found: dict[int, set[tuple[Hashable, str]]] = defaultdict(set)
    for sample, criterion, value in without_abstentions(answers).values_list("sample", "criterion", "value"):
        found[sample].add((criterion, json_spelling(value)))
    return dict(found)
