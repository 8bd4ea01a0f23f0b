"""Running a campaign: other people's tasks."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import campaign_shapes as shapes
from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body, text_parameter
from annotate.api.batches import people_named
from annotate.errors import Invalid
from annotate.models import User
from annotate.permissions import may
from annotate.selectors.batch_tasks import task_as_dict, tasks_of
from annotate.selectors.projects import one_batch, person_of
from annotate.services.tasks import hand_on_tasks, reassign_tasks, release_task, return_task


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
