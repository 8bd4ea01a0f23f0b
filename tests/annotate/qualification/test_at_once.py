from __future__ import annotations

import pytest

from annotate.models import AuditEntry, Task
from annotate.qualification.read import own_standing
from annotate.qualification.tries import start_test
from annotate.tasks.labelling import submit_task
from tests.annotate.factories import World, concurrently, finish, label_all, make_world
from tests.annotate.qualification.test_qualification import make, train, truth

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    return make_world()


def test_two_last_submissions_at_once_have_one_result(world: World) -> None:
    made = make(world, world.ann)
    train(world.ann, made)
    start_test(actor=world.ann, qualification=made)
    *before, first, second = Task.objects.filter(batch=made.test).select_related("annotator", "sample", "batch")
    for task in before:
        finish(task, support=truth(task.sample))
    for task in (first, second):
        label_all(task, support=truth(task.sample))
    concurrently(
        lambda: submit_task(actor=world.ann, task_id=first.pk), lambda: submit_task(actor=world.ann, task_id=second.pk)
    )
    assert own_standing(made, world.ann).state == "qualified"
    assert AuditEntry.objects.filter(action="qualification.tested").count() == 1


def test_two_starts_at_once_are_one_test(world: World) -> None:
    made = make(world, world.ann)
    train(world.ann, made)
    starts = [lambda: start_test(actor=world.ann, qualification=made)] * 2
    first, second = concurrently(*starts)
    assert first == second
    assert made.test.tasks.count() == made.test_samples
