from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from django.http import Http404

from annotate.batches.criterion_change_read import Choices, impact
from annotate.batches.gold import gold_from_verdicts, import_gold, remove_gold
from annotate.batches.read import batch_criteria
from annotate.batches.relabelling import Relabelled, change_criterion
from annotate.batches.steps import close_batch, open_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.labels.gold_read import feedback_after, gold_accuracy, known_answers, self_consistency, to_set_again
from annotate.models import AuditEntry, Batch, GoldAnswer, Membership, Sample, Task, Verdict
from annotate.projects.criteria import check_spec
from annotate.tasks.labelling import skip_task, submit_task
from annotate.tasks.read import own_task
from annotate.tasks.write import reopen_task
from annotate.verdicts.adjudication import mark_read
from annotate.verdicts.evidence_read import agreement
from annotate.verdicts.rating_codes_read import rating_columns
from annotate.verdicts.ratings_read import labels_before
from tests.annotate.factories import (
    GRADE,
    World,
    decide_unit,
    finish,
    label_all,
    make_sample,
    make_samples,
    must_take,
    say,
    take,
)
from tests.clients import client_of


def know(world: World, sample: Sample, value: Any = 4, unit: str = "answer", key: str = "grade") -> GoldAnswer:
    row = {"sample_id": sample.external_id, "unit": unit, "criterion": key, "value": value}
    import_gold(actor=world.alice, project=world.project, rows=[{**row, "reason": "As the manual says."}])
    return GoldAnswer.objects.get(sample=sample, unit=unit, criterion=world.criteria(key)[0])


def gold_only(world: World, count: int) -> list[Sample]:
    """Samples with a known answer that no batch chooses."""
    samples = [make_sample(world.project, 100 + n, metadata={"for": "gold"}) for n in range(count)]
    for sample in samples:
        know(world, sample)
    return samples


def others(world: World, count: int) -> dict[str, Any]:
    for number in range(1, count + 1):
        make_sample(world.project, number, metadata={"for": "labels"})
    return {"method": "filter", "filter": {"for": "labels"}}


# Known answers


def test_setting_changing_and_removing(world: World) -> None:
    sample = make_sample(world.project)
    answer = know(world, sample)
    assert know(world, sample) == answer
    assert AuditEntry.objects.filter(action="gold.imported").count() == 1, "a repeat changes nothing"
    know(world, sample, 2)
    answer.refresh_from_db()
    assert (answer.value, answer.created_by) == (2, world.alice)
    remove_gold(actor=world.alice, project=world.project, gold_id=answer.pk)
    with pytest.raises(Http404):
        remove_gold(actor=world.alice, project=world.project, gold_id=answer.pk)
    with pytest.raises(Http404):
        remove_gold(actor=world.dora, project=world.other, gold_id=know(world, sample).pk)


def test_from_a_list_all_or_none(world: World) -> None:
    make_samples(world.project, 2)
    good = {"sample_id": "s1", "unit": "claim:1", "criterion": "support", "value": "NO".lower(), "reason": "x"}
    rows: list[Any] = [
        good, {**good, "sample_id": "s9"}, {**good, "unit": "claim:2"}, {**good, "unit": "claim:01"},
        {**good, "unit": "answer"}, {**good, "value": "maybe"}, {**good, "criterion": "x"}, {**good, "extra": 1},
        {"sample_id": "s1"}, 5, good, {**good, "sample_id": ["s1"]},
    ]  # fmt: skip
    with pytest.raises(Invalid) as refused:
        import_gold(actor=world.alice, project=world.project, rows=rows)
    problems = refused.value.details["problems"]
    assert [problem["row"] for problem in problems] == list(range(2, 13))
    assert not GoldAnswer.objects.exists()
    two = [good, {"sample_id": "s2", "unit": "answer", "criterion": "grade", "value": "4"}]
    assert import_gold(actor=world.alice, project=world.project, rows=two) == 2
    assert import_gold(actor=world.alice, project=world.project, rows=two) == 0
    assert GoldAnswer.objects.get(unit="answer").value == 4
    for rows in ([], {}, None):
        with pytest.raises(Invalid):
            import_gold(actor=world.alice, project=world.project, rows=rows)


def test_drawn_from_verdicts_that_are_sure(world: World) -> None:
    make_samples(world.project, 6)
    batch = world.batch(overlap=2, annotators=[world.ann, world.ben])
    for number, task in enumerate(batch.tasks.order_by("sample_id", "annotator_id")):
        finish(task, grade=1 + number % 2 if number < 4 else 5)
    grade = world.criteria("grade")[0]
    assert Verdict.objects.filter(criterion=grade, method="unanimous").count() == 4
    with pytest.raises(Invalid, match="Only 4 units"):
        gold_from_verdicts(actor=world.alice, project=world.project, criterion=grade, n=5)
    drawn = gold_from_verdicts(actor=world.alice, project=world.project, criterion=grade, n=3, seed=1)
    assert [answer.value for answer in drawn] == [5, 5, 5]
    assert len({answer.sample_id for answer in drawn}) == 3
    more = gold_from_verdicts(actor=world.alice, project=world.project, criterion=grade, n=1, seed=1)
    assert more[0].sample_id not in {answer.sample_id for answer in drawn}


# Nobody is measured by what they know


def gold_of(batch: Batch, user: Any) -> list[Sample]:
    return [task.sample for task in batch.tasks.filter(annotator=user, purpose="gold").order_by("sample_id")]


def open_with_gold(world: World, **more: Any) -> Batch:
    selection = {"method": "filter", "filter": {"for": "labels"}}
    return world.batch(selection=selection, criteria=["grade"], overlap=1, gold_share=1, **more)


def test_what_an_annotator_labelled_elsewhere_measures_others_only(world: World) -> None:
    """Its lesson may have told them; also where they skipped it, or still have it to label."""
    others(world, 6)
    labelled, skipped, waiting, fresh = gold_only(world, 4)
    before = world.batch(
        selection={"method": "list", "samples": [s.external_id for s in (labelled, skipped, waiting)]},
        criteria=["grade"], annotators=[world.ann], overlap=1,
    )  # fmt: skip
    task = {task.sample_id: task for task in before.tasks.select_related("annotator", "sample", "batch")}
    finish(task[labelled.pk])
    skip_task(actor=world.ann, task_id=task[skipped.pk].pk, reason="Too long.")
    batch = open_with_gold(world, annotators=[world.ann, world.ben])
    assert gold_of(batch, world.ann) == [fresh]
    assert len(gold_of(batch, world.ben)) == 3


def test_what_a_lesson_told_is_no_gold(world: World) -> None:
    others(world, 2)
    taught, fresh = gold_only(world, 2)
    before = world.batch(
        selection={"method": "list", "samples": [taught.external_id]}, criteria=["grade"],
        annotators=[world.ann], overlap=1,
    )  # fmt: skip
    finish(before.tasks.get(), grade=2)
    verdict = Verdict.objects.get()
    decide_unit(world.rita, verdict, 4, "As the manual says.")
    close_batch(batch=before)
    assert mark_read(user=world.ann, project=world.project, verdict_ids=[verdict.pk]) == 1
    batch = open_with_gold(world, annotators=[world.ann, world.rita])
    assert gold_of(batch, world.ann) == [fresh]
    assert gold_of(batch, world.rita) == [fresh], "who decided it knows it"


@pytest.mark.parametrize("feedback", [True, False])
def test_gold_comes_again_only_where_its_answer_was_not_shown(world: World, feedback: bool) -> None:
    others(world, 1)
    (known,) = gold_only(world, 1)
    first = open_with_gold(world, annotators=[world.ann], gold_feedback=feedback)
    for task in first.tasks.order_by("position"):
        finish(task, grade=2)
    if feedback:
        with pytest.raises(Conflict, match="No annotator here can be checked"):
            open_with_gold(world, annotators=[world.ann])
    else:
        assert gold_of(open_with_gold(world, annotators=[world.ann]), world.ann) == [known]


def test_a_pull_queue_gives_no_known_answers_either(world: World) -> None:
    others(world, 6)
    labelled, fresh = gold_only(world, 2)
    before = world.batch(
        selection={"method": "list", "samples": [labelled.external_id]}, criteria=["grade"],
        annotators=[world.ann], overlap=1,
    )  # fmt: skip
    finish(before.tasks.get())
    batch = open_with_gold(world, annotators=[world.ann], strategy="pull")
    drain(world, batch, world.ann)
    assert gold_of(batch, world.ann) == [fresh]


# A criterion changes


def next_version(world: World, **fields: Any) -> Relabelled:
    grade = world.criteria("grade")[0]
    return change_criterion(
        actor=world.alice, project=world.project, seen=grade, spec=check_spec({**GRADE, **fields}), choices=Choices()
    )


def test_known_answers_that_a_change_leaves_alone_are_carried(world: World) -> None:
    kept, touched = make_samples(world.project, 2)
    answer = know(world, kept, 4)
    know(world, touched, 5)
    without_five = {"options": GRADE["options"][:-1], "pass": [4]}
    found = impact(old=world.criteria("grade")[0], new=check_spec({**GRADE, **without_five}))
    assert (found.gold_kept, found.gold_again) == (1, 1)
    assert next_version(world, **without_five).known_answers == 1
    (carried,) = known_answers(world.project, reader=SYSTEM)
    assert (carried.sample, carried.value, carried.reason, carried.created_by, carried.created_at) == (
        kept, 4, answer.reason, world.alice, answer.created_at,
    )  # fmt: skip
    assert carried.criterion == world.criteria("grade")[0]
    assert [one.sample for one in to_set_again(world.project, reader=SYSTEM)] == [touched]
    know(world, touched, 3)
    assert not to_set_again(world.project, reader=SYSTEM).exists()


def test_another_question_asks_for_every_answer_again(world: World) -> None:
    know(world, make_sample(world.project), 4)
    assert next_version(world, prompt="How well written?").known_answers == 0
    assert [one.criterion.version for one in to_set_again(world.project, reader=SYSTEM)] == [1]
    assert not known_answers(world.project, reader=SYSTEM).exists()


def test_a_carried_answer_is_taken_back_altogether(world: World) -> None:
    know(world, make_sample(world.project), 4)
    next_version(world, name="Mark")
    remove_gold(actor=world.alice, project=world.project, gold_id=known_answers(world.project, reader=SYSTEM).get().pk)
    assert not GoldAnswer.objects.exists()


# In a batch


def test_a_balanced_batch_mixes_gold_in(world: World) -> None:
    selection = others(world, 20)
    known = {sample.pk for sample in gold_only(world, 6)}
    batch = world.batch(selection=selection, overlap=3, gold_share=0.2, seed=5)
    places = []
    for person in world.annotators:
        mine = list(batch.tasks.filter(annotator=person).order_by("position"))
        gold = [task for task in mine if task.purpose == "gold"]
        assert (len(mine), len(gold)) == (24, 4)
        assert {task.sample_id for task in gold} <= known
        assert [task.position for task in mine] == list(range(24))
        assert [task.pk for task in mine] == sorted(task.pk for task in mine), "its number tells nothing"
        places.append([task.position for task in gold])
    assert len({tuple(each) for each in places}) > 1
    assert all(row.expected == 3 * (40 if row.key == "support" else 20) for row in batch_criteria(batch))


def test_gold_that_an_annotator_labels_anyway_is_not_their_gold(world: World) -> None:
    for sample in make_samples(world.project, 4):
        know(world, sample)
    batch = world.batch(overlap=1, gold_share=1)
    for person in world.annotators:
        mine = list(batch.tasks.filter(annotator=person))
        assert len({task.sample_id for task in mine}) == len(mine)


def test_a_batch_without_any_gold_does_not_open(world: World) -> None:
    make_samples(world.project, 3)
    with pytest.raises(Conflict, match="No sample has known answers"):
        world.batch(gold_share=0.5)


def test_gold_needs_the_expertise_too(world: World) -> None:
    selection = others(world, 4)
    Sample.objects.filter(metadata__contains={"for": "labels"}).update(metadata={"for": "labels", "topic": "law"})
    for number, sample in enumerate(gold_only(world, 6)):
        Sample.objects.filter(pk=sample.pk).update(metadata={"topic": "law" if number < 2 else "tax"})
    Membership.objects.filter(user=world.ann).update(tags=["law"])
    batch = world.batch(selection=selection, annotators=[world.ann], overlap=1, tag_key="topic", gold_share=1)
    gold = batch.tasks.filter(purpose="gold").select_related("sample")
    assert [task.sample.metadata["topic"] for task in gold] == ["law", "law"]


def drain(world: World, batch: Batch, person: Any, **said: Any) -> list[Task]:
    done = []
    while (task := take(person, batch)) is not None:
        finish(task, **said)
        done.append(task)
    return done


def test_a_pull_queue_mixes_gold_and_repeats_in(world: World) -> None:
    selection = others(world, 40)
    known = {sample.pk for sample in gold_only(world, 20)}
    batch = world.batch(
        selection=selection, annotators=[world.ann, world.ben], overlap=1, strategy="pull", gold_share=0.2,
        repeat_share=0.2, seed=3,
    )  # fmt: skip
    done = drain(world, batch, world.ann)
    by_purpose = {name: [task for task in done if task.purpose == name] for name in ("label", "gold", "repeat")}
    assert len(by_purpose["label"]) == 40, "no hole: what gave way to gold came back"
    assert 6 <= len(by_purpose["gold"]) <= 9
    assert 5 <= len(by_purpose["repeat"]) <= 9
    assert {task.sample_id for task in by_purpose["gold"]} <= known
    when = {(task.purpose, task.sample_id): place for place, task in enumerate(done)}
    for task in by_purpose["repeat"]:
        first, second = when["label", task.sample_id], when["repeat", task.sample_id]
        assert second - first >= (second - len([t for t in done[:second] if t.purpose != "label"])) // 2 - 1
    assert [task.pk for task in by_purpose["gold"]] == sorted(task.pk for task in by_purpose["gold"])
    places = [place for place, task in enumerate(done) if task.purpose == "gold"]
    assert len({b - a for a, b in pairwise(places)}) > 1, "not every fifth"
    counted = Task.objects.filter(batch=batch, purpose="label", status="submitted")
    assert sorted(counted.values_list("sample__external_id", flat=True)) == sorted(f"s{n}" for n in range(1, 41))


def test_a_task_does_not_tell_its_purpose(world: World) -> None:
    selection = others(world, 10)
    gold_only(world, 5)
    for strategy in ("balanced", "pull"):
        batch = world.batch(
            selection=selection, annotators=[world.ann], overlap=1, strategy=strategy, gold_share=0.3,
            repeat_share=0.3,
        )  # fmt: skip
        shown: dict[str, list[dict[str, Any]]] = {}
        for task in drain(world, batch, world.ann):
            shown.setdefault(task.purpose, []).append(own_task(user=world.ann, task_id=task.pk))
        assert shown.keys() == {"label", "gold", "repeat"}
        plain = {key: (payload[key],) for payload in shown["label"][:1] for key in ("leased", "status", "batch")}
        for payload in (each for group in shown.values() for each in group):
            assert payload.keys() == shown["label"][0].keys()
            assert {key: (payload[key],) for key in plain} == plain
            assert "purpose" not in str(payload)
            assert "gold" not in str(payload)


# What it measures


def gold_task(world: World, **more: Any) -> Task:
    selection = others(world, 1)
    (sample,) = gold_only(world, 1)
    know(world, sample, "yes", "claim:0", "support")
    batch = world.batch(selection=selection, annotators=[world.ann], overlap=1, gold_share=1, **more)
    return batch.tasks.select_related("sample", "batch", "annotator").get(purpose="gold")


def test_gold_never_counts_nor_settles(world: World) -> None:
    task = gold_task(world)
    finish(task, grade=5)
    assert not Verdict.objects.exists()
    grade = world.criteria("grade")[0]
    columns = rating_columns(grade, reader=SYSTEM)
    assert columns.values == []
    assert labels_before(grade, columns.replaced.tolist(), reader=SYSTEM) == []


@pytest.mark.parametrize("shows", [True, False])
def test_feedback_after_submitting_where_the_batch_gives_it(world: World, shows: bool) -> None:
    task = gold_task(world, gold_feedback=shows)
    label_all(task, grade=5)
    assert feedback_after(reader=world.ann, task_id=task.pk) == []
    assert submit_task(actor=world.ann, task_id=task.pk).answers_shown is shows
    wrong = [{"unit": "answer", "criterion": "grade", "yours": 5, "answer": 4, "reason": "As the manual says."}]
    assert feedback_after(reader=world.ann, task_id=task.pk) == (wrong if shows else [])
    assert feedback_after(reader=world.ben, task_id=task.pk) == []
    if shows:
        with pytest.raises(Conflict) as refused:
            reopen_task(actor=world.ann, task_id=task.pk)
        assert refused.value.code == "answers_shown"
    else:
        assert reopen_task(actor=world.ann, task_id=task.pk).status == "in_progress"


def test_no_feedback_about_a_sample_that_waits_in_a_queue_for_the_same_person(world: World) -> None:
    task = gold_task(world, gold_feedback=True)
    label_all(task, grade=5)
    selection = {"method": "list", "samples": [task.sample.external_id]}
    world.batch(selection=selection, annotators=[world.ann, world.ben], overlap=1, strategy="pull")
    submit_task(actor=world.ann, task_id=task.pk)
    assert feedback_after(reader=world.ann, task_id=task.pk) == []


def test_a_skipped_gold_task_may_be_done_after_all(world: World) -> None:
    """No answer was shown; a refusal would tell that it was gold."""
    task = gold_task(world, gold_feedback=True)
    skip_task(actor=world.ann, task_id=task.pk, reason="Hard.")
    assert reopen_task(actor=world.ann, task_id=task.pk).status == "in_progress"


def test_a_queue_gives_none_of_its_own_samples_as_gold(world: World) -> None:
    """Who had one as gold could not take its copy, which might wait for ever."""
    sample = make_sample(world.project)
    know(world, sample)
    batch = world.batch(annotators=[world.ann], overlap=1, strategy="pull", gold_share=1, opened=False)
    with pytest.raises(Conflict) as refused:
        open_batch(batch=batch)
    assert refused.value.code == "no_gold"


def test_a_list_of_tasks_tells_only_admins_which_ones_measure(world: World) -> None:
    task = gold_task(world)
    address = f"/api/projects/{world.project.slug}/batches/{task.batch.number}/tasks/"
    listed = {}
    for person in (world.alice, world.rita):
        client = client_of(person)
        listed[person] = {row["purpose"] for row in client.get(address).json()["results"]}
    assert listed == {world.alice: {"label", "gold"}, world.rita: {"label"}}


def test_accuracy_per_annotator(world: World) -> None:
    task = gold_task(world)
    assert gold_accuracy(task.batch) == []
    say(world.ann, task, "claim:1", "support", "no")
    say(world.ann, task, "claim:0", "support", "yes")
    say(world.ann, task, "answer", "grade", 1)
    submit_task(actor=world.ann, task_id=task.pk)
    for of in (task.batch, world.project):
        (row,) = gold_accuracy(of)
        assert (row.username, row.right, row.answered, row.cant_tell) == ("ann", 1, 2, 0)
        assert (row.accuracy.value, row.accuracy.n, row.accuracy.clusters) == (0.5, 2, 1)
        assert row.accuracy.low is None or row.accuracy.low < 0.5


def test_self_consistency_and_reports_see_second_readings(world: World) -> None:
    make_samples(world.project, 12)
    batch = world.batch(annotators=[world.ann], overlap=1, repeat_share=0.5, seed=2)
    mine = list(
        batch.tasks.filter(annotator=world.ann).order_by("position").select_related("sample", "batch", "annotator")
    )
    repeats = [task for task in mine if task.purpose == "repeat"]
    assert len(repeats) == 6
    place = {(task.purpose, task.sample_id): task.position for task in mine}
    assert all(place["repeat", task.sample_id] - place["label", task.sample_id] >= 6 for task in repeats)
    assert self_consistency(batch) == []
    for task in mine:
        assert own_task(user=world.ann, task_id=task.pk)["labels"] == [], "a second reading starts empty"
        turned = task.purpose == "repeat" and task.position == repeats[0].position
        finish(task, grade=(2 if turned else 1 + task.sample_id % 2 * 3))
    rows = {row.criterion: row for row in self_consistency(batch)}
    assert rows.keys() == {"support", "grade"}
    assert rows["support"].agreement.value == 1
    assert rows["support"].kappa.value is None
    assert rows["grade"].agreement.value == pytest.approx(5 / 6)
    assert rows["grade"].kappa.value is not None
    grade = world.criteria("grade")[0]
    columns = rating_columns(grade, reader=SYSTEM)
    assert len(columns.values) == 12
    assert len(labels_before(grade, columns.replaced.tolist(), reader=SYSTEM)) == 6
    assert agreement(grade, reader=SYSTEM)
    assert Verdict.objects.filter(criterion=grade).count() == 12


def test_opening_again_gives_the_same(world: World) -> None:
    selection = others(world, 10)
    gold_only(world, 5)
    more: dict[str, Any] = {"selection": selection, "gold_share": 0.3, "repeat_share": 0.3, "seed": 9}
    lists = []
    for _twice in range(2):
        batch = open_batch(batch=world.batch(opened=False, **more))
        lists.append(list(batch.tasks.order_by("annotator", "position").values_list("annotator", "sample", "purpose")))
    # Whom they met since is what may differ: everybody's first choice of gold is what they never saw.
    assert [row for row in lists[0] if row[2] != "gold"] == [row for row in lists[1] if row[2] != "gold"]
    assert must_take(world.ann, batch).status == "pending"
