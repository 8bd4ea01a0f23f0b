"""What reviewers and admins do with other people's tasks."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import Http404
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.batches.steps import close_batch, extend_batch, pause_batch
from annotate.core.errors import Conflict, Invalid
from annotate.labels.read import counting_labels
from annotate.models import AuditEntry, Batch, Membership, Task, User, Verdict
from annotate.projects.write import set_member
from annotate.tasks.labelling import skip_task, submit_task
from annotate.tasks.read import next_task
from annotate.tasks.write import hand_on_tasks, reassign_tasks, release_task, return_task
from tests.annotate.factories import World, finish, label_all, make_sample, make_samples, must_take, say, take


def actions() -> list[str]:
    """What was noted of the services tested here."""
    noted = AuditEntry.objects.filter(action__regex=r"^(tasks?\.|batch\.extended)").order_by("id")
    return list(noted.values_list("action", flat=True))


def send_back(world: World, task: Task, message: str = "Look at the second claim.") -> Task:
    return return_task(actor=world.rita, project=world.project, task_id=task.pk, message=message)


def give(world: World, task: Task, to: User) -> Task:
    return reassign_tasks(actor=world.alice, project=world.project, task_ids=[task.pk], to=to)[0]


def hand_on(world: World, user: User, to: list[User] | None = None) -> int:
    return hand_on_tasks(actor=world.alice, project=world.project, user=user, to=to)


@pytest.fixture
def batch(world: World) -> Batch:
    """Four samples, each for one of Ann and Ben; Chen is no part of it."""
    make_samples(world.project, 4)
    return world.batch(annotators=[world.ann, world.ben], overlap=1)


def anns(batch: Batch) -> Task:
    tasks = batch.tasks.filter(annotator__username="ann").select_related("sample", "batch", "annotator")
    task = tasks.order_by("position").first()
    assert task is not None
    return task


# Returning


def test_returning_a_task(world: World, batch: Batch) -> None:
    task = anns(batch)
    finish(task)
    assert counting_labels().count() == 3
    returned = send_back(world, task)
    assert (returned.status, returned.return_message, returned.returned_by) == (
        "returned", "Look at the second claim.", world.rita
    )  # fmt: skip
    assert send_back(world, task).status == "returned"
    assert actions() == ["task.returned"], "a repeat changes nothing"
    assert counting_labels().count() == 0
    assert Verdict.objects.count() == 3, "verdicts stand until it comes back"
    say(world.ann, task, "claim:1", "support", "no", seen=1)
    submit_task(actor=world.ann, task_id=task.pk)
    task.refresh_from_db()
    assert (task.status, task.return_message, task.returned_by) == ("submitted", "", None)
    assert Verdict.objects.get(unit="claim:1").value == "no"


def test_a_skipped_task_can_be_returned(world: World, batch: Batch) -> None:
    task = anns(batch)
    skip_task(actor=world.ann, task_id=task.pk, reason="Hard.")
    assert send_back(world, task).status == "returned"


@pytest.mark.parametrize("message", ["", "  ", "x" * 10_001, "\x00"])
def test_a_return_needs_words(world: World, batch: Batch, message: str) -> None:
    task = anns(batch)
    finish(task)
    with pytest.raises(Invalid) as refused:
        send_back(world, task, message)
    assert refused.value.code == "no_message"


def test_what_can_not_be_returned(world: World, batch: Batch) -> None:
    task = anns(batch)
    with pytest.raises(Conflict, match="submitted or skipped"):
        send_back(world, task)
    with pytest.raises(Http404):
        return_task(actor=world.dora, project=world.other, task_id=task.pk, message="x")
    finish(task)
    Membership.objects.filter(user=world.ann).update(is_active=False)
    with pytest.raises(Conflict, match="no longer an active member"):
        send_back(world, task)
    Membership.objects.filter(user=world.ann).update(is_active=True)
    Task.objects.filter(pk=task.pk).update(purpose="gold")
    with pytest.raises(Conflict) as refused:
        send_back(world, task)
    assert refused.value.code == "task_measures"
    close_batch(batch=batch)
    with pytest.raises(Conflict, match="Reopen it first"):
        send_back(world, task)


def test_a_skip_of_the_queue_comes_back_only_while_its_copy_is_free(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(overlap=1, strategy="pull")
    task = must_take(world.ann, batch)
    skip_task(actor=world.ann, task_id=task.pk, reason="Hard.")
    send_back(world, task)
    assert batch.tasks.get() == task, "the copy that waited for another annotator is gone"
    skip_task(actor=world.ann, task_id=task.pk, reason="Hard.")
    must_take(world.ben, batch)
    with pytest.raises(Conflict) as refused:
        send_back(world, task)
    assert refused.value.code == "seat_taken"


# Reassigning


def test_an_untouched_task_moves(world: World, batch: Batch) -> None:
    task = anns(batch)
    moved = give(world, task, world.chen)
    assert (moved.pk, moved.annotator, moved.status) == (task.pk, world.chen, "pending")
    assert give(world, task, world.chen) == moved
    assert actions() == ["task.reassigned"]
    with pytest.raises(Http404):
        say(world.ann, task, "answer", "grade", 1)


def test_what_was_said_stays_with_who_said_it(world: World, batch: Batch) -> None:
    task = anns(batch)
    label_all(task, grade=1)
    moved = give(world, task, world.chen)
    task.refresh_from_db()
    assert (task.status, task.annotator, task.labels.count()) == ("released", world.ann, 3)
    assert (moved.pk != task.pk, moved.sample_id, moved.labels.count()) == (True, task.sample_id, 0)
    assert give(world, task, world.chen) == moved, "a repeat finds it done"
    with pytest.raises(Conflict, match="reassigned"):
        say(world.ann, task, "answer", "grade", 2, seen=1)
    with pytest.raises(Conflict, match="already has or had this sample"):
        give(world, moved, world.ann)
    finish(Task.objects.get(pk=moved.pk), grade=5)
    assert Verdict.objects.get(sample=task.sample, unit="answer").value == 5


def test_a_skipped_task_goes_to_another_annotator_once(world: World, batch: Batch) -> None:
    task = anns(batch)
    skip_task(actor=world.ann, task_id=task.pk, reason="Hard.")
    moved = give(world, task, world.chen)
    assert (moved.annotator, moved.status) == (world.chen, "pending")
    assert give(world, task, world.chen) == moved
    with pytest.raises(Conflict, match="enough annotators"):
        give(world, task, world.ben)


def test_to_whom_nothing_can_go(world: World, batch: Batch) -> None:
    task = anns(batch)
    with pytest.raises(Conflict, match="charlie is not an active member"):
        give(world, task, world.charlie)
    Task.objects.filter(pk=task.pk).update(tag="law")
    with pytest.raises(Conflict, match="expertise “law”"):
        give(world, task, world.chen)
    Membership.objects.filter(user=world.chen).update(tags=["law"])
    assert give(world, task, world.chen).annotator == world.chen
    done = anns(batch)
    finish(done)
    with pytest.raises(Conflict, match="Only unfinished tasks"):
        give(world, done, world.chen)


def test_several_at_once_all_or_none(world: World, batch: Batch) -> None:
    tasks = list(batch.tasks.filter(annotator=world.ann))
    with CaptureQueriesContext(connection) as asked:
        moved = reassign_tasks(
            actor=world.alice, project=world.project, task_ids=[task.pk for task in tasks], to=world.chen
        )
    places = [query for query in asked if "annotate_batch_annotators" in query["sql"] and "FOR UPDATE" in query["sql"]]
    assert len(places) == 1 + len(tasks) > 2, "the batch's places once, not once for each task, and then for each task"
    assert {task.annotator for task in moved} == {world.chen}
    first, second = batch.tasks.filter(annotator=world.ben).select_related("sample", "batch", "annotator")
    finish(second)
    with pytest.raises(Conflict):
        reassign_tasks(actor=world.alice, project=world.project, task_ids=[first.pk, second.pk], to=world.chen)
    first.refresh_from_db()
    assert first.annotator == world.ben


def test_a_free_task_can_be_given_to_an_annotator(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(overlap=1, strategy="pull")
    give(world, batch.tasks.get(), world.ann)
    assert take(world.ben, batch) is None
    task = must_take(world.ann, batch)
    assert task.lease_expires_at is None, "it is meant for her"


# Handing on


def test_everything_of_a_person_goes_to_the_others_evenly(world: World) -> None:
    make_samples(world.project, 12)
    batch = world.batch(overlap=1)
    mine = list(batch.tasks.filter(annotator=world.ann).select_related("sample", "batch", "annotator"))
    finish(mine[0])
    say(world.ann, mine[1], "answer", "grade", 1)
    assert hand_on(world, world.ann) == 3
    assert hand_on(world, world.ann) == 0
    assert actions() == ["tasks.handed_on"]
    left = Counter(batch.tasks.exclude(status="released").values_list("annotator__username", flat=True))
    assert left == {"ann": 1, "ben": 6 - left["chen"] + 5, "chen": left["chen"]}
    assert abs(left["ben"] - left["chen"]) <= 1
    assert batch.tasks.filter(annotator=world.ann, status="released").count() == 1
    live = batch.tasks.exclude(status="released").values_list("sample_id", flat=True)
    assert sorted(live) == sorted(set(live))


def test_to_named_people_or_not_at_all(world: World, batch: Batch) -> None:
    hand_on(world, world.ann, [world.chen])
    assert batch.tasks.filter(annotator=world.chen).count() == 2
    with pytest.raises(Conflict, match="charlie can’t take these tasks"):
        hand_on(world, world.ben, [world.charlie])
    Task.objects.filter(annotator=world.ben).update(tag="law")
    with pytest.raises(Conflict, match="2 tasks can’t be reassigned"):
        hand_on(world, world.ben, [world.chen])
    assert batch.tasks.filter(annotator=world.ben).count() == 2


def test_back_to_the_queue(world: World) -> None:
    make_samples(world.project, 3)
    batch = world.batch(overlap=1, strategy="pull")
    finish(must_take(world.ben, batch))
    said = must_take(world.ann, batch)
    say(world.ann, said, "answer", "grade", 1)
    untouched = must_take(world.ann, batch, said)
    assert hand_on(world, world.ann) == 2
    said.refresh_from_db()
    untouched.refresh_from_db()
    assert (said.status, untouched.status, untouched.annotator) == ("released", "pending", None)
    met = set()
    while (task := take(world.ben, batch)) is not None:
        met.add(task.sample_id)
        finish(task)
    assert met == {said.sample_id, untouched.sample_id}, "past his place in the queue"


@pytest.mark.parametrize("strategy", ["balanced", "pull"])
def test_a_task_that_no_other_annotator_can_do_is_not_waited_for(world: World, strategy: str) -> None:
    make_sample(world.project)
    batch = world.batch(overlap=3, strategy=strategy)
    for person in (world.ann, world.ben):
        finish(must_take(person, batch), grade=5)
    task = must_take(world.chen, batch)
    assert not Verdict.objects.exists()
    assert hand_on(world, world.chen) == 1
    task.refresh_from_db()
    assert task.status == "released"
    assert not batch.tasks.filter(annotator=None).exists()
    assert len(Verdict.objects.get(unit="answer").votes) == 2
    assert AuditEntry.objects.latest("id").details["given_up"] == 1


def test_paused_batches_too_and_closed_ones_not(world: World, batch: Batch) -> None:
    pause_batch(actor=world.alice, batch=batch)
    assert hand_on(world, world.ann) == 2
    close_batch(batch=batch)
    assert hand_on(world, world.ben) == 0


def test_releasing_one(world: World, batch: Batch) -> None:
    task = anns(batch)
    assert release_task(actor=world.alice, project=world.project, task_id=task.pk) is True
    task.refresh_from_db()
    assert task.annotator == world.ben
    assert release_task(actor=world.alice, project=world.project, task_id=task.pk, to=[world.chen]) is True
    with pytest.raises(Http404):
        release_task(actor=world.dora, project=world.other, task_id=task.pk)
    # From whom it was taken, not to whom it went.
    noted = AuditEntry.objects.filter(action="task.released").order_by("id")
    assert [entry.details["of"] for entry in noted] == ["ann", "ben"]


def test_releasing_one_of_a_queue(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(overlap=1, strategy="pull")
    task = must_take(world.ann, batch)
    assert release_task(actor=world.alice, project=world.project, task_id=task.pk) is True
    assert batch.tasks.get().annotator is None
    assert AuditEntry.objects.get(action="task.released").details["of"] == "ann"


# Extending


def extend(world: World, batch: Batch, **more: Any) -> Batch:
    return extend_batch(actor=world.alice, batch=batch, **more)


@pytest.mark.parametrize("strategy", ["balanced", "pull"])
def test_more_samples(world: World, strategy: str) -> None:
    make_samples(world.project, 4)
    batch = world.batch(overlap=2, strategy=strategy)
    for number in range(5, 9):
        make_sample(world.project, number)
    for _twice in range(2):
        batch = extend(world, batch, selection={"method": "all"})
    every = {"method": "all", "came": "drawn"}
    assert batch.selection == {**every, "extensions": [every]}
    assert actions() == ["batch.extended"]
    assert batch.batch_samples.count() == 8
    assert set(Counter(batch.tasks.values_list("sample_id", flat=True)).values()) == {2}
    if strategy == "balanced":
        loads = Counter(batch.tasks.values_list("annotator_id", flat=True))
        assert max(loads.values()) - min(loads.values()) <= 1
    else:
        assert not batch.tasks.filter(annotator__isnull=False).exists()


def test_more_annotators_take_over_tasks_not_begun(world: World) -> None:
    make_samples(world.project, 12)
    batch = world.batch(annotators=[world.ann], overlap=1)
    begun = anns(batch)
    say(world.ann, begun, "answer", "grade", 1)
    for _twice in range(2):
        extend(world, batch, annotators=[world.ben, world.ann])
    loads = Counter(batch.tasks.values_list("annotator__username", flat=True))
    assert loads == {"ann": 6, "ben": 6}
    begun.refresh_from_db()
    assert begun.annotator == world.ann
    assert batch.tasks.count() == 12
    for person in (world.ann, world.ben):
        places = list(batch.tasks.filter(annotator=person).order_by("position").values_list("position", flat=True))
        assert [place - places[0] for place in places] == list(range(6))
    assert actions() == ["batch.extended"]


def test_more_people_for_a_queue(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann], overlap=1, strategy="pull")
    assert take(world.ben, batch) is None
    extend(world, batch, annotators=[world.ben])
    assert take(world.ben, batch) is not None
    with pytest.raises(Invalid, match="charlie is not an active member"):
        extend(world, batch, annotators=[world.charlie])


def test_a_later_date(world: World, batch: Batch) -> None:
    today = timezone.localdate()
    batch = extend(world, batch, due_date=today + timedelta(days=9))
    assert batch.due_date == today + timedelta(days=9)
    for earlier in (today + timedelta(days=8), today - timedelta(days=1)):
        with pytest.raises(Invalid):
            extend(world, batch, due_date=earlier)
    close_batch(batch=batch)
    with pytest.raises(Conflict):
        extend(world, batch, due_date=today + timedelta(days=10))


# Expertise and shares, when a balanced batch opens


def test_an_expertise_that_too_few_have(world: World) -> None:
    for number in range(1, 4):
        make_sample(world.project, number, metadata={"topic": "law"} if number > 1 else {})
    Membership.objects.filter(user=world.ann).update(tags=["law"])
    with pytest.raises(Conflict) as refused:
        world.batch(overlap=2, tag_key="topic")
    assert refused.value.code == "too_few_with_tag"
    assert "2 samples need 2 annotators with the expertise “law”, but only 1" in refused.value.message
    Membership.objects.filter(user=world.ben).update(tags=["law", "tax"])
    batch = world.batch(overlap=2, tag_key="topic")
    assert not batch.tasks.filter(tag="law", annotator=world.chen).exists()


def test_loads_are_equal_within_what_expertise_allows(world: World) -> None:
    for number in range(1, 31):
        make_sample(world.project, number, metadata={"topic": "law"} if number % 3 == 0 else {})
    Membership.objects.filter(user=world.ann).update(tags=["law"])
    batch = world.batch(overlap=1, tag_key="topic")
    loads = Counter(batch.tasks.values_list("annotator__username", flat=True))
    assert loads == {"ann": 10, "ben": 10, "chen": 10}
    assert set(batch.tasks.filter(annotator=world.ann).values_list("tag", flat=True)) == {"law"}


@pytest.mark.parametrize(
    ("metadata", "key", "code"),
    [({"topic": ["law"]}, "topic", "bad_tag"), ({"topic": {}}, "topic", "bad_tag"), ({}, "topic", "no_tagged_sample"),
     ({"topic": None}, "topic", "no_tagged_sample"), ({}, 5, "bad_tag_key"), ({}, "\x00", "bad_tag_key")],
)  # fmt: skip
def test_a_tag_key_that_makes_no_sense(world: World, metadata: dict[str, Any], key: Any, code: str) -> None:
    make_sample(world.project, 1, metadata=metadata)
    with pytest.raises(Invalid) as refused:
        world.batch(tag_key=key)
    assert refused.value.code == code


def test_a_share_is_labelled_twice(world: World) -> None:
    make_samples(world.project, 50)
    batch = world.batch(overlap=2, overlap_share=0.2, seed=4)
    by_sample = Counter(batch.tasks.values_list("sample_id", flat=True))
    assert Counter(by_sample.values()) == {1: 40, 2: 10}
    twice = {sample for sample, count in by_sample.items() if count == 2}
    assert twice == set(batch.batch_samples.filter(overlap=2).values_list("sample_id", flat=True))
    loads = Counter(batch.tasks.values_list("annotator_id", flat=True))
    assert max(loads.values()) - min(loads.values()) <= 1
    again = world.batch(overlap=2, overlap_share=0.2, seed=4)
    assert twice == set(again.batch_samples.filter(overlap=2).values_list("sample_id", flat=True))
    task = must_take(world.ann, batch)
    finish(task)
    assert Verdict.objects.filter(sample=task.sample).exists() == (task.sample_id not in twice)


@pytest.mark.parametrize(
    ("given", "code"),
    [({"strategy": "best"}, "bad_strategy"), ({"overlap_share": 1.1}, "bad_share"), ({"gold_share": -0.1}, "bad_share"),
     ({"repeat_share": True}, "bad_share"), ({"gold_feedback": 1}, "bad_flag"), ({"lease_minutes": 0}, "bad_lease"),
     ({"lease_minutes": 1441}, "bad_lease"), ({"consensus": None}, "bad_consensus"),
     *(({"consensus": "threshold", "settle_share": share, "settle_votes": 2}, "bad_settle_share")
       for share in (None, 0.5, 1.01, 80, "0.8", True, float("nan"))),
     *(({"consensus": "threshold", "settle_share": 0.8, "settle_votes": votes}, "bad_settle_votes")
       for votes in (None, 0, 1001, 1.5, "2", True)),
     ({"settle_share": 0.8}, "threshold_of_other_rule"),
     ({"consensus": "unanimous", "settle_votes": 2}, "threshold_of_other_rule")],
)  # fmt: skip
def test_an_option_that_makes_no_sense(world: World, given: dict[str, Any], code: str) -> None:
    make_sample(world.project)
    with pytest.raises(Invalid) as refused:
        world.batch(opened=False, **given)
    assert refused.value.code == code


def test_a_second_member_of_the_project_never_sees_it(world: World, batch: Batch) -> None:
    set_member(project=world.project, user=world.charlie, role="annotator")
    assert take(world.charlie, batch) is None


def test_a_task_carries_what_the_workspace_needs_and_nothing_else(world: World) -> None:
    sample = make_sample(
        world.project,
        metadata={"model": "secret-model"},
        contexts=[{"id": "a", "text": "t", "score": 0.123, "judge": "x"}, {"text": "no id"}],
        claims=[{"text": "c", "start": 0, "end": 1, "verdict": "x"}],
        pipeline_version="secret-pipeline",
    )
    batch = world.batch(criteria=("relevance", "grade"), annotators=[world.ann], overlap=1)
    say(world.ann, batch.tasks.get(), "answer", "grade", 4, comment="mine")
    task = next_task(user=world.ann, project=world.project)
    assert task is not None
    assert task["sample"] == {
        "question": sample.question,
        "answer": sample.answer,
        "answer_b": None,
        "reference": None,
        "abstained": False,
        "contexts": [{"id": "a", "text": "t"}, {"id": None, "text": "no id"}],
        "claims": [{"index": 0, "text": "c", "start": 0, "end": 1}],
        "key_facts": [],
        "entities": [],
    }
    assert [criterion["key"] for criterion in task["criteria"]] == ["relevance", "grade"]
    options = world.criteria("grade")[0].options
    assert [{k: v for k, v in o.items() if k != "meaning"} for o in task["criteria"][1]["options"]] == options
    assert task["labels"] == [
        {
            "unit": "answer",
            "criterion": "grade",
            "value": 4,
            "cant_tell": "",
            "comment": "mine",
            "evidence": [],
            "active_ms": None,
            "revision": 1,
        }
    ]
    assert task["batch"] == {"number": 1, "name": "A batch", "due_date": None}
