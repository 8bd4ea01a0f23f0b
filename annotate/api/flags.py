"""Flags: an annotator reports a sample, an admin resolves it."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, StrictAPIView, body
from annotate.errors import Refusal
from annotate.selectors.flags import flag_as_dict, flags_of
from annotate.services.flags import raise_flag, resolve_flag

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
