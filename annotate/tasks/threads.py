"""Threads: an annotator asks the reviewers about a task of theirs, reviewers answer, and both may close and reopen it.

A message is never changed. What was asked and answered stands in the trail as well (annotate.core.trail).
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db import IntegrityError, transaction
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import require_unblind
from annotate.core.errors import Conflict, Invalid, key_reused
from annotate.core.permissions import may, no_such_task, role_of
from annotate.core.rows import first_or_raise
from annotate.core.texts import words_or_raise
from annotate.core.trail import note
from annotate.models import Project, Task, Thread, ThreadMessage, User
from annotate.models.thread import ThreadState
from annotate.tasks.label_changes import asked_criterion
from annotate.tasks.labelling import own_row, require_open

MAX_MESSAGE = 2_000  # characters
# The workspace gets all of a task's threads with the task.
MOST_THREADS = 20  # of one task
MOST_MESSAGES = 50  # of one thread


def ask(
    *, actor: User, task_id: int, text: Any, unit: str = "", criterion: str = "", idempotency_key: uuid.UUID
) -> Thread:
    """Asks about the actor's own open task: about a unit and what is asked of it, or the sample. Repeating it with its
    key changes nothing.

    Raises Http404 (not the actor's task), Conflict (task or batch not open; too many), Invalid (no such unit, no
    words).
    """
    words = _words(text)
    row = own_row(actor, task_id)
    key = asked_criterion(row, unit, criterion) if unit or criterion else None
    with transaction.atomic():
        # Locked, so that a key that comes twice at once is seen, and the task stays the actor's.
        tasks = Task.objects.select_for_update(of=("self",), no_key=True).select_related("batch__project", "sample")
        task = first_or_raise(tasks.filter(pk=task_id, annotator=actor), no_such_task(actor, task_id))
        before = _written_before(idempotency_key, actor, words)
        if before is not None:
            if (before.number, before.thread.task_id) != (1, task.pk):
                raise key_reused()
            return before.thread
        require_open(row)
        if task.threads.filter(asked_by=actor).count() >= MOST_THREADS:
            said = _("You can ask at most %(n)d questions about one sample.")
            raise Conflict("too_many_threads", said % {"n": MOST_THREADS})
        thread = Thread.objects.create(
            project=task.batch.project,
            sample=task.sample,
            task=task,
            asked_by=actor,
            unit=unit,
            criterion_id=key.id if key else None,
        )
        return _add(thread, actor, words, idempotency_key, action="thread.asked")


def write(*, actor: User, project: Project, thread_id: int, text: Any, idempotency_key: uuid.UUID) -> Thread:
    """Adds a message: the annotator's next one, or a reviewer's answer. Repeating it with its key changes nothing.

    Raises Http404 (neither the actor's nor a reviewer), Conflict (closed; full; the reviewer still has the sample to
    label), Invalid (no words).
    """
    words = _words(text)
    with transaction.atomic():
        thread = _locked(actor, project, thread_id)
        before = _written_before(idempotency_key, actor, words)
        if before is not None:
            if before.thread_id != thread.pk:
                raise key_reused()
            return thread
        if thread.state == ThreadState.CLOSED:
            raise Conflict("thread_closed", _("This question is closed. Reopen it first."))
        if thread.length >= MOST_MESSAGES:
            said = _("A question can have at most %(n)d messages. Ask a new one.")
            raise Conflict("thread_full", said % {"n": MOST_MESSAGES})
        action = "thread.asked" if actor.pk == thread.asked_by_id else "thread.answered"
        return _add(thread, actor, words, idempotency_key, action=action)


def close(*, actor: User, project: Project, thread_id: int) -> Thread:
    """Repeating it changes nothing."""
    with transaction.atomic():
        thread = _locked(actor, project, thread_id)
        if thread.state != ThreadState.CLOSED:
            _turn(thread, actor, ThreadState.CLOSED, "thread.closed")
    return thread


def reopen(*, actor: User, project: Project, thread_id: int) -> Thread:
    """It waits for an answer again, or is answered, as before it was closed. Repeating it changes nothing."""
    with transaction.atomic():
        thread = _locked(actor, project, thread_id)
        if thread.state == ThreadState.CLOSED:
            answered = thread.last_answer == thread.length
            _turn(thread, actor, ThreadState.ANSWERED if answered else ThreadState.WAITING, "thread.reopened")
    return thread


def mark_read(*, actor: User, project: Project, thread_id: int, number: int) -> None:
    """The annotator has seen the messages of their own thread up to this number. What came since stays unread."""
    own = Thread.objects.filter(pk=thread_id, project=project, asked_by=actor)
    if number > first_or_raise(own, _no_such_thread()).length:
        raise Invalid("bad_number", _("This question has no message with that number."))
    own.filter(read_to__lt=number).update(read_to=number)


def _locked(actor: User, project: Project, thread_id: int) -> Thread:
    threads = Thread.objects.select_for_update(of=("self",), no_key=True).select_related("sample", "criterion")
    thread = first_or_raise(threads.filter(pk=thread_id, project=project), _no_such_thread())
    if thread.asked_by_id != actor.pk:
        if not may(role_of(actor, project), "threads.answer"):
            raise _no_such_thread()
        require_unblind(actor, thread.sample)
    return thread


def _no_such_thread() -> Http404:
    return Http404(_("Question not found in this project."))


def _words(text: Any) -> str:
    said = _("Write 1 to %(most)s characters of plain text.") % {"most": MAX_MESSAGE}
    return words_or_raise(text, Invalid("bad_message", said), most=MAX_MESSAGE)


def _written_before(key: uuid.UUID, actor: User, words: str) -> ThreadMessage | None:
    """The message that this key wrote. Raises Invalid when it was another."""
    message = ThreadMessage.objects.select_related("thread").filter(idempotency_key=key).first()
    if message is not None and (message.author_id, message.text) != (actor.pk, words):
        raise key_reused()
    return message


def _add(thread: Thread, actor: User, words: str, key: uuid.UUID, *, action: str) -> Thread:
    thread.length += 1
    try:
        with transaction.atomic():
            ThreadMessage.objects.create(
                thread=thread, number=thread.length, author=actor, text=words, idempotency_key=key
            )
    except IntegrityError:
        # Used at this moment, for another thread: this one is locked.
        raise key_reused() from None
    if actor.pk == thread.asked_by_id:
        thread.read_to = thread.length
        state = ThreadState.WAITING
    else:
        thread.last_answer = thread.length
        state = ThreadState.ANSWERED
    _turn(thread, actor, state, action, message=words)
    return thread


def _turn(thread: Thread, actor: User, state: ThreadState, action: str, **details: str) -> None:
    thread.state = state
    thread.save(update_fields=["state", "length", "last_answer", "read_to"])
    note(
        actor=actor, action=action, subject=thread.sample.external_id, project=thread.project, thread=thread.pk,
        unit=thread.unit, **details,
    )  # fmt: skip
