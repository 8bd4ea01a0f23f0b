"""Running a campaign: other people's tasks.

The workspace's endpoints: one's own tasks, nothing else.

Flags: an annotator reports a sample, an admin resolves it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import campaign_shapes as shapes
from annotate.api import schema as shape
from annotate.api.base import (
    Pages,
    ProjectAPIView,
    StrictAPIView,
    body,
    expected_revision,
    idempotency_key,
    text_parameter,
)
from annotate.api.batches import people_named
from annotate.api.serializers import whole_number
from annotate.core.errors import Invalid, Refusal
from annotate.core.permissions import may
from annotate.labels.gold_read import feedback_after
from annotate.models import User
from annotate.projects.read import one_batch, person_of
from annotate.samples.flags import raise_flag, resolve_flag
from annotate.samples.read import flag_as_dict, flags_of
from annotate.tasks.labelling import Finished, LabelInput, keep_task, known_task_ids, save_label, skip_task, submit_task
from annotate.tasks.read import own_task, task_as_dict, tasks_of
from annotate.tasks.task_queue import take_following, take_task
from annotate.tasks.task_queue_read import next_task, work_progress
from annotate.tasks.write import hand_on_tasks, reassign_tasks, release_task, reopen_task, return_task


class BatchTasksView(ProjectAPIView):
    actions = {"GET": "batches.read"}
    params = Pages.params | {"status", "annotator"}

    @shape.describes(
        shapes.TaskPage,
        params=[
            *shape.PAGE,
            OpenApiParameter("status", description="Only tasks in this state."),
            OpenApiParameter("annotator", description="Only those of the person with this user name."),
        ],
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The tasks of a batch: whose they are, and how far.

        Sorted by sample. Tasks that measure their annotator are listed for admins only.
        """
        tasks = tasks_of(
            one_batch(self.project, number),
            measuring=may(self.role, "gold.read"),
            status=text_parameter(request, "status"),
            username=text_parameter(request, "annotator"),
        )
        pages = Pages()
        rows = pages.paginate_queryset(tasks, request)
        return pages.get_paginated_response([task_as_dict(task) for task in rows or []])


class ReassignView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @shape.describes(shapes.Reassigned, request=shapes.Reassigning, conflict=True)
    def post(self, request: Request, slug: str) -> Response:
        """Gives tasks that are open, free, or were skipped to another member.

        All of them or none. Where something was said, the task stays its annotator's, marked as handed on, and the
        other member gets a new one. Refused (409) for somebody who has, or had, the sample in this batch.
        """
        data = body(request, {"tasks", "to"}, required={"tasks", "to"})
        to = people_named([data["to"]], "to")[0]
        moved = reassign_tasks(actor=self.user, project=self.project, task_ids=_ids(data["tasks"]), to=to)
        return Response({"tasks": [task_as_dict(task) for task in moved]})


class ReturnView(ProjectAPIView):
    actions = {"POST": "tasks.return"}

    @shape.describes(shapes.TaskListed, request=shapes.Returning, conflict=True)
    def post(self, request: Request, slug: str, task_id: int) -> Response:
        """Sends a submitted or skipped task back to its annotator, with a message.

        Its labels count for nothing until it is submitted again; verdicts stand until then. Repeating it changes
        nothing.
        """
        data = body(request, {"message"}, required={"message"})
        task = return_task(actor=self.user, project=self.project, task_id=task_id, message=data["message"])
        return Response(task_as_dict(task))


class ReleaseView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @shape.describes(shapes.Released, request=shapes.HandingOn, conflict=True)
    def post(self, request: Request, slug: str, task_id: int) -> Response:
        """Takes an open task from its annotator.

        It goes back to the queue, or to whoever of the batch (or of `to`) has least to do.
        """
        to = _to(body(request, {"to"}))
        handed_on = release_task(actor=self.user, project=self.project, task_id=task_id, to=to)
        return Response({"task_id": task_id, "handed_on": handed_on})


class HandOnView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @shape.describes(shapes.HandedOn, request=shapes.HandingOn, conflict=True)
    def post(self, request: Request, slug: str, username: str) -> Response:
        """Takes all open tasks from a person.

        They go to the people in `to`, evenly; without it to those who label the batch with them, or to its queue. What
        nobody else can take is not done. Repeating it changes nothing.
        """
        data = body(request, {"to"})
        user = person_of(self.project, username)
        to = _to(data)
        tasks = hand_on_tasks(actor=self.user, project=self.project, user=user, to=to)
        return Response({"username": username, "tasks": tasks})


def _to(data: dict[str, Any]) -> list[User] | None:
    return people_named(data["to"], "to") if data.get("to") is not None else None


def _ids(values: Any) -> list[int]:
    if not isinstance(values, list) or any(isinstance(one, bool) or not isinstance(one, int) for one in values):
        raise Invalid("bad_tasks", _("tasks: a list of the tasks' numbers."))
    return values


class WorkView(ProjectAPIView):
    actions = {"GET": "work.label", "POST": "work.label"}
    params = frozenset({"batch", "exclude"})

    @shape.describes(
        shape.Work,
        params=[
            OpenApiParameter("batch", int, description="Only tasks of the batch with this number."),
            OpenApiParameter("exclude", str, description="Numbers of tasks, separated by commas; at most 50."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Your next open task, and how much of your work is done.

        Only looks: of a pull queue it shows what you have taken. `task` is null when nothing is left. Name the tasks
        that you hold already in `exclude`, so that the one after them comes. Another person's labels and judges' scores
        are never part of it.
        """
        batch = request.query_params.get("batch")
        number = whole_number(batch, "batch", low=1) if batch else None
        exclude = [whole_number(part, "exclude") for part in request.query_params.get("exclude", "").split(",") if part]
        held = known_task_ids(exclude)
        task = next_task(user=self.user, project=self.project, batch_number=number, exclude=held)
        return self._work(task, number)

    @shape.describes(shape.Work, request=shape.WorkAsking, conflict=True)
    def post(self, request: Request, slug: str) -> Response:
        """Asks for your next task, and takes one from a queue when you hold none.

        As GET otherwise. What you took is yours while its lease holds (`leased`): saving renews it, and so does the
        heartbeat. Asking again gives the same task until it is finished, or named in `exclude`.
        """
        data = body(request, {"batch", "exclude"})
        batch = data.get("batch")
        number = None if batch is None else whole_number(batch, "batch", low=1)
        held = known_task_ids(data.get("exclude", []))
        return self._work(take_task(user=self.user, project=self.project, batch_number=number, exclude=held), number)

    def _work(self, task: dict[str, Any] | None, number: int | None) -> Response:
        progress = work_progress(user=self.user, project=self.project, batch_number=number)
        return Response({"task": task, "progress": progress})


class TaskView(StrictAPIView):
    @shape.describes(shape.OneTask)
    def get(self, request: Request, task_id: int) -> Response:
        """One of your own tasks, with your labels.

        Anybody else's is not found.
        """
        return Response({"task": own_task(user=self.user, task_id=task_id)})


class TaskLabelsView(StrictAPIView):
    @shape.describes(shape.Label, request=shape.LabelSaving, params=[shape.IF_MATCH, shape.IDEMPOTENCY_KEY])
    def put(self, request: Request, task_id: int) -> Response:
        """Saves one label.

        It becomes the next revision; earlier ones stay in the log. `If-Match` carries the revision that you saw, and
        the reply's `ETag` the new one. With a revision that is not the present one nothing is stored and both versions
        come back (412). Repeating the request with its `Idempotency-Key` gives the same reply.
        """
        known = {"unit", "criterion", "value", "cant_tell", "comment", "evidence", "active_seconds", "active_ms"}
        data = body(request, known, required={"unit", "criterion", "value"})
        evidence = data.get("evidence", [])
        if not isinstance(evidence, list):
            raise Invalid("bad_evidence", "evidence: write a list of spans.")
        said = LabelInput(
            unit=data["unit"],
            criterion=data["criterion"],
            value=data["value"],
            comment=data.get("comment", ""),
            evidence=evidence,
            active_seconds=data.get("active_seconds"),
            cant_tell=data.get("cant_tell", ""),
            active_ms=data.get("active_ms"),
        )
        saved = save_label(
            actor=self.user,
            task_id=task_id,
            said=said,
            expected_revision=expected_revision(request),
            idempotency_key=idempotency_key(request),
        )
        return Response(saved, headers={"ETag": f'"{saved["revision"]}"'})


class TaskSubmitView(StrictAPIView):
    @shape.describes(shape.Finished, request=shape.Submission, conflict=True)
    def post(self, request: Request, task_id: int) -> Response:
        """Submits a complete task.

        Refused (422, with the list in `missing`) while a required label is missing. Repeating it changes nothing.
        `next` is the task to fetch in advance: the first open one of the same batch that is not in `exclude`, taken
        from its queue if need be.
        `feedback` holds known answers, where the batch shows them.
        """
        data = body(request, {"active_seconds", "exclude"})
        held = known_task_ids(data.get("exclude", []))
        task = submit_task(actor=self.user, task_id=task_id, active_seconds=data.get("active_seconds"))
        return Response(_finished(self.user, task, held))


class TaskSkipView(StrictAPIView):
    @shape.describes(shape.Finished, request=shape.Skipping, conflict=True)
    def post(self, request: Request, task_id: int) -> Response:
        """Sets a task aside, with a reason.

        Labels already given stay stored and count for nothing. Repeating it changes nothing. `next` as for submitting.
        """
        data = body(request, {"reason", "active_seconds", "exclude"}, required={"reason"})
        held = known_task_ids(data.get("exclude", []))
        task = skip_task(
            actor=self.user, task_id=task_id, reason=data["reason"], active_seconds=data.get("active_seconds")
        )
        return Response(_finished(self.user, task, held))


class TaskHeartbeatView(StrictAPIView):
    @shape.describes(shape.Lease, conflict=True)
    def post(self, request: Request, task_id: int) -> Response:
        """Says that you are still at a task.

        Renews its lease; send it every few minutes while the page is open. `lease_expires_at` is null for a task that
        nobody else can take. Refused (404, 409) when the task isn't yours, or isn't open, any more. There is no body.
        """
        body(request, set())
        return Response({"task_id": task_id, "lease_expires_at": keep_task(actor=self.user, task_id=task_id)})


class TaskReopenView(StrictAPIView):
    @shape.describes(shape.OneTask, conflict=True)
    def post(self, request: Request, task_id: int) -> Response:
        """Takes a submission back, to change an answer.

        A submitted or skipped task of an open batch is in progress again, with its labels as they were; they count
        again once it is submitted again. Repeating it changes nothing. There is no body.
        """
        body(request, set())
        reopen_task(actor=self.user, task_id=task_id)
        return Response({"task": own_task(user=self.user, task_id=task_id)})


def _finished(user: User, task: Finished, held: Collection[int]) -> dict[str, Any]:
    following = take_following(user=user, batch_id=task.batch_id, exclude=held)
    feedback = feedback_after(user=user, task_id=task.id) if task.answers_shown else []
    return {"task_id": task.id, "status": task.status, "next": following, "feedback": feedback}


STATES = {"waiting": False, "resolved": True}


class TaskFlagView(StrictAPIView):
    @shape.describes(shape.FlagRaised, request=shape.Flagging)
    def post(self, request: Request, task_id: int) -> Response:
        """Flags the sample of your task to the admin.

        The task stays as it is. The same words again, while nobody has resolved them, change nothing.
        """
        data = body(request, {"reason"}, required={"reason"})
        flag = raise_flag(actor=self.user, task_id=task_id, reason=data["reason"])
        return Response({"id": flag.pk, "reason": flag.reason, "created_at": flag.created_at})


class FlagsView(ProjectAPIView):
    actions = {"GET": "flags.read"}
    params = Pages.params | {"state"}

    @shape.describes(
        shape.FlagPage,
        params=[*shape.PAGE, OpenApiParameter("state", description="waiting (as is usual) or resolved.")],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The flags that wait, or those that were resolved.

        The latest first. `sample` is the number of the sample, `sample_id` the id of its file.
        """
        state = request.query_params.get("state", "waiting")
        if state not in STATES:
            raise Refusal("bad_state", "state: waiting or resolved.")
        pages = Pages()
        rows = pages.paginate_queryset(flags_of(self.project, resolved=STATES[state]), request)
        return pages.get_paginated_response([flag_as_dict(flag) for flag in rows or []])


class FlagResolveView(ProjectAPIView):
    actions = {"POST": "flags.resolve"}

    @shape.describes(shape.Flag, request=shape.FlagResolving, conflict=True)
    def post(self, request: Request, slug: str, flag_id: int) -> Response:
        """Resolves a flag, with a note of what was done.

        Repeating it changes nothing; other words for one that was resolved are refused (409).
        """
        data = body(request, {"resolution"}, required={"resolution"})
        flag = resolve_flag(actor=self.user, project=self.project, flag_id=flag_id, resolution=data["resolution"])
        return Response(flag_as_dict(flag))
