"""An admin's part in qualifications: making one, bringing people into it, granting another try, waiving the test,
withdrawing what was earned, and ending it (decision 47)."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.batches.checks import check_active, check_criteria, next_number
from annotate.batches.gold import know_verdicts, sure_verdicts
from annotate.batches.sample_choice import add_samples, check_seed, new_seed
from annotate.batches.steps import close_batch
from annotate.core import walking
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import first_or_raise
from annotate.core.scales import json_spelling, require_rated
from annotate.core.texts import words_or_raise
from annotate.core.trail import note
from annotate.core.units import without_abstentions
from annotate.core.walking import Counted, count
from annotate.models import Batch, BatchCriterion, Candidate, Criterion, GoldAnswer, Project, Qualification, User
from annotate.models.batch import BatchStatus, Came
from annotate.models.qualification import How
from annotate.qualification.choice import Options, draw, split, varied
from annotate.qualification.read import one_qualification
from annotate.qualification.tries import enrol
from annotate.samples.read import groups_of, samples_keyed, samples_named
from annotate.samples.stretches_read import stretch_end, stretch_within
from annotate.tasks.write import hand_on_of_the_unqualified

MAX_NAME, MAX_SAMPLES, MAX_TRIES, FEWEST_TESTED = 180, 200, 5, 2
USUAL_KAPPA, USUAL_TRAINING, USUAL_TEST, USUAL_TRIES = 0.6, 10, 15, 2
# Samples whose verdicts are looked at in one go where those with known answers are counted.
STRETCH = 1000


@dataclass(frozen=True)
class Asked:
    """What a qualification is made of: how many samples, of what. Samples that are named by their own ids are taken in
    place of a draw by the seed."""

    criteria: Sequence[Criterion]
    training: int = USUAL_TRAINING
    test: int = USUAL_TEST
    tries: int = USUAL_TRIES
    training_samples: Sequence[str] = ()
    test_samples: Sequence[str] = ()


def create_qualification(
    *,
    actor: User,
    project: Project,
    name: str,
    asked: Asked,
    annotators: Sequence[User] = (),
    kappa: float = USUAL_KAPPA,
    seed: int | None = None,
) -> Qualification:
    """With its two rounds, which are open at once, and the annotators in training.

    Its known answers are those that there are, and verdicts that may become known answers, which then do. Raises
    Invalid, which says what is missing.
    """
    said = _("Enter a name of up to %(most)d characters.") % {"most": MAX_NAME}
    name = words_or_raise(name, Invalid("bad_name", said), most=MAX_NAME)
    _check(project, asked, kappa)
    check_active(project, annotators)
    seed = new_seed() if seed is None else seed
    check_seed(seed)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        training, test = _choose(project, asked, seed)
        used = [*training, *test]
        know_verdicts(actor=actor, project=project, verdicts=sure_verdicts(asked.criteria).filter(sample__in=used))
        made = Qualification.objects.create(
            project=project, name=name, kappa=kappa, test_samples=asked.test, tries=asked.tries, seed=seed,
            created_by=actor,
        )  # fmt: skip
        _make_round(made, asked.criteria, training, _("Training: %(name)s") % {"name": name}, shows=True)
        _make_round(made, asked.criteria, test, _("Test: %(name)s") % {"name": name}, shows=False)
        enrol(made, annotators)
        _note(
            actor, made, "created", kappa=kappa, training=len(training), test=len(test),
            people=[user.username for user in annotators],
        )  # fmt: skip
    return made


def _make_round(
    made: Qualification, criteria: Sequence[Criterion], samples: Sequence[int], name: str, *, shows: bool
) -> None:
    batch = Batch.objects.create(
        project=made.project, number=next_number(made.project), name=name, status=BatchStatus.OPEN, overlap=1,
        selection={"method": "list", "n": len(samples), "came": Came.BY_HAND}, seed=made.seed, qualification=made,
        gold_feedback=shows, opened_at=timezone.now(), created_by=made.created_by,
    )  # fmt: skip
    BatchCriterion.objects.bulk_create(
        BatchCriterion(batch=batch, criterion=criterion, position=position)
        for position, criterion in enumerate(criteria)
    )
    add_samples(batch, samples)


# Which samples


def _check(project: Project, asked: Asked, kappa: Any) -> None:
    check_criteria(project, asked.criteria)
    for criterion in asked.criteria:
        require_rated(criterion)
        if len(criterion.levels) < 2:
            said = _("“%(key)s” has no options, so it has no kappa. Select other criteria.")
            raise Invalid("no_options", said % {"key": criterion.key})
    if isinstance(kappa, bool) or not isinstance(kappa, int | float) or not 0 < kappa <= 1:
        raise Invalid("bad_kappa", _("Minimum kappa: must be more than 0, and at most 1."))
    for value, what, low, high in (
        (asked.training, _("Training samples"), 1, MAX_SAMPLES),
        (asked.test, _("Samples per test"), FEWEST_TESTED, MAX_SAMPLES),
        (asked.tries, _("Tries"), 1, MAX_TRIES),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            said = _("%(name)s: must be a whole number from %(low)d to %(high)d.")
            raise Invalid("bad_number", said % {"name": what, "low": low, "high": high})


def known_samples(project: Project, criteria: Sequence[Criterion]) -> dict[int, set[tuple[Hashable, str]]]:
    """The samples with a known answer to each of the criteria, or with a verdict that may become one; of each the
    options."""
    found: dict[int, set[tuple[Hashable, str]]] = defaultdict(set)
    for rows in _known(project, criteria):
        for sample, criterion, value in rows.values_list("sample", "criterion", "value"):
            found[sample].add((criterion, json_spelling(value)))
    return {sample: held for sample, held in found.items() if len({key for key, _option in held}) == len(criteria)}


def _known(project: Project, criteria: Sequence[Criterion]) -> tuple[QuerySet[Any], QuerySet[Any]]:
    known = GoldAnswer.objects.filter(sample__project=project, criterion__in=criteria)
    return without_abstentions(known), sure_verdicts(criteria)


def known_counts(project: Project, criteria: Sequence[Criterion]) -> list[Counted]:
    """How many samples have a known answer to each of the criteria by itself, or a verdict that may become one; all
    together counted for as long as a list is."""
    return [_known_count(project, one, walking.SECONDS / len(criteria)) for one in criteria]


def _known_count(project: Project, criterion: Criterion, seconds: float) -> Counted:
    def number(start: int | None, end: int | None, most: int) -> int:
        low, high = stretch_within(start, end)
        found = [rows.filter(sample__gt=low, sample__lte=high).order_by() for rows in _known(project, [criterion])]
        return len({sample for rows in found for sample in rows.values_list("sample", flat=True).distinct()})

    return count(lambda start: stretch_end(project, start, size=STRETCH), number, time.monotonic() + seconds)


def _choose(project: Project, asked: Asked, seed: int) -> tuple[list[int], list[int]]:
    """Samples to train and to test with. Raises Invalid."""
    options, rng = known_samples(project, asked.criteria), random.Random(seed)
    of_name = groups_of(project)
    names = samples_keyed(options).values_list("pk", "external_id")
    # A group may be named by the sample that it began with.
    groups = {pk: of_name.get(name, name) for pk, name in names}
    tested = asked.test * asked.tries
    training, test = split(options, groups, training=asked.training, test=tested, rng=rng)
    if asked.training_samples or asked.test_samples:
        training = _named(project, asked.training_samples, options)
        test = _named(project, asked.test_samples, options)
        if {groups[pk] for pk in training} & {groups[pk] for pk in test}:
            raise Invalid("not_apart", _("Training and test need different samples, and different groups of samples."))
    elif len(training) < asked.training or len(test) < tested:
        said = _(
            "This needs %(needed)d samples with known answers to all of these criteria; there are %(found)d. Ask for "
            "fewer, or add known answers."
        )
        if len(options) >= asked.training + tested:
            said = _(
                "There are %(found)d samples with known answers, but groups of samples can’t be split between training "
                "and test. Ask for fewer than %(needed)d."
            )
        given = {"needed": asked.training + tested, "found": len(options)}
        raise Invalid("too_few_known", said % given, **given)
    if len(test) < asked.test:
        said = _("The test needs at least %(needed)d samples; there are %(found)d.")
        raise Invalid("too_few_known", said % {"needed": asked.test, "found": len(test)})
    _require_varied(asked, options, test, rng)
    return training, test


def _named(project: Project, names: Sequence[str], options: Options) -> list[int]:
    found = dict(samples_named(project, set(names)).values_list("external_id", "pk"))
    for name in names:
        if found.get(name) not in options:
            said = _("Sample “%(name)s” has no known answer to each of these criteria.")
            raise Invalid("not_known", said % {"name": name[:80]})
    if not found:
        raise Invalid("no_samples", _("Name samples for both the training and the test, or for neither."))
    return list(dict.fromkeys(found[name] for name in names))


def _require_varied(asked: Asked, options: Options, test: Sequence[int], rng: random.Random) -> None:
    """Each test that can be drawn, one after the other, has two options of each criterion."""
    left = {pk: options[pk] for pk in test}
    for _try in range(min(asked.tries, len(test) // asked.test)):
        drawn = draw(left, asked.test, rng)
        alike = [one for one in asked.criteria if one.pk not in varied(options, drawn)]
        if alike:
            said = _(
                "The known answers to “%(key)s” don’t suffice for tests with two different options each, and without "
                "these kappa is undefined. Add known answers with other options, or allow fewer tries."
            )
            raise Invalid("one_option", said % {"key": alike[0].key}, criterion=alike[0].key)
        left = {pk: held for pk, held in left.items() if pk not in drawn}


# Who is in it


def add_people(*, actor: User, qualification: Qualification, annotators: Sequence[User]) -> list[User]:
    """Brings people into it, who start with the training. Returns those who were not in it. Repeating it changes
    nothing."""
    with transaction.atomic():
        qualification = _locked(qualification)
        _require_running(qualification)
        check_active(qualification.project, annotators)
        new = enrol(qualification, annotators)
        if new:
            _note(actor, qualification, "joined", people=[user.username for user in new])
    return new


def grant_try(*, actor: User, qualification: Qualification, user: User) -> None:
    """Lets a person start one more test. Raises Conflict for who is qualified, or has tries left."""
    with transaction.atomic():
        _require_running(_locked(qualification))
        candidate = _candidate(qualification, user)
        used = candidate.tests.count()
        if candidate.qualified_at is not None or used < qualification.tries + candidate.more_tries:
            raise Conflict("has_tries", _("%(name)s doesn’t need another try now.") % {"name": user.name})
        candidate.more_tries = used + 1 - qualification.tries
        candidate.save(update_fields=["more_tries"])
        _note(actor, qualification, "try_granted", to=user.username)


def waive(*, actor: User, qualification: Qualification, user: User, reason: str) -> None:
    """Qualifies a member without a test, for a reason that stands in the trail."""
    reason = words_or_raise(reason, Invalid("no_reason", _("Enter a reason.")))
    with transaction.atomic():
        qualification = _locked(qualification)
        check_active(qualification.project, [user])
        candidate = _candidate(qualification, user)
        if candidate.qualified_at is not None:
            raise Conflict("qualified", _("%(name)s is qualified already.") % {"name": user.name})
        candidate.qualified_at, candidate.how, candidate.reason = timezone.now(), How.WAIVED, reason
        candidate.withdrawn_at = None
        candidate.save(update_fields=["qualified_at", "how", "reason", "withdrawn_at"])
        _note(actor, qualification, "waived", to=user.username, candidate=user.pk, reason=reason)


def withdraw(*, actor: User, qualification: Qualification, user: User, reason: str) -> int:
    """Takes the qualification from a person, for a reason that stands in the trail. Their open tasks of batches that
    require it are handed on; returns how many these were. What they labelled stays and counts."""
    reason = words_or_raise(reason, Invalid("no_reason", _("Enter a reason.")))
    with transaction.atomic():
        qualification = _locked(qualification)
        candidate = _candidate(qualification, user)
        if candidate.qualified_at is None:
            raise Conflict("not_qualified", _("%(name)s is not qualified.") % {"name": user.name})
        candidate.qualified_at, candidate.how = None, ""
        candidate.withdrawn_at, candidate.reason = timezone.now(), reason
        candidate.save(update_fields=["qualified_at", "how", "withdrawn_at", "reason"])
        tasks = hand_on_of_the_unqualified(actor=actor, qualification=qualification, user=user)
        _note(actor, qualification, "withdrawn", to=user.username, reason=reason, tasks=tasks)
    return tasks


def end_qualification(*, actor: User, qualification: Qualification) -> None:
    """No one is trained or tested any more; who is qualified stays so. Repeating it changes nothing."""
    with transaction.atomic():
        qualification = _locked(qualification)
        if qualification.test.status != BatchStatus.CLOSED:
            for batch in qualification.rounds.order_by("pk"):
                close_batch(batch=batch, actor=actor)
            _note(actor, qualification, "ended")


def _locked(qualification: Qualification) -> Qualification:
    """The project first, as where a batch is made."""
    Project.objects.select_for_update(no_key=True).get(pk=qualification.project_id)
    return one_qualification(qualification.project, qualification.pk)


def _require_running(qualification: Qualification) -> None:
    if qualification.test.status != BatchStatus.OPEN:
        raise Conflict("qualification_ended", _("This qualification has ended."))


def _candidate(qualification: Qualification, user: User) -> Candidate:
    missing = Http404(_("%(name)s is not in this qualification.") % {"name": user.name})
    candidates = Candidate.objects.select_for_update(of=("self",))
    return first_or_raise(candidates.filter(qualification=qualification, user=user), missing)


def _note(actor: User, qualification: Qualification, what: str, **details: Any) -> None:
    note(
        actor=actor, action=f"qualification.{what}", subject=qualification.name, project=qualification.project,
        number=qualification.pk, **details,
    )  # fmt: skip
