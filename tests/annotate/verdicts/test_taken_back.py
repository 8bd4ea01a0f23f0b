"""What was said and taken back: no verdict stands on it, and no place is filled twice."""

from __future__ import annotations

import pytest

from annotate.core.errors import Conflict
from annotate.models import Verdict
from annotate.tasks.labelling import skip_task
from annotate.tasks.write import reopen_task
from tests.annotate.factories import concurrently, decide_unit, finish, make_sample, make_world


@pytest.mark.django_db
@pytest.mark.parametrize("decided", [False, True])
def test_a_verdict_whose_only_vote_was_withdrawn_does_not_stand(decided: bool) -> None:
    world = make_world()
    make_sample(world.project)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    finish(task)
    verdict = Verdict.objects.get(unit="answer", criterion__key="grade")
    assert (verdict.state, verdict.method) == ("settled", "unanimous")
    if decided:
        decide_unit(world.rita, verdict, 2, "See context 1.")
    reopen_task(actor=world.ann, task_id=task.pk)
    skip_task(actor=world.ann, task_id=task.pk, reason="Not my subject.")
    verdict.refresh_from_db()
    # A reviewer's decision is looked at again; no other is left.
    assert (verdict.state, verdict.value) == (("reopened", 2) if decided else ("disputed", None))
    assert verdict.votes == []


@pytest.mark.django_db(transaction=True)
def test_of_two_who_skipped_one_may_take_the_last_place(transactional_db: None) -> None:
    world = make_world()
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann, world.ben], overlap=2)
    # One person is enough after all.
    batch.batch_samples.update(overlap=1)
    tasks = list(batch.tasks.select_related("annotator"))
    for _round in range(5):
        for task in tasks:
            skip_task(actor=task.annotator, task_id=task.pk, reason="Not my subject.")
        results = concurrently(
            *[lambda task=task: reopen_task(actor=task.annotator, task_id=task.pk) for task in tasks]
        )
        assert sorted(type(result).__name__ for result in results) == ["Conflict", "Finished"], results
        assert [result.code for result in results if isinstance(result, Conflict)] == ["seat_taken"]
        assert batch.tasks.filter(status="in_progress").count() == 1
