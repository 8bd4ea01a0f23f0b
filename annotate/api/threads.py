"""Threads over the API: an annotator's question about a task, and what is answered."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from annotate.api import tasks_serializers as shapes
from annotate.api.base import OwnAPIView, ProjectAPIView, idempotency_key
from annotate.api.schema import IDEMPOTENCY_KEY, answers
from annotate.api.serializers import Nothing
from annotate.tasks.threads import ask, close, mark_read, reopen, write
from annotate.tasks.threads_read import ShownThread, Threads, one_thread


class TaskThreadsView(OwnAPIView):
    @answers(shapes.Thread, takes=shapes.Asking, headers=[IDEMPOTENCY_KEY], conflict=True)
    def post(self, request: Request, data: dict[str, Any], task_id: int) -> ShownThread:
        """Asks the reviewers about your own open task.

        About a unit and what is asked of it, or about the sample. Other annotators never see it. Repeating the request
        with its `Idempotency-Key` gives the same reply and writes nothing.
        """
        key = idempotency_key(request)
        thread = ask(actor=self.user, task_id=task_id, idempotency_key=key, **data)
        return one_thread(thread.project, thread.pk, reader=self.user)


class ThreadsView(ProjectAPIView):
    actions = {"GET": "threads.read"}

    @answers(shapes.ThreadPage, query=shapes.ThreadsAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> Threads:
        """What annotators asked, the latest first.

        Of a sample that you still have to label, the messages are left out. Which task a question is about is not told:
        its answers may be known.
        """
        return Threads(self.project, reader=self.user, state=asked.get("state") or "")


class ThreadMessagesView(ProjectAPIView):
    actions = {"POST": "threads.write"}

    @answers(shapes.Thread, takes=shapes.Message, headers=[IDEMPOTENCY_KEY], conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, thread_id: int) -> ShownThread:
        """Adds a message to your own thread, or answers an annotator's.

        Only reviewers and admins find threads of others. Repeating the request with its `Idempotency-Key` gives the
        same reply and writes nothing. Refused (409) while it is closed, and of a sample that you still have to label.
        """
        key = idempotency_key(request)
        write(actor=self.user, project=self.project, thread_id=thread_id, text=data["text"], idempotency_key=key)
        return one_thread(self.project, thread_id, reader=self.user)


class ThreadReadView(ProjectAPIView):
    actions = {"POST": "threads.write"}

    @answers(shapes.Thread, takes=shapes.ReadTo)
    def post(self, request: Request, data: dict[str, Any], slug: str, thread_id: int) -> ShownThread:
        """Says that you have seen the messages of your own thread up to this number.

        Repeating it changes nothing.
        """
        mark_read(actor=self.user, project=self.project, thread_id=thread_id, number=data["number"])
        return one_thread(self.project, thread_id, reader=self.user)


class ThreadCloseView(ProjectAPIView):
    actions = {"POST": "threads.write"}

    @answers(shapes.Thread, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, thread_id: int) -> ShownThread:
        """Closes your own thread, or as a reviewer any.

        Repeating it changes nothing. There is no body.
        """
        close(actor=self.user, project=self.project, thread_id=thread_id)
        return one_thread(self.project, thread_id, reader=self.user)


class ThreadReopenView(ProjectAPIView):
    actions = {"POST": "threads.write"}

    @answers(shapes.Thread, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, thread_id: int) -> ShownThread:
        """Opens a closed thread again.

        Repeating it changes nothing. There is no body.
        """
        reopen(actor=self.user, project=self.project, thread_id=thread_id)
        return one_thread(self.project, thread_id, reader=self.user)
