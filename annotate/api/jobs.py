"""What takes longer than a request: 202, where to ask for it, and how it is, in one shape for imports, releases,
reports and runs."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import models
from annotate.api.files_serializers import ImportProblem
from annotate.api.schema import Problem
from annotate.api.serializers import Moment, Of, Shape, With
from annotate.core.job_state import JobState
from annotate.core.rows import first_or_raise
from annotate.models.job import JobKind

RETRY_SECONDS = 1
# Of a reply that is 202.
ACCEPTED = [
    OpenApiParameter(
        "Location", OpenApiTypes.URI, OpenApiParameter.HEADER, response=[202], description="Where its job is asked for."
    ),
    OpenApiParameter(
        "Retry-After", OpenApiTypes.INT, OpenApiParameter.HEADER, response=[202], description="Seconds until then."
    ),
]


class Job(Shape, of=JobState, shows="status progress result error errors error_count created_at finished_at"):
    status = s.ChoiceField(
        ["waiting", "running", "paused", "done", "failed", "cancelled"],
        help_text="It goes on by itself while it is waiting or running.",
    )
    progress = Of("0 to 1; null where nobody counts.")
    result = s.CharField(allow_null=True, help_text="The address of what it made; null until it is there.")
    error = Problem(allow_null=True, help_text="Why it made nothing; null while nothing is wrong.")
    errors = ImportProblem(many=True, help_text="Of a file: the first hundred rows that are wrong.")  # type: ignore[assignment]
    error_count = Of("With those beyond the first hundred.")
    created_at = Moment()
    finished_at = Moment(allow_null=True)


def accepted(request: Request, slug: str, reply: dict[str, Any], job: str) -> Response:
    """202. job: the end of its address, behind that of the project."""
    headers = {"Location": _address(request, slug, job), "Retry-After": str(RETRY_SECONDS)}
    return Response(reply, status=202, headers=headers)


def job_as_reply(request: Request, slug: str, state: JobState) -> Response:
    return Response(shown(request, slug, state), headers={"Retry-After": str(RETRY_SECONDS)} if state.goes_on else None)


def shown(request: Request, slug: str, state: JobState) -> dict[str, Any]:
    result = None if state.result is None else _address(request, slug, state.result)
    return Job.show(With(state, result=result))


def one_job(project: models.Project, kind: JobKind, job_id: uuid.UUID) -> models.Job:
    return first_or_raise(models.Job.objects.filter(project=project, kind=kind, pk=job_id), Http404("Job not found."))


def _address(request: Request, slug: str, end: str) -> str:
    before, projects, _ = request.path.partition("/projects/")
    return str(request.build_absolute_uri(f"{before}{projects}{slug}/{end}"))
