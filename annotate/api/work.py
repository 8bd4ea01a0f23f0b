"""The workspace's endpoints: one's own tasks, nothing else."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, StrictAPIView, body, expected_revision, idempotency_key, whole_number
from annotate.errors import Invalid
from annotate.models import User
from annotate.selectors.gold import feedback_after
from annotate.selectors.tasks import next_task, own_task, work_progress
from annotate.services.keeping import keep_task
from annotate.services.labelling import Finished, LabelInput, known_task_ids, save_label, skip_task, submit_task
from annotate.services.queue import take_following, take_task
from annotate.services.reopening import reopen_task


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
