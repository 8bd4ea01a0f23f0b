"""Targets by API: where the system is asked, one question to try it, and runs that ask the questions of a test set."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ProjectAPIView
from annotate.api.bodies import StrictJSON
from annotate.api.jobs import ACCEPTED, Job, accepted, job_as_reply
from annotate.api.schema import answers
from annotate.api.serializers import Nothing, With
from annotate.files.import_jobs import check_version
from judges.models import RunState
from systems.api import targets_serializers as shapes
from systems.models import SystemVersion, Target, TargetAsk, TargetRun
from systems.responses.read import one_version
from systems.responses.versions import versions_named
from systems.targets.read import failures_of, frozen_asked, one_run, own_target, runs_of, state_of, target_of
from systems.targets.runs import Limits, cancel_run, pause_run, resume_run, start_run
from systems.targets.write import TargetTrial, remove_target, set_target, try_target, unsaved_question

_EXAMPLE = {
    "endpoint": "rag",
    "path": "/ask",
    "body": {"question": "{{question}}", "top_k": "{{configuration.top_k}}"},
    "reply": {"answer": "/answer", "contexts": "/sources", "context_text": "/text", "context_id": "/id"},
}


class TargetView(ProjectAPIView):
    actions = {"GET": "endpoints.read", "PUT": "endpoints.change", "DELETE": "endpoints.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.Target)
    def get(self, request: Request, slug: str) -> Target:
        """Where every version of the system is asked that has no target of its own."""
        return _found(self, None)

    @answers(
        shapes.Target,
        takes=shapes.TargetSetting,
        examples=[OpenApiExample("A system with passages", request_only=True, value=_EXAMPLE)],
    )
    def put(self, request: Request, data: dict[str, Any], slug: str) -> Target:
        """Says where the system is asked, what is sent, and where in the reply what stands.

        The whole of it: what is left out is as in a new one. `field` of a refusal says what it is about.
        """
        return set_target(actor=self.user, project=self.project, said=data)

    @answers()
    def delete(self, request: Request, slug: str) -> None:
        """Removes it. What was asked stays."""
        remove_target(actor=self.user, project=self.project)


class VersionTargetView(ProjectAPIView):
    actions = {"GET": "endpoints.read", "PUT": "endpoints.change", "DELETE": "endpoints.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.Target)
    def get(self, request: Request, slug: str, version_id: int) -> Target:
        """The version's own target, which stands in the place of the project's."""
        return _found(self, one_version(self.project, version_id))

    @answers(shapes.Target, takes=shapes.TargetSetting)
    def put(self, request: Request, data: dict[str, Any], slug: str, version_id: int) -> Target:
        """Gives a version a target of its own, as a whole: nothing of the project's is mixed in."""
        version = one_version(self.project, version_id)
        return set_target(actor=self.user, project=self.project, version=version, said=data)

    @answers()
    def delete(self, request: Request, slug: str, version_id: int) -> None:
        """Removes the version's own target: it is asked where the others are."""
        remove_target(actor=self.user, project=self.project, version=one_version(self.project, version_id))


def _found(view: ProjectAPIView, version: SystemVersion | None) -> Target:
    target = own_target(view.project, version)
    if target is None:
        raise Http404(_("No target is defined here."))
    return target


class TargetTrialView(ProjectAPIView):
    actions = {"POST": "endpoints.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.TargetTrial, takes=shapes.TargetTrialRequest)
    def post(self, request: Request, data: dict[str, Any], slug: str, version_id: int) -> TargetTrial:
        """Asks a version one question at its target, and says what the reply would become.

        Nothing is stored. A reply that is 200 says in `works` whether it is an answer.
        """
        version = one_version(self.project, version_id)
        target = target_of(version)
        if target is None:
            raise Http404(_("No target is defined here."))
        return try_target(target=target, version=version, question=unsaved_question(data["question"]))


class TargetRunsView(ProjectAPIView):
    actions = {"GET": "systems.ask", "POST": "systems.ask"}
    parser_classes = [StrictJSON]

    @answers(shapes.TargetRunPage)
    def get(self, request: Request, slug: str) -> QuerySet[TargetRun]:
        """The runs of the project, the newest first, page by page; without their progress, which each has."""
        return runs_of(self.project)

    @answers(
        shapes.TargetRun,
        takes=shapes.TargetRunStart,
        status=201,
        conflict=True,
        headers=ACCEPTED,
        also={202: OpenApiResponse(shapes.TargetRun, "The worker asks; the same run where it is under way already.")},
        examples=[
            OpenApiExample(
                "Build v8 on what was frozen", request_only=True, value={"version": "v8", "set": "support@1"}
            )
        ],
    )
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Response:
        """Asks a version the questions of a test set, at its target.

        What has a response is not asked, unless it failed and `only_failed` is true. Each answer is a response with its
        sample, each failure a response that says why. The worker does it: ask again every few seconds until `state` is
        no longer running.
        """
        name = check_version(data["version"])
        frozen = frozen_asked(self.project, data["set"])
        with transaction.atomic():
            started = start_run(
                actor=self.user,
                version=versions_named(self.project, [name])[name],
                frozen_set=frozen,
                repeats=data.get("repeats", 1),
                only_failed=data.get("only_failed", False),
                limits=Limits(data.get("budget"), data.get("requests")),
            )
        run = one_run(self.project, started.run.pk)
        reply = shapes.TargetRun.show(shapes.with_progress(run))
        if run.state == RunState.RUNNING:
            return accepted(request, slug, reply, f"target-runs/{run.pk}/job/")
        return Response(reply, status=201)


class TargetRunView(ProjectAPIView):
    actions = {"GET": "systems.ask"}

    @answers(shapes.TargetRun)
    def get(self, request: Request, slug: str, asking_id: int) -> With:
        """One run with its progress."""
        return shapes.with_progress(one_run(self.project, asking_id))


class TargetRunJobView(ProjectAPIView):
    actions = {"GET": "systems.ask"}

    @answers(Job)
    def get(self, request: Request, slug: str, asking_id: int) -> Response:
        """How a run is, as every job tells it.

        One that stopped by itself has failed, with the reason as its `error`; it can be resumed.
        """
        return job_as_reply(request, slug, state_of(one_run(self.project, asking_id)))


class TargetRunPauseView(ProjectAPIView):
    actions = {"POST": "systems.ask"}

    @answers(shapes.TargetRun, takes=Nothing, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, asking_id: int) -> With:
        """Pauses a run.

        Nothing new goes out; what is under way still comes in. Send an empty object.
        """
        pause_run(run=one_run(self.project, asking_id), actor=self.user)
        return shapes.with_progress(one_run(self.project, asking_id))


class TargetRunResumeView(ProjectAPIView):
    actions = {"POST": "systems.ask"}
    parser_classes = [StrictJSON]

    @answers(shapes.TargetRun, takes=shapes.TargetRunResumption, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, asking_id: int) -> With:
        """Lets a run go on that was paused, or that stopped by itself.

        One whose budget is spent, or that has sent as many requests as it may, needs a new limit (409).
        """
        limits = Limits(data.get("budget"), data.get("requests"))
        resume_run(run=one_run(self.project, asking_id), limits=limits, actor=self.user)
        return shapes.with_progress(one_run(self.project, asking_id))


class TargetRunCancelView(ProjectAPIView):
    actions = {"POST": "systems.ask"}

    @answers(shapes.TargetRun, takes=Nothing, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, asking_id: int) -> With:
        """Cancels a run.

        What waits is never asked; what is under way still comes in, and what came stays. Send an empty object.
        """
        cancel_run(run=one_run(self.project, asking_id), actor=self.user)
        return shapes.with_progress(one_run(self.project, asking_id))


class TargetFailuresView(ProjectAPIView):
    actions = {"GET": "systems.ask"}

    @answers(shapes.TargetFailurePage)
    def get(self, request: Request, slug: str, asking_id: int) -> QuerySet[TargetAsk]:
        """What failed in a run, with the reason and the beginning of the reply, page by page.

        Left out are questions of which you still have this version's answer, or passages, to label.
        """
        return failures_of(one_run(self.project, asking_id), reader=self.user)
