"""What two or more do at the same moment, of what has tests of its own otherwise. Labelling: `test_concurrency`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from django.db import connection
from django.http import Http404

from annotate.batches.criterion_change_read import Choices
from annotate.batches.relabelling import change_criterion
from annotate.batches.steps import delete_batch, open_batch
from annotate.core.errors import Conflict
from annotate.members.write import accept_invite
from annotate.models import Batch, Flag, Membership, User
from annotate.projects.accounts import change_preferences, preferences_of
from annotate.samples.flags import raise_flag
from tests.annotate.batches.test_relabelling import support, without
from tests.annotate.factories import World, concurrently, finish, make_sample, make_samples, make_world, say
from tests.annotate.members.test_invites import invite
from tests.annotate.verdicts.test_approving import agreed, approved, label_two_samples

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def test_deleting_while_an_annotator_begins_to_label(world: World) -> None:
    """Either the label is there and the batch too, or neither; and there is no server error."""
    make_sample(world.project)
    for _ in range(12):
        batch = world.batch(overlap=1, annotators=[world.ann])
        task = batch.tasks.get()
        said, deleted = concurrently(
            lambda task=task: say(world.ann, task, "answer", "grade", 3), lambda batch=batch: delete_batch(batch=batch)
        )
        if deleted is None:
            assert isinstance(said, Http404)
            assert not Batch.objects.filter(pk=batch.pk).exists()
        else:
            assert isinstance(deleted, Conflict)
            assert said["revision"] == 1
            assert task.labels.count() == 1


def test_opening_twice_at_once_opens_once(world: World) -> None:
    make_samples(world.project, 5)
    batch = world.batch(opened=False)
    results = concurrently(*[lambda: open_batch(batch=batch)] * 6)
    assert sum(isinstance(result, Batch) for result in results) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 5
    assert batch.tasks.count() == 10


def test_two_admins_at_once_make_one_version(world: World) -> None:
    make_samples(world.project, 2)
    for task in world.batch(criteria=["support"], annotators=[world.ann, world.ben]).tasks.all():
        finish(task, support="unsure")
    seen = support(world)

    def change() -> Any:
        return change_criterion(
            actor=world.alice, project=world.project, seen=seen, spec=without("unsure"), choices=Choices()
        )

    outcomes = concurrently(change, change, change)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Relabelled", "Stale", "Stale"]
    assert Batch.objects.filter(relabels=seen).count() == 1
    assert world.project.criteria.filter(key="support").count() == 2


def test_two_who_approve_a_verdict(world: World) -> None:
    label_two_samples(world)
    verdict = agreed(world)[0]

    def by(user: Any) -> Any:
        return lambda: approved(world, verdict, reviewer=user)

    results = concurrently(by(world.rita), by(world.alice))
    assert sorted(type(one).__name__ for one in results) == ["Stale", "Verdict"]
    assert verdict.events.count() == 2
    connection.close()


def test_the_same_flag_many_times_at_once(world: World) -> None:
    make_sample(world.project)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    flags = concurrently(*[lambda: raise_flag(actor=world.ann, task_id=task.pk, reason="Cut off.")] * 20)
    assert {flag.pk for flag in flags} == {Flag.objects.get().pk}


def test_no_more_people_come_in_than_it_is_for(world: World) -> None:
    people = [User.objects.create_user(f"p{n}") for n in range(12)]
    made, token = invite(world, max_uses=5)
    results = concurrently(*(lambda person=person: accept_invite(user=person, token=token) for person in people))
    joined = [result for result in results if isinstance(result, Membership)]
    assert len(joined) == 5
    assert {type(result) for result in results} == {Membership, Http404}
    made.refresh_from_db()
    assert made.uses == 5
    assert world.project.memberships.filter(user__in=people).count() == 5


def test_one_person_at_once_is_one_use(world: World) -> None:
    made, token = invite(world, max_uses=5)
    results = concurrently(*[lambda: accept_invite(user=world.charlie, token=token)] * 6)
    assert {type(result) for result in results} == {Membership}
    made.refresh_from_db()
    assert made.uses == 1


def test_two_changes_at_once_are_both_kept(world: World) -> None:
    concurrently(
        *[
            lambda changes=changes: change_preferences(user=world.ann, changes=changes)
            for changes in ({"view": "all"}, {"markers": True}, {"single_keys": False}, {"hotkeys": {"skip": "w"}})
        ]
    )
    assert asdict(preferences_of(User.objects.get(pk=world.ann.pk))) == {
        "hotkeys": {"skip": "w"}, "single_keys": False, "view": "all", "markers": True,
        "introduced": False,
    }  # fmt: skip
