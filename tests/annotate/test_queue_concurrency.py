"""Many people at one queue, with real threads and a connection each: never too often, never twice, no hole."""

from __future__ import annotations

from collections import Counter

import pytest

from annotate.models import Sample, Task, User
from annotate.services.labelling import submit_task
from annotate.services.projects import set_member
from annotate.services.queue import take_following
from tests.annotate.factories import (
    World,
    at_once,
    make_world,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def crowd(world: World, size: int) -> list[User]:
    people = [User.objects.create_user(f"person{number}") for number in range(size)]
    for person in people:
        set_member(project=world.project, user=person, role="annotator")
    return people


def many_samples(world: World, count: int) -> None:
    Sample.objects.bulk_create(
        Sample(
            project=world.project,
            external_id=f"m{number}",
            question="Q?",
            answer="A.",
            contexts=[{"id": None, "text": "T", "score": None}],
            content_hash=b"0" * 16,
        )
        for number in range(count)
    )


def test_thirty_people_drain_two_thousand_samples_at_overlap_three(world: World) -> None:
    """Scorecard 5. Each sample exactly three times, nobody twice, no hole. The criterion is optional, so that a task
    takes no label: what is tested is the queue."""
    many_samples(world, 2000)
    people = crowd(world, 30)
    batch = world.batch(criteria=["relevance"], annotators=people, overlap=3, strategy="pull")

    def drain(person: User) -> int:
        done = 0
        while (task := take_following(user=person, batch_id=batch.pk, exclude=())) is not None:
            submit_task(actor=person, task_id=task["id"])
            done += 1
        return done

    results = at_once(*[lambda p=person: drain(p) for person in people])
    assert sum(results) == 6000, results
    rows = list(Task.objects.values_list("sample_id", "annotator_id", "status"))
    assert len(rows) == 6000
    assert {status for _sample, _person, status in rows} == {"submitted"}
    assert set(Counter(sample for sample, _person, _status in rows).values()) == {3}
    assert len({(sample, person) for sample, person, _status in rows}) == 6000
    # Nobody was left out: all were at it to the end.
    assert min(results) > 0
