"""Training, test and work: who is trained and tested on what, who passes, and who gets tasks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.http import Http404

from annotate.batches.archiving import archive_project, restore_project
from annotate.batches.audits_make import make_audit
from annotate.batches.audits_write import create_schedule
from annotate.batches.edit import edit_batch
from annotate.batches.gold import import_gold, remove_gold
from annotate.batches.qualifications import (
    Asked,
    add_people,
    create_qualification,
    end_qualification,
    grant_try,
    waive,
    withdraw,
)
from annotate.batches.read import counts_of, own_batches
from annotate.batches.steps import extend_batch, open_batch
from annotate.core.blindness import SYSTEM, still_to_label
from annotate.core.errors import Conflict, Invalid
from annotate.labels.gold_read import feedback_after, gold_accuracy
from annotate.labels.read import counting_labels
from annotate.members.write import deactivate_member
from annotate.models import AuditEntry, Batch, Candidate, GoldAnswer, Qualification, Sample, Task, Try, User, Verdict
from annotate.projects.notices_read import notices
from annotate.projects.read import batches_of, one_batch
from annotate.qualification.read import changed_criteria, own_standing, own_standings, standings
from annotate.qualification.results import kappa_with_known
from annotate.qualification.tries import start_test
from annotate.tasks.labelling import skip_task, submit_task
from annotate.tasks.read import finished_tasks, may_change
from annotate.tasks.write import reassign_tasks, reopen_task, return_task
from annotate.verdicts.evidence_read import agreement
from tests.annotate.factories import World, finish, label_all, make_sample, make_samples, say, take

TRAINING, TEST = 4, 6
SEED = 5


def truth(sample: Sample) -> str:
    return ("yes", "no", "unsure")[sample.pk % 3]


def wrong(sample: Sample) -> str:
    return ("no", "unsure", "yes")[sample.pk % 3]


def know(world: World, samples: list[Sample], value: Callable[[Sample], Any] = truth) -> None:
    rows = [
        {"sample_id": one.external_id, "unit": unit, "criterion": "support", "value": value(one), "reason": "So."}
        for one in samples
        for unit in ("claim:0", "claim:1")
    ]
    import_gold(actor=world.alice, project=world.project, rows=rows)


def make(world: World, *people: User, count: int = 40, name: str = "Support", **more: Any) -> Qualification:
    """On `support`, of samples of which half are trained or tested with."""
    if not world.project.samples.exists():
        know(world, make_samples(world.project, count))
    asked = {"criteria": world.criteria("support"), "training": TRAINING, "test": TEST, "tries": 2}
    asked |= {key: more.pop(key) for key in list(more) if key in Asked.__dataclass_fields__}
    return create_qualification(
        actor=world.alice, project=world.project, name=name, asked=Asked(**asked), annotators=people, seed=SEED,
        **more,
    )  # fmt: skip


def label(user: User, batch: Batch, value: Callable[[Sample], Any] = truth) -> None:
    """Everything that the user has to do in a round."""
    tasks = Task.objects.filter(batch=batch, annotator=user, status="pending")
    for task in tasks.select_related("annotator", "sample", "batch"):
        finish(task, support=value(task.sample))


def train(user: User, made: Qualification) -> None:
    label(user, made.training)


def take_test(user: User, made: Qualification, value: Callable[[Sample], Any] = truth) -> Try:
    test = start_test(actor=user, qualification=made)
    label(user, made.test, value)
    test.refresh_from_db()
    return test


def qualify(user: User, made: Qualification) -> None:
    train(user, made)
    assert take_test(user, made).passed


# Made of known answers


def test_both_rounds_have_known_answers_and_share_no_sample(world: World) -> None:
    made = make(world, world.ann)
    training, test = (set(batch.batch_samples.values_list("sample", flat=True)) for batch in (made.training, made.test))
    assert (len(training), len(test)) == (TRAINING, 2 * TEST)
    assert not training & test
    for samples in (training, test):
        assert {truth(one) for one in Sample.objects.filter(pk__in=samples)} == {"yes", "no", "unsure"}
    entry = AuditEntry.objects.get(action="qualification.created")
    assert (entry.actor, entry.subject) == (world.alice, "Support")


def test_verdicts_become_known_answers(world: World) -> None:
    samples = make_samples(world.project, 30)
    batch = world.batch(overlap=2, annotators=[world.ben, world.chen])
    for task in batch.tasks.select_related("annotator", "sample", "batch"):
        finish(task, support=truth(task.sample))
    made = make(world, world.ann)
    assert GoldAnswer.objects.filter(criterion__key="support").count() == 2 * (TRAINING + 2 * TEST)
    assert made.training.tasks.filter(annotator=world.ann).count() == TRAINING
    assert len(samples) == 30


def test_what_is_missing_is_named(world: World) -> None:
    know(world, make_samples(world.project, 15))
    with pytest.raises(Invalid, match=r"16 samples with known answers.*there are 15"):
        make(world)
    make_sample(world.project, 16)
    know(world, [Sample.objects.get(external_id="s16")])
    make(world)
    with pytest.raises(Invalid, match="no kappa"):
        make(world, criteria=world.criteria("relevance"))
    for given in ({"training": 0}, {"test": 1}, {"tries": 9}, {"test": True}):
        with pytest.raises(Invalid, match="whole number"):
            make(world, **given)
    for kappa in (0, 1.1, "0.6", True):
        with pytest.raises(Invalid, match="kappa"):
            make(world, kappa=kappa)
    with pytest.raises(Invalid, match="name"):
        make(world, name=" ")
    with pytest.raises(Invalid, match="not an active member"):
        make(world, world.charlie)
    assert Qualification.objects.count() == 1


def test_one_option_only_is_refused(world: World) -> None:
    know(world, make_samples(world.project, 40), lambda sample: "yes")
    with pytest.raises(Invalid) as refused:
        make(world)
    assert refused.value.code == "one_option"
    assert not GoldAnswer.objects.exclude(value="yes").exists()


def test_samples_may_be_named(world: World) -> None:
    know(world, make_samples(world.project, 20))
    names = [f"s{number}" for number in range(1, 21)]
    made = make(world, training_samples=names[:3], test_samples=names[3:10])
    assert made.training.batch_samples.count() == 3
    assert made.test.batch_samples.count() == 7
    for training, test in ((names[:3], names[2:10]), (names[:3], []), (["s99"], names[3:10]), (names[:3], names[3:5])):
        with pytest.raises(Invalid):
            make(world, training_samples=training, test_samples=test)


def test_samples_of_one_group_are_not_in_both(world: World) -> None:
    samples = make_samples(world.project, 20)
    Sample.objects.filter(pk__in=[one.pk for one in samples[:2]]).update(group_key="a question")
    know(world, samples)
    names = [one.external_id for one in samples]
    with pytest.raises(Invalid, match="groups"):
        make(world, training_samples=[names[0]], test_samples=names[1:10])


# Training, test, result


def test_training_shows_each_known_answer_and_the_test_none(world: World) -> None:
    made = make(world, world.ann)
    task = made.training.tasks.filter(annotator=world.ann).select_related("annotator", "sample", "batch").first()
    assert task is not None
    label_all(task, support=lambda unit: truth(task.sample) if unit == "claim:0" else wrong(task.sample))
    assert submit_task(actor=world.ann, task_id=task.pk).answers_shown
    shown = feedback_after(reader=world.ann, task_id=task.pk)
    assert [(one["unit"], one["yours"] == one["answer"], one["reason"]) for one in shown] == [
        ("claim:0", True, "So."),
        ("claim:1", False, "So."),
    ]
    with pytest.raises(Conflict, match="training"):
        start_test(actor=world.ann, qualification=made)
    train(world.ann, made)
    start_test(actor=world.ann, qualification=made)
    task = made.test.tasks.filter(annotator=world.ann).select_related("annotator", "sample", "batch").first()
    assert task is not None
    label_all(task)
    assert not submit_task(actor=world.ann, task_id=task.pk).answers_shown
    assert feedback_after(reader=world.ann, task_id=task.pk) == []


def test_who_agrees_is_qualified_and_who_does_not_may_try_again(world: World) -> None:
    made = make(world, world.ann, world.ben)
    train(world.ann, made)
    train(world.ben, made)
    test = take_test(world.ann, made)
    (result,) = test.results
    assert (test.passed, result["criterion"], result["kappa"]["value"], result["unanswered"]) == (True, "support", 1, 0)
    assert (result["kappa"]["n"], result["kappa"]["clusters"]) == (2 * TEST, TEST)
    first = take_test(world.ben, made, wrong)
    assert first.passed is False
    assert first.results[0]["kappa"]["value"] < 0
    by_name = {one.user.username: one for one in standings(made)}
    assert (by_name["ann"].state, by_name["ben"].state, by_name["ben"].tries_left) == ("qualified", "ready", 1)
    second = start_test(actor=world.ben, qualification=made)
    assert start_test(actor=world.ben, qualification=made) == second, "asked for twice, it is one"
    samples = [set(one.tasks.values_list("sample", flat=True)) for one in (first, second)]
    assert not samples[0] & samples[1]
    label(world.ben, made.test, wrong)
    assert own_standing(made, world.ben).state == "failed"
    with pytest.raises(Conflict, match="no tries left"):
        start_test(actor=world.ben, qualification=made)
    with pytest.raises(Conflict, match="qualified already"):
        start_test(actor=world.ann, qualification=made)
    assert [(one.kind, one.name, one.number) for one in notices(world.ann)] == [("qualified", "Support", made.pk)]
    assert {one.kind for one in notices(world.ben)} == {"not_qualified"}
    assert notices(world.chen) == []


def test_one_value_for_everything_is_no_pass(world: World) -> None:
    made = make(world, world.ann)
    train(world.ann, made)
    test = take_test(world.ann, made, lambda sample: "yes")
    assert test.results[0]["kappa"]["value"] == pytest.approx(0, abs=1e-9)
    assert test.passed is False


def test_without_two_known_options_kappa_is_undefined_and_no_pass(world: World) -> None:
    """Known answers may be removed or changed while a person is tested."""
    made = make(world, world.ann)
    train(world.ann, made)
    start_test(actor=world.ann, qualification=made)
    know(world, list(Sample.objects.filter(batches=made.test)), lambda sample: "yes")
    label(world.ann, made.test, lambda sample: "yes")
    test = Try.objects.get()
    assert (test.passed, test.results[0]["kappa"]["value"]) == (False, None)
    assert test.results[0]["kappa"]["reason"]["code"]


def test_without_any_known_answer_left_nobody_passes(world: World) -> None:
    made = make(world, world.ann)
    train(world.ann, made)
    start_test(actor=world.ann, qualification=made)
    for answer in GoldAnswer.objects.filter(sample__in=made.test.samples.all()):
        remove_gold(actor=world.alice, project=world.project, gold_id=answer.pk)
    label(world.ann, made.test)
    test = Try.objects.get()
    assert (test.passed, test.results[0]["kappa"]["value"]) == (False, None)


def test_what_is_skipped_or_left_open_counts_as_wrong(world: World) -> None:
    made = make(world, world.ann)
    train(world.ann, made)
    start_test(actor=world.ann, qualification=made)
    first, second, *_rest = made.test.tasks.select_related("annotator", "sample", "batch").order_by("pk")
    skip_task(actor=world.ann, task_id=first.pk, reason="Hard.")
    say(world.ann, second, "claim:0", "support", truth(second.sample))
    say(world.ann, second, "claim:1", "support", None, cant_tell="Hard, too.")
    submit_task(actor=world.ann, task_id=second.pk)
    label(world.ann, made.test)
    (result,) = Try.objects.get().results
    assert result["unanswered"] == 3
    assert result["kappa"]["n"] == 2 * TEST
    assert 0 < result["kappa"]["value"] < 1


def test_options_in_order_are_weighted(world: World) -> None:
    (grade,) = world.criteria("grade")
    (support,) = world.criteria("support")
    near = [(n, "answer", value, min(value + 1, 5)) for n, value in enumerate([1, 2, 3, 4, 5] * 3)]
    assert (kappa_with_known(grade, near, seed=1).value or 0) > 0.7
    left = [(n, "answer", value, None if n == 0 else value) for n, value in enumerate([1, 2, 3, 4, 5])]
    farthest = [(n, "answer", value, 5 if n == 0 else value) for n, value in enumerate([1, 2, 3, 4, 5])]
    assert kappa_with_known(grade, left, seed=1).value == kappa_with_known(grade, farthest, seed=1).value
    said = [(1, "claim:0", "yes", "yes"), (2, "claim:0", "no", None), (3, "claim:0", "no", "no")]
    assert (kappa_with_known(support, said, seed=1).value or 0) == pytest.approx(0.5)
    assert kappa_with_known(support, [], seed=1).reason == {"code": "no_answers"}


def test_a_finished_test_is_not_changed(world: World) -> None:
    made = make(world, world.ann)
    train(world.ann, made)
    start_test(actor=world.ann, qualification=made)
    task = made.test.tasks.select_related("annotator", "sample", "batch").order_by("pk")[0]
    finish(task, support=truth(task.sample))
    reopen_task(actor=world.ann, task_id=task.pk)
    submit_task(actor=world.ann, task_id=task.pk)
    label(world.ann, made.test)
    with pytest.raises(Conflict, match="finished"):
        reopen_task(actor=world.ann, task_id=task.pk)
    listed = finished_tasks(user=world.ann, project=world.project)
    assert not any(may_change(one) for one in listed)


# Nobody is trained or tested on what they know, and nothing of it is evidence


def test_labels_of_rounds_are_no_votes_and_no_evidence(world: World) -> None:
    made = make(world, world.ann)
    before = Verdict.objects.count()
    qualify(world.ann, made)
    assert not counting_labels().exists()
    assert Verdict.objects.count() == before
    assert gold_accuracy(world.project) == []
    assert agreement(world.criteria("support")[0], reader=SYSTEM)["raters"] == []


def test_what_was_labelled_or_is_to_be_labelled_is_left_out(world: World) -> None:
    know(world, make_samples(world.project, 20))
    names = [f"s{number}" for number in range(1, 21)]
    world.batch(
        criteria=["support"], annotators=[world.ann], overlap=1, selection={"method": "list", "samples": names[:2]}
    )
    made = make(world, world.ann, world.ben, training_samples=names[:4], test_samples=names[4:11])
    assert made.training.tasks.filter(annotator=world.ann).count() == 2
    assert made.training.tasks.filter(annotator=world.ben).count() == 4
    world.batch(
        criteria=["support"], annotators=[world.ann], overlap=1, selection={"method": "list", "samples": names[4:6]}
    )
    train(world.ann, made)
    with pytest.raises(Conflict, match="no test samples left"):
        start_test(actor=world.ann, qualification=made)


def test_their_samples_are_no_ordinary_tasks_later(world: World) -> None:
    made = make(world, world.ann)
    qualify(world.ann, made)
    met = set(Task.objects.filter(annotator=world.ann).values_list("sample", flat=True))
    queue = world.batch(criteria=["support"], annotators=[world.ann], overlap=1, strategy="pull")
    (own,) = own_batches(world.ann, [world.project])[world.project.pk]
    taken = []
    while task := take(world.ann, queue):
        finish(task)
        taken.append(task.sample_id)
    assert not met & set(taken)
    assert len(taken) == own.waiting == 40 - len(met)
    sample = Sample.objects.get(pk=min(met))
    assert not still_to_label(world.ann, sample), "so the known answers of their training are shown"
    others = [world.ann, world.ben, world.chen]
    shared = world.batch(criteria=["support"], annotators=others, overlap=2)
    assert not shared.tasks.filter(annotator=world.ann, sample__in=met).exists()
    assert shared.tasks.count() == 80
    task = shared.tasks.filter(sample__in=met)[0]
    with pytest.raises(Conflict):
        reassign_tasks(actor=world.alice, project=world.project, task_ids=[task.pk], to=world.ann)
    with pytest.raises(Conflict, match="training or test"):
        world.batch(criteria=["support"], annotators=[world.ann, world.ben], overlap=2)


def test_their_samples_measure_them_no_more(world: World) -> None:
    made = make(world, world.ann)
    qualify(world.ann, made)
    met = set(Task.objects.filter(annotator=world.ann).values_list("sample", flat=True))
    gold = world.batch(
        criteria=["support"], annotators=[world.ann], overlap=1, gold_share=1,
        selection={"method": "list", "samples": [one.external_id for one in make_samples_at(world, 100, 20)]},
    )  # fmt: skip
    measured = gold.tasks.filter(annotator=world.ann, purpose="gold")
    assert not met & set(measured.values_list("sample", flat=True))
    assert measured.count() == 20


def make_samples_at(world: World, first: int, count: int) -> list[Sample]:
    return [make_sample(world.project, first + number) for number in range(count)]


# Who gets work


def rest(world: World) -> dict[str, Any]:
    """A batch of samples without known answers."""
    names = [one.external_id for one in make_samples_at(world, 200, 6)]
    return {"criteria": ["support"], "selection": {"method": "list", "samples": names}}


def test_a_balanced_batch_opens_for_the_qualified_only(world: World) -> None:
    made = make(world, world.ann, world.ben)
    qualify(world.ann, made)
    batch = world.batch(**rest(world), annotators=[world.ann, world.ben], overlap=1, requires=made, opened=False)
    with pytest.raises(Conflict, match="Not qualified in “Support” yet: ben") as refused:
        open_batch(batch=batch)
    assert refused.value.details == {"people": ["ben"]}
    edit_batch(actor=world.alice, batch=batch, annotators=[world.ann])
    open_batch(batch=batch)
    task = batch.tasks.select_related("annotator", "sample", "batch").first()
    assert task is not None
    for doing in (
        lambda: extend_batch(actor=world.alice, batch=batch, annotators=[world.ben]),
        lambda: reassign_tasks(actor=world.alice, project=world.project, task_ids=[task.pk], to=world.ben),
    ):
        with pytest.raises(Conflict, match="Not qualified"):
            doing()
    qualify(world.ben, made)
    extend_batch(actor=world.alice, batch=batch, annotators=[world.ben])
    assert batch.tasks.filter(annotator=world.ben).exists()


def test_a_queue_gives_tasks_once_a_person_is_qualified(world: World) -> None:
    made = make(world, world.ann)
    batch = world.batch(**rest(world), annotators=[world.ann, world.ben], overlap=1, requires=made, strategy="pull")
    assert Candidate.objects.filter(user=world.ben).exists(), "opening it gives the training to all of them"
    assert take(world.ann, batch) is None
    assert own_batches(world.ann, [world.project]) == {}
    qualify(world.ann, made)
    assert take(world.ann, batch) is not None
    assert take(world.ben, batch) is None
    extend_batch(actor=world.alice, batch=batch, annotators=[world.chen])
    assert own_standing(made, world.chen).state == "training"


def test_samples_of_the_qualification_are_not_in_a_batch_that_requires_it(world: World) -> None:
    made = make(world, world.ann)
    batch = world.batch(criteria=["support"], annotators=[world.ann], overlap=1, requires=made, opened=False)
    assert batch.batch_samples.count() == 40 - TRAINING - 2 * TEST
    names = [one.external_id for one in made.training.samples.all()]
    with pytest.raises(Invalid, match="No samples"):
        world.batch(annotators=[world.ann], overlap=1, requires=made, selection={"method": "list", "samples": names})
    foreign = Qualification.objects.create(
        project=world.other, name="Theirs", kappa=0.5, test_samples=2, tries=1, seed=1
    )
    with pytest.raises(Invalid, match="another project"):
        edit_batch(actor=world.alice, batch=batch, requires=foreign)


def test_an_audit_asks_the_qualified_only(world: World) -> None:
    made = make(world, world.ann, world.ben)
    qualify(world.ann, made)
    monday = date(2999, 1, 7)
    schedule = create_schedule(
        project=world.project, actor=world.alice, today=monday - timedelta(weeks=1), name="Audit",
        criteria=world.criteria("support"), annotators=[world.ann, world.ben], samples=3, overlap=1,
        weekday=monday.weekday(), requires=made,
    )  # fmt: skip
    audit = make_audit(schedule.pk, today=monday)
    assert audit is not None
    assert audit.batch is not None
    assert audit.without == ["ben"]
    assert audit.batch.requires == made
    assert set(audit.batch.tasks.values_list("annotator", flat=True)) == {world.ann.pk}


# What admins do


def test_a_waived_test_and_a_withdrawn_qualification(world: World) -> None:
    made = make(world, world.ann, world.ben)
    qualify(world.ann, made)
    with pytest.raises(Invalid):
        waive(actor=world.alice, qualification=made, user=world.ben, reason=" ")
    with pytest.raises(Conflict):
        waive(actor=world.alice, qualification=made, user=world.ann, reason="She knows.")
    with pytest.raises(Http404):
        waive(actor=world.alice, qualification=made, user=world.chen, reason="She knows.")
    waive(actor=world.alice, qualification=made, user=world.ben, reason="Wrote the guidelines.")
    assert own_standing(made, world.ben).is_waived
    assert [one.kind for one in notices(world.ben)] == ["qualified"]
    batch = world.batch(**rest(world), annotators=[world.ann, world.ben], overlap=1, requires=made)
    done, *_open = batch.tasks.filter(annotator=world.ben).select_related("annotator", "sample", "batch")
    finish(done)
    with pytest.raises(Invalid):
        withdraw(actor=world.alice, qualification=made, user=world.ben, reason="")
    assert withdraw(actor=world.alice, qualification=made, user=world.ben, reason="Left the team.") == 2
    assert set(batch.tasks.filter(status="pending").values_list("annotator", flat=True)) == {world.ann.pk}
    assert counting_labels().filter(task=done).exists(), "what was labelled counts"
    with pytest.raises(Conflict, match="Not qualified"):
        return_task(actor=world.rita, project=world.project, task_id=done.pk, message="Look again.")
    with pytest.raises(Conflict):
        withdraw(actor=world.alice, qualification=made, user=world.ben, reason="Again.")
    assert own_standing(made, world.ben).state == "training"
    actions = list(AuditEntry.objects.filter(action__startswith="qualification.").values_list("action", flat=True))
    assert {"qualification.waived", "qualification.withdrawn"} <= set(actions)


def test_another_try_is_granted(world: World) -> None:
    made = make(world, world.ann, tries=1, count=60)
    train(world.ann, made)
    with pytest.raises(Conflict):
        grant_try(actor=world.alice, qualification=made, user=world.ann)
    take_test(world.ann, made, wrong)
    grant_try(actor=world.alice, qualification=made, user=world.ann)
    standing = own_standing(made, world.ann)
    assert (standing.state, standing.tries_left) == ("ready", 1)
    with pytest.raises(Conflict, match="no test samples left"):
        start_test(actor=world.ann, qualification=made)


def test_people_come_later_and_the_end_stops_everything(world: World) -> None:
    made = make(world, world.ann)
    assert add_people(actor=world.alice, qualification=made, annotators=[world.ann, world.ben]) == [world.ben]
    assert add_people(actor=world.alice, qualification=made, annotators=[world.ben]) == []
    train(world.ann, made)
    end_qualification(actor=world.alice, qualification=made)
    end_qualification(actor=world.alice, qualification=made)
    assert AuditEntry.objects.filter(action="qualification.ended").count() == 1
    for doing in (
        lambda: start_test(actor=world.ann, qualification=made),
        lambda: add_people(actor=world.alice, qualification=made, annotators=[world.chen]),
        lambda: grant_try(actor=world.alice, qualification=made, user=world.ann),
    ):
        with pytest.raises(Conflict, match="ended"):
            doing()


def test_rounds_are_no_batches_of_the_project(world: World) -> None:
    made = make(world, world.ann)
    assert list(batches_of(world.project)) == []
    with pytest.raises(Http404):
        one_batch(world.project, made.training.number)
    counts = counts_of([world.project])[world.project.pk]
    assert (counts.batches, counts.open_batches, counts.tasks) == (0, 0, 0)
    assert own_batches(world.ann, [world.project]) == {}
    (standing,) = own_standings(world.ann, [world.project])[world.project.pk]
    assert (standing.trained, standing.training, standing.state) == (0, TRAINING, "training")


def test_a_member_who_leaves_in_the_middle_of_a_test(world: World) -> None:
    made = make(world, world.ann)
    train(world.ann, made)
    start_test(actor=world.ann, qualification=made)
    deactivate_member(actor=world.alice, project=world.project, user=world.ann)
    assert own_standing(made, world.ann).state == "ready"
    assert own_standing(made, world.ann).tries_left == 1


def test_an_archived_project_and_its_rounds(world: World) -> None:
    made = make(world, world.ann)
    archive_project(actor=world.alice, project=world.project)
    assert made.training.status == "paused"
    restore_project(actor=world.alice, project=world.project)
    assert made.training.status == made.test.status == "open"


def test_a_changed_criterion_is_named(world: World) -> None:
    made = make(world, world.ann)
    assert changed_criteria(made) == []
    support = world.criteria("support")[0]
    type(support).objects.filter(pk=support.pk).update(is_current=False)
    assert [one.key for one in changed_criteria(made)] == ["support"]


def test_nobody_else_starts_a_test(world: World) -> None:
    made = make(world, world.ann)
    with pytest.raises(Http404):
        start_test(actor=world.ben, qualification=made)
