"""Tasks over the API: other people's, to run a campaign with; one's own, for the workspace; and flags on samples."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import samples_serializers
from annotate.api import tasks_serializers as shapes
from annotate.api.base import OwnAPIView, ProjectAPIView, expected_revision, idempotency_key
from annotate.api.schema import IDEMPOTENCY_KEY, IF_MATCH, answers
from annotate.api.serializers import Nothing, whole_number
from annotate.core.bodies import SEVERAL_LABELS
from annotate.core.errors import Refusal
from annotate.core.permissions import may
from annotate.labels.gold_read import feedback_after
from annotate.models import Flag, Project, Task, User
from annotate.projects.read import one_batch, people_of, person_of
from annotate.samples.flags import raise_flag, resolve_flag
from annotate.samples.read import Flags
from annotate.tasks.label_changes import LabelChange, LabelInput
from annotate.tasks.labelling import (
    Finished,
    keep_task,
    known_task_ids,
    save_label,
    save_labels,
    skip_task,
    submit_task,
)
from annotate.tasks.read import ShownTasks, next_task, own_task, tasks_of, work_progress
from annotate.tasks.task_queue import take_following, take_task
from annotate.tasks.write import hand_on_tasks, reassign_tasks, release_task, reopen_task, return_task


class BatchTasksView(ProjectAPIView):
    actions = {"GET": "batches.read"}

    @answers(shapes.TaskPage, query=shapes.TasksAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str, number: int) -> ShownTasks:
        """The tasks of a batch: whose they are, and how far.

        Sorted by sample. Tasks that measure their annotator are listed for admins only. What others wrote of a sample
        that you still have to label is left out, and so is what a reviewer asked for, where names are hidden from you.
        """
        return tasks_of(
            one_batch(self.project, number),
            measuring=may(self.role, "gold.read"),
            status=asked.get("status", ""),
            username=asked.get("annotator", ""),
            reader=self.user,
        )


class ReassignView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @answers(shapes.Reassigned, takes=shapes.Reassigning, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> dict[str, Any]:
        """Gives tasks that are open, free, or were skipped to another member.

        All of them or none. Where something was said, the task stays its annotator's, marked as handed on, and the
        other member gets a new one. Refused (409) for somebody who has, or had, the sample in this batch.
        """
        (to,) = people_of(self.project, [data["to"]])
        return {"tasks": reassign_tasks(actor=self.user, project=self.project, task_ids=data["tasks"], to=to)}


class ReturnView(ProjectAPIView):
    actions = {"POST": "tasks.return"}

    @answers(shapes.TaskListed, takes=shapes.Returning, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, task_id: int) -> Task:
        """Sends a submitted or skipped task back to its annotator, with a message.

        Its labels count for nothing until it is submitted again; verdicts stand until then. Repeating it changes
        nothing.
        """
        return return_task(actor=self.user, project=self.project, task_id=task_id, message=data["message"])


class ReleaseView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @answers(shapes.Released, takes=shapes.HandingOn, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, task_id: int) -> dict[str, Any]:
        """Takes an open task from its annotator.

        It goes back to the queue, or to whoever of the batch (or of `to`) has least to do.
        """
        handed_on = release_task(actor=self.user, project=self.project, task_id=task_id, to=_to(self.project, data))
        return {"task_id": task_id, "handed_on": handed_on}


class HandOnView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @answers(shapes.HandedOn, takes=shapes.HandingOn, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, username: str) -> dict[str, Any]:
        """Takes all open tasks from a person.

        They go to the people in `to`, evenly; without it to those who label the batch with them, or to its queue. What
        nobody else can take is not done. Repeating it changes nothing.
        """
        user = person_of(self.project, username)
        tasks = hand_on_tasks(actor=self.user, project=self.project, user=user, to=_to(self.project, data))
        return {"username": username, "tasks": tasks}


def _to(project: Project, data: dict[str, Any]) -> list[User] | None:
    return people_of(project, data["to"]) if data.get("to") is not None else None


class WorkView(ProjectAPIView):
    actions = {"GET": "work.label", "POST": "work.label"}

    @answers(shapes.Work, query=shapes.WorkAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> dict[str, Any]:
        """Your next open task, and how much of your work is done.

        Only looks: of a pull queue it shows what you have taken. `task` is null when nothing is left. Name the tasks
        that you hold already in `exclude`, so that the one after them comes. Another person's labels and judges' scores
        are never part of it.
        """
        number = asked.get("batch")
        held = known_task_ids([whole_number(part, "exclude") for part in asked.get("exclude", "").split(",") if part])
        task = next_task(user=self.user, project=self.project, batch_number=number, exclude=held)
        return self._work(task, number)

    @answers(shapes.Work, takes=shapes.WorkAsking, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> dict[str, Any]:
        """Asks for your next task, and takes one from a queue when you hold none.

        As GET otherwise. What you took is yours while its lease holds (`leased`): saving renews it, and so does the
        heartbeat. Asking again gives the same task until it is finished, or named in `exclude`.
        """
        number = data.get("batch")
        held = known_task_ids(data.get("exclude", []))
        return self._work(take_task(user=self.user, project=self.project, batch_number=number, exclude=held), number)

    def _work(self, task: dict[str, Any] | None, number: int | None) -> dict[str, Any]:
        return {"task": task, "progress": work_progress(user=self.user, project=self.project, batch_number=number)}


class TaskView(OwnAPIView):
    @answers(shapes.OneTask)
    def get(self, request: Request, task_id: int) -> dict[str, Any]:
        """One of your own tasks, with your labels.

        Anybody else's is not found.
        """
        return {"task": own_task(user=self.user, task_id=task_id)}


class TaskLabelsView(OwnAPIView):
    body_bytes = SEVERAL_LABELS

    @answers(shapes.Label, takes=shapes.LabelSaving, headers=[IF_MATCH, IDEMPOTENCY_KEY])
    def put(self, request: Request, data: dict[str, Any], task_id: int) -> Response:
        """Saves one label.

        It becomes the next revision; earlier ones stay in the log. `If-Match` carries the revision that you saw, and
        the reply's `ETag` the new one. With a revision that is not the present one nothing is stored and both versions
        come back (412). Repeating the request with its `Idempotency-Key` gives the same reply.
        """
        saved = save_label(
            actor=self.user,
            task_id=task_id,
            said=LabelInput(**data),
            expected_revision=expected_revision(request),
            idempotency_key=idempotency_key(request),
        )
        return Response(shapes.Label.show(saved), headers={"ETag": f'"{saved["revision"]}"'})

    @answers(shapes.SavedLabels, takes=shapes.LabelsSaving)
    def post(self, request: Request, data: dict[str, Any], task_id: int) -> dict[str, Any]:
        """Saves several labels: all of them or none.

        Each with the `revision` that you saw and a `key` of its own, as the headers of one label have them. Repeating
        it changes nothing. Refused (422) with `problems`: what is wrong with which; `stale`: it was changed elsewhere.
        """
        return {"labels": save_labels(actor=self.user, task_id=task_id, changes=_changes(data["labels"]))}


def _changes(labels: list[dict[str, Any]]) -> list[LabelChange]:
    return [LabelChange(seen=said.pop("revision"), key=said.pop("key"), said=LabelInput(**said)) for said in labels]


class TaskSubmitView(OwnAPIView):
    body_bytes = SEVERAL_LABELS

    @answers(shapes.Finished, takes=shapes.Submission, conflict=True)
    def post(self, request: Request, data: dict[str, Any], task_id: int) -> dict[str, Any]:
        """Submits a complete task.

        Refused (422, with the list in `missing`) while a required label is missing. Repeating it changes nothing.
        `labels` that are not saved yet are saved with it, as several are (`POST …/labels/`), or all is refused.
        `next` is the task to fetch in advance: the first open one of the same batch that is not in `exclude`, taken
        from its queue if need be.
        `feedback` holds known answers, where the batch shows them.
        """
        held = known_task_ids(data.get("exclude", []))
        task = submit_task(
            actor=self.user,
            task_id=task_id,
            active_seconds=data.get("active_seconds"),
            changes=_changes(data.get("labels", [])),
        )
        return _finished(self.user, task, held)


class TaskSkipView(OwnAPIView):
    @answers(shapes.Finished, takes=shapes.Skipping, conflict=True)
    def post(self, request: Request, data: dict[str, Any], task_id: int) -> dict[str, Any]:
        """Sets a task aside, with a reason.

        Labels already given stay stored and count for nothing. Repeating it changes nothing. `next` as for submitting.
        """
        held = known_task_ids(data.get("exclude", []))
        task = skip_task(
            actor=self.user, task_id=task_id, reason=data["reason"], active_seconds=data.get("active_seconds")
        )
        return _finished(self.user, task, held)


class TaskHeartbeatView(OwnAPIView):
    @answers(shapes.Lease, takes=Nothing, conflict=True)
    def post(self, request: Request, task_id: int) -> dict[str, Any]:
        """Says that you are still at a task.

        Renews its lease; send it every few minutes while the page is open. `lease_expires_at` is null for a task that
        nobody else can take. Refused (404, 409) when the task isn't yours, or isn't open, any more. There is no body.
        """
        return {"task_id": task_id, "lease_expires_at": keep_task(actor=self.user, task_id=task_id)}


class TaskReopenView(OwnAPIView):
    @answers(shapes.OneTask, takes=Nothing, conflict=True)
    def post(self, request: Request, task_id: int) -> dict[str, Any]:
        """Takes a submission back, to change an answer.

        A submitted or skipped task of an open batch is in progress again, with its labels as they were; they count
        again once it is submitted again. Repeating it changes nothing. There is no body.
        """
        reopen_task(actor=self.user, task_id=task_id)
        return {"task": own_task(user=self.user, task_id=task_id)}


def _finished(user: User, task: Finished, held: Collection[int]) -> dict[str, Any]:
    following = take_following(user=user, batch_id=task.batch_id, exclude=held)
    feedback = feedback_after(reader=user, task_id=task.id) if task.answers_shown else []
    return {"task_id": task.id, "status": task.status, "next": following, "feedback": feedback}


STATES = {"waiting": False, "resolved": True}


class TaskFlagView(OwnAPIView):
    @answers(samples_serializers.FlagRaised, takes=samples_serializers.Flagging)
    def post(self, request: Request, data: dict[str, Any], task_id: int) -> Flag:
        """Flags the sample of your task to the admin.

        The task stays as it is. The same words again, while nobody has resolved them, change nothing.
        """
        return raise_flag(actor=self.user, task_id=task_id, reason=data["reason"])


class FlagsView(ProjectAPIView):
    actions = {"GET": "flags.read"}

    @answers(samples_serializers.FlagPage, query=samples_serializers.FlagsAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> Flags:
        """The flags that wait, or those that were resolved.

        The latest first. `sample` is the number of the sample, `sample_id` the id of its file. What others say of a
        sample that you still have to label is held back.
        """
        state = asked.get("state", "waiting")
        if state not in STATES:
            raise Refusal("bad_state", "state: waiting or resolved.")
        return Flags(self.project, reader=self.user, resolved=STATES[state])


class FlagResolveView(ProjectAPIView):
    actions = {"POST": "flags.resolve"}

    @answers(samples_serializers.Flag, takes=samples_serializers.FlagResolving, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, flag_id: int) -> Flag:
        """Resolves a flag, with a note of what was done.

        Repeating it changes nothing; other words for one that was resolved are refused (409).
        """
        return resolve_flag(actor=self.user, project=self.project, flag_id=flag_id, resolution=data["resolution"])
