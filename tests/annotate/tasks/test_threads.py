from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import InternalError, transaction
from django.db.utils import IntegrityError
from django.http import Http404

from annotate.batches.steps import close_batch, delete_batch, pause_batch
from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, Task, Thread, ThreadMessage, User
from annotate.projects.trail_read import TrailFilter, trail
from annotate.projects.write import change_project, remove_member
from annotate.tasks import threads
from annotate.tasks.labelling import submit_task
from annotate.tasks.read import own_task
from annotate.tasks.task_queue import take_task
from annotate.tasks.threads_read import Threads, new_answers, one_thread, waiting_questions
from annotate.tasks.write import hand_on_tasks, reassign_tasks
from tests.annotate.factories import World, finish, label_all, make_sample, run_out
from tests.clients import as_user, client_of

WORDS = "Does “opens at nine” hold on Sundays?"


@pytest.fixture
def task(world: World) -> Task:
    make_sample(world.project)
    return world.batch(annotators=[world.ann, world.ben]).tasks.get(annotator=world.ann)


def ask(task: Task, text: Any = WORDS, **more: Any) -> Thread:
    given = {"actor": task.annotator, "task_id": task.pk, "text": text, "idempotency_key": uuid.uuid4(), **more}
    return threads.ask(**given)


def write(actor: User, thread: Thread, text: Any = "Yes, daily.", **more: Any) -> Thread:
    given = {"text": text, "idempotency_key": uuid.uuid4(), **more}
    return threads.write(actor=actor, project=thread.project, thread_id=thread.pk, **given)


def texts(thread: Thread, reader: User) -> list[tuple[str, str]]:
    return [(one.by, one.text) for one in one_thread(thread.project, thread.pk, reader=reader).messages]


def test_a_question_is_answered_and_read(world: World, task: Task) -> None:
    thread = ask(task, f"  {WORDS} ", unit="claim:0", criterion="support")
    assert (thread.unit, thread.criterion, thread.state) == ("claim:0", world.criteria("support")[0], "waiting")
    assert texts(thread, world.rita) == [("annotator", WORDS)]
    assert waiting_questions(world.rita, [world.project]) == {world.project.pk: 1}
    assert new_answers(world.ann, [world.project]) == {}

    assert write(world.rita, thread).state == "answered"
    assert texts(thread, world.ann) == [("you", WORDS), ("reviewer", "Yes, daily.")]
    assert waiting_questions(world.rita, [world.project]) == {}
    assert new_answers(world.ann, [world.project]) == {world.project.pk: 1}

    threads.mark_read(actor=world.ann, project=world.project, thread_id=thread.pk, number=2)
    assert new_answers(world.ann, [world.project]) == {}
    assert write(world.ann, thread, "Thank you.").state == "waiting"
    actions = AuditEntry.objects.filter(action__startswith="thread.").order_by("pk")
    assert [(one.action, one.actor, one.subject, one.details["message"]) for one in actions] == [
        ("thread.asked", world.ann, "s1", WORDS),
        ("thread.answered", world.rita, "s1", "Yes, daily."),
        ("thread.asked", world.ann, "s1", "Thank you."),
    ]


def test_an_answer_that_came_meanwhile_stays_unread(world: World, task: Task) -> None:
    thread = ask(task)
    write(world.rita, thread)
    write(world.rita, thread, "And on holidays.")
    threads.mark_read(actor=world.ann, project=world.project, thread_id=thread.pk, number=2)
    assert new_answers(world.ann, [world.project]) == {world.project.pk: 1}
    threads.mark_read(actor=world.ann, project=world.project, thread_id=thread.pk, number=3)
    threads.mark_read(actor=world.ann, project=world.project, thread_id=thread.pk, number=1)
    assert new_answers(world.ann, [world.project]) == {}
    with pytest.raises(Invalid, match="no message"):
        threads.mark_read(actor=world.ann, project=world.project, thread_id=thread.pk, number=4)


def test_a_request_that_comes_twice_writes_one_message(world: World, task: Task) -> None:
    key = uuid.uuid4()
    thread = ask(task, idempotency_key=key)
    assert ask(task, idempotency_key=key) == thread
    again = uuid.uuid4()
    for _ in range(2):
        write(world.rita, thread, idempotency_key=again)
    assert ThreadMessage.objects.count() == 2
    assert AuditEntry.objects.filter(action="thread.answered").count() == 1
    for other in ("Other words.", WORDS):
        with pytest.raises(Invalid) as refused:
            write(world.ann, thread, other, idempotency_key=again)
        assert refused.value.code == "key_reused"
    with pytest.raises(Invalid) as refused:
        ask(task, "Yes, daily.", idempotency_key=key)
    assert refused.value.code == "key_reused"
    # The reply comes although the task was submitted since.
    finish(task)
    assert ask(task, idempotency_key=key) == thread


def test_closed_and_reopened(world: World, task: Task) -> None:
    thread = ask(task)
    of = {"project": world.project, "thread_id": thread.pk}
    for _ in range(2):
        assert threads.close(actor=world.rita, **of).state == "closed"
    with pytest.raises(Conflict, match="closed"):
        write(world.ann, thread)
    for _ in range(2):
        assert threads.reopen(actor=world.ann, **of).state == "waiting"
    write(world.rita, thread)
    threads.close(actor=world.ann, **of)
    assert threads.reopen(actor=world.rita, **of).state == "answered"
    noted = AuditEntry.objects.filter(action__in=["thread.closed", "thread.reopened"]).order_by("pk")
    assert [(one.action, one.actor) for one in noted] == [
        ("thread.closed", world.rita), ("thread.reopened", world.ann), ("thread.closed", world.ann),
        ("thread.reopened", world.rita),
    ]  # fmt: skip


def test_only_the_annotator_and_those_who_answer_find_it(world: World, task: Task) -> None:
    thread = ask(task)
    own_of_ben = task.batch.tasks.get(annotator=world.ben)
    for stranger in (world.ben, world.chen, world.charlie):
        with pytest.raises(Http404):
            one_thread(world.project, thread.pk, reader=stranger)
        with pytest.raises(Http404):
            write(stranger, thread)
        with pytest.raises(Http404):
            threads.close(actor=stranger, project=world.project, thread_id=thread.pk)
        with pytest.raises(Http404):
            threads.mark_read(actor=stranger, project=world.project, thread_id=thread.pk, number=1)
        with pytest.raises(Http404):
            ask(task, actor=stranger)
        assert Threads(world.project, reader=stranger, of=stranger)[:] == []
    with pytest.raises(Http404):
        threads.write(
            actor=world.dora, project=world.other, thread_id=thread.pk, text="Hm.", idempotency_key=uuid.uuid4()
        )
    assert own_task(user=world.ben, task_id=own_of_ben.pk)["threads"] == []
    (mine,) = own_task(user=world.ann, task_id=task.pk)["threads"]
    assert (mine["id"], mine["state"], mine["is_new"]) == (thread.pk, "waiting", False)
    assert [(one["by"], one["text"], one["name"]) for one in mine["messages"]] == [("you", WORDS, None)]


def test_who_has_the_sample_to_label_reads_no_word_of_others(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(annotators=[world.ann, world.rita])
    thread = ask(batch.tasks.get(annotator=world.ann), unit="claim:1", criterion="support")
    (shown,) = Threads(world.project, reader=world.rita)[:]
    assert (shown.held_back, shown.messages) == (True, [])
    # Nor what the annotator is unsure of.
    assert (shown.unit, shown.criterion) == ("", None)
    (listed,) = client_of(world.rita).get("/api/projects/desk/threads/").json()["results"]
    assert (listed["unit"], listed["criterion"], listed["held_back"]) == ("", None, True)
    for url in ("/p/desk/questions/", f"/p/desk/questions/{thread.pk}/"):
        page = as_user(world.rita).get(url).content.decode()
        assert "Hidden until you have submitted this sample." in page
        for hidden in ("Claim 2", "support", "It opens"):
            assert hidden not in page.split("<article", 1)[1].split("</article>")[0].replace(thread.sample.question, "")
    assert waiting_questions(world.rita, [world.project]) == {}
    with pytest.raises(Conflict) as refused:
        write(world.rita, thread)
    assert refused.value.code == "still_to_label"
    rows = trail(project=world.project, reader=world.rita, asked=TrailFilter(kind="thread")).rows
    assert [(row.details["message"], row.details["unit"], "held_back" in row.details) for row in rows] == [
        ("", "", True)
    ]
    finish(batch.tasks.get(annotator=world.rita))
    (shown,) = Threads(world.project, reader=world.rita)[:]
    assert (shown.unit, shown.criterion) == ("claim:1", thread.criterion)
    assert texts(thread, world.rita) == [("annotator", WORDS)]
    assert thread.sample == sample


def test_those_about_a_unit_are_found_however_many_came_since(world: World, task: Task) -> None:
    about = {"sample": task.sample, "unit": "claim:0"}
    first = ask(task, unit="claim:0", criterion="support")
    whole = ask(task)
    for _ in range(3):
        ask(task, unit="claim:1", criterion="support")
    found = Threads(world.project, reader=world.rita, **about)[:2]
    assert [shown.thread for shown in found] == [whole, first]


def test_names_are_told_where_the_project_shows_them(world: World, task: Task) -> None:
    thread = ask(task)
    write(world.rita, thread)

    def names(reader: User) -> tuple[User | None, list[str | None]]:
        shown = one_thread(world.project, thread.pk, reader=reader)
        return shown.asked_by, [one.name for one in shown.messages]

    def in_task() -> list[str | None]:
        return [one["name"] for one in own_task(user=world.ann, task_id=task.pk)["threads"][0]["messages"]]

    assert names(world.rita) == (None, [None, None])
    assert names(world.alice) == (world.ann, ["ann", "rita"])
    assert names(world.ann) == (world.ann, [None, None])
    assert in_task() == [None, None]
    change_project(actor=world.alice, project=world.project, name="Desk", guidelines="", show_names=True)
    world.project.refresh_from_db()
    assert names(world.rita) == (world.ann, ["ann", None])
    assert names(world.ann) == (world.ann, [None, "rita"])
    assert in_task() == [None, "rita"]


def test_neither_task_nor_batch_is_told_to_those_who_answer(world: World, task: Task) -> None:
    """They would tell that the answers of the sample are known."""
    ask(task)
    (shown,) = Threads(world.project, reader=world.rita)[:]
    assert shown.task_id is None
    assert Threads(world.project, reader=world.ann, of=world.ann)[0:1][0].task_id == task.pk


@pytest.mark.parametrize("words", ["", "  ", None, 3, "a\x00", "\ud800", "r" * 2_001])
def test_both_take_words(world: World, task: Task, words: Any) -> None:
    thread = ask(task)
    for refused in (lambda: ask(task, words), lambda: write(world.rita, thread, words)):
        with pytest.raises(Invalid) as invalid:
            refused()
        assert invalid.value.code == "bad_message"


@pytest.mark.parametrize(
    ("unit", "criterion"), [("claim:0", ""), ("", "support"), ("claim:9", "support"), ("answer", "support"), ("x", "y")]
)
def test_it_is_about_something_that_is_asked(task: Task, unit: str, criterion: str) -> None:
    with pytest.raises(Invalid):
        ask(task, unit=unit, criterion=criterion)
    assert not Thread.objects.exists()


def test_there_is_an_end_to_questions(world: World, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MOST_THREADS", 2)
    monkeypatch.setattr(threads, "MOST_MESSAGES", 2)
    thread = ask(task)
    ask(task)
    with pytest.raises(Conflict) as refused:
        ask(task)
    assert refused.value.code == "too_many_threads"
    write(world.rita, thread)
    with pytest.raises(Conflict) as refused:
        write(world.ann, thread)
    assert refused.value.code == "thread_full"


def test_asked_while_the_task_is_open_and_answered_at_any_time(world: World, task: Task) -> None:
    thread = ask(task)
    pause_batch(batch=task.batch, actor=world.alice)
    with pytest.raises(Conflict, match="paused"):
        ask(task)
    write(world.rita, thread)
    task.batch.refresh_from_db()
    close_batch(batch=task.batch, actor=world.alice)
    write(world.ann, thread)
    remove_member(actor=world.alice, project=world.project, user=world.ann)
    with pytest.raises(Http404):
        one_thread(world.project, thread.pk, reader=world.charlie)


def test_a_task_with_a_question_is_never_another_annotators(world: World, task: Task) -> None:
    """Nothing was labelled, so the task itself would change hands."""
    thread = ask(task)
    (moved,) = reassign_tasks(actor=world.alice, project=world.project, task_ids=[task.pk], to=world.chen)
    assert moved.pk != task.pk
    assert own_task(user=world.chen, task_id=moved.pk)["threads"] == []
    assert texts(thread, world.ann) == [("you", WORDS)]


def test_nor_one_that_was_taken_from_a_queue_and_left(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(strategy="pull", overlap=1)
    taken = take_task(user=world.ann, project=world.project)
    assert taken is not None
    ask(batch.tasks.get(pk=taken["id"]))
    run_out(batch.tasks.get(pk=taken["id"]))
    others = take_task(user=world.ben, project=world.project)
    assert others is not None
    assert (others["id"] != taken["id"], others["threads"]) == (True, [])


def test_nor_when_all_tasks_of_a_person_are_handed_on(world: World, task: Task) -> None:
    ask(task)
    hand_on_tasks(actor=world.alice, project=world.project, user=world.ann, to=[world.chen])
    theirs = task.batch.tasks.get(annotator=world.chen)
    assert own_task(user=world.chen, task_id=theirs.pk)["threads"] == []


def test_a_batch_with_a_question_is_not_deleted(world: World, task: Task) -> None:
    ask(task)
    with pytest.raises(Conflict) as refused:
        delete_batch(batch=task.batch, actor=world.alice)
    assert refused.value.code == "has_threads"


def test_what_was_written_stays_as_it_is(world: World, task: Task) -> None:
    thread = ask(task)
    message = thread.messages.get()
    for change in (lambda: ThreadMessage.objects.update(text="Other."), message.delete):
        with pytest.raises((IntegrityError, InternalError)), transaction.atomic():
            change()


def test_a_reviewers_own_question_waits_for_another(world: World) -> None:
    make_sample(world.project)
    own = world.batch(annotators=[world.rita], overlap=1).tasks.get()
    thread = ask(own)
    assert write(world.rita, thread, "I mean Sundays.").state == "waiting"
    assert waiting_questions(world.rita, [world.project]) == {}
    assert waiting_questions(world.alice, [world.project]) == {world.project.pk: 1}
    assert write(world.alice, thread).state == "answered"
    label_all(own)
    submit_task(actor=world.rita, task_id=own.pk)
