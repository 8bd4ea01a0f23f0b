"""What annotators learn from: their own labels that a reviewer decided otherwise, once labelling is over."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.models import Batch, LessonRead, Verdict
from annotate.verdicts.adjudication import mark_read
from annotate.verdicts.lessons_read import Lessons, new_lessons
from tests.annotate.factories import World, decide_unit, finish, make_samples, make_world


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """Two samples; Ann says 1 and Ben 5; Rita says 5 about the first one. Labelling is over."""
    world = make_world()
    make_samples(world.project, 2)
    batch = world.batch(annotators=[world.ann, world.ben])
    for task in batch.tasks.all():
        finish(task, support="yes", grade=1 if task.annotator == world.ann else 5)
    decided(world, "s1", 5)
    Batch.objects.filter(pk=batch.pk).update(status="adjudicating")
    return world


@pytest.fixture
def batch(world: World) -> Batch:
    return world.project.batches.get()


def decided(world: World, sample: str, value: Any, reason: str = "It opens at nine.") -> Verdict:
    verdict = Verdict.objects.get(sample__external_id=sample, unit="answer")
    return decide_unit(world.rita, verdict, value, reason)


def found(world: World, user: Any) -> list[tuple[str, Any, Any, bool]]:
    lessons = Lessons(world.project, reader=user)[:]
    return [
        (lesson.verdict.sample.external_id, lesson.label.value, lesson.verdict.value, lesson.is_new)
        for lesson in lessons
    ]


def test_ones_own_label_with_the_verdict(world: World, batch: Batch) -> None:
    assert found(world, world.ann) == [("s1", 1, 5, True)]
    assert found(world, world.ben) == [], "agreed with"
    assert found(world, world.chen) == found(world, world.rita) == []
    assert new_lessons(world.ann, [world.project, world.other]) == {world.project.pk: 1}
    assert [(group.key, group.n, group.new) for group in Lessons(world.project, reader=world.ann).groups()] == [
        ("grade", 1, 1)
    ]
    assert Lessons(world.project, reader=world.ann, criterion="support").count() == 0


def test_a_closed_batch_teaches_too_and_the_latest_comes_first(world: World, batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(status="closed")
    decided(world, "s2", 4)
    assert [row[:3] for row in found(world, world.ann)] == [("s2", 1, 4), ("s1", 1, 5)]
    assert [row[:3] for row in found(world, world.ben)] == [("s2", 5, 4)]


@pytest.mark.parametrize("status", ["open", "paused"])
def test_nothing_while_labelling_goes_on(world: World, batch: Batch, status: str) -> None:
    Batch.objects.filter(pk=batch.pk).update(status=status)
    assert found(world, world.ann) == []
    assert new_lessons(world.ann, [world.project]) == {}


def test_nothing_of_a_sample_that_one_is_yet_to_meet_again(world: World, batch: Batch) -> None:
    again = world.batch(annotators=[world.ann], overlap=1)
    assert found(world, world.ann) == []
    again.tasks.filter(sample__external_id="s1").update(annotator=None)
    assert found(world, world.ann) == [], "nor of one that waits for its annotator"
    Batch.objects.filter(pk=again.pk).update(status="closed")
    assert len(found(world, world.ann)) == 1


@pytest.mark.parametrize("purpose", ["gold", "repeat"])
def test_what_measures_people_teaches_nothing(world: World, batch: Batch, purpose: str) -> None:
    batch.tasks.filter(annotator=world.ann).update(purpose=purpose)
    assert found(world, world.ann) == []


@pytest.mark.parametrize("change", [{"method": "majority"}, {"method": "dawid_skene"}, {"state": "reopened"}])
def test_only_what_a_reviewer_decided(world: World, batch: Batch, change: dict[str, str]) -> None:
    Verdict.objects.filter(sample__external_id="s1", unit="answer").update(**change)
    assert found(world, world.ann) == []


def test_only_where_the_project_teaches(world: World, batch: Batch) -> None:
    world.project.teach = False
    world.project.save()
    assert found(world, world.ann) == []
    assert new_lessons(world.ann, [world.project]) == {}


def test_read_until_it_is_decided_anew(world: World, batch: Batch) -> None:
    verdict = Verdict.objects.get(sample__external_id="s1", unit="answer")
    assert mark_read(user=world.ann, project=world.project, verdict_ids=[verdict.pk]) == 1
    assert mark_read(user=world.ann, project=world.project, verdict_ids=[verdict.pk]) == 1
    assert found(world, world.ann) == [("s1", 1, 5, False)]
    assert new_lessons(world.ann, [world.project]) == {}
    decided(world, "s1", 4)
    assert found(world, world.ann) == [("s1", 1, 4, True)]
    mark_read(user=world.ann, project=world.project, verdict_ids=[verdict.pk])
    assert LessonRead.objects.count() == 1


def test_what_is_no_lesson_of_ones_own_can_not_be_marked(world: World, batch: Batch) -> None:
    ids = list(Verdict.objects.values_list("pk", flat=True))
    for user in (world.ben, world.chen, world.rita):
        assert mark_read(user=user, project=world.project, verdict_ids=[*ids, 10**15]) == 0
    assert mark_read(user=world.ann, project=world.other, verdict_ids=ids) == 0
    assert not LessonRead.objects.exists()
