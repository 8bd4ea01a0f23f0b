"""Files over the API: imports (upload, look, start, watch) and releases of ground truth."""

from __future__ import annotations

import csv
import io
import uuid
from typing import Any, cast

from django.http import FileResponse, Http404, HttpResponse, QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import models
from annotate.api import files_serializers as shapes
from annotate.api.base import ProjectAPIView
from annotate.api.bodies import StrictJSON
from annotate.api.jobs import ACCEPTED, Job, accepted, job_as_reply, one_job, shown
from annotate.api.schema import Error, answers
from annotate.api.serializers import With
from annotate.core.bodies import one_file
from annotate.core.errors import Invalid
from annotate.core.job_state import JobState, state_of_job
from annotate.files import releases
from annotate.files.cells import guard
from annotate.files.import_engine import Preview
from annotate.files.import_jobs import as_it_stands, create_job, preview, start, state_of
from annotate.models import ImportJob, Project, Release, User
from annotate.models.job import JobKind
from annotate.models.transfer import ImportKind, ImportStatus

# What some kinds of files are told beside them (Importer.check_options).
OPTIONS = ("set", "replace", "version")
_ERROR_COLUMNS = ("row", "line", "field", "code", "message", "excerpt")
_OUTCOMES = {
    201: OpenApiResponse(shapes.Import, "Imported."),
    202: OpenApiResponse(shapes.Import, "Waiting in the queue."),
    422: OpenApiResponse(shapes.ImportFailed, "Nothing was written; `errors` says why."),
}


class ImportsView(ProjectAPIView):
    actions = {"GET": "import.read", "POST": "import.run"}
    parser_classes = [MultiPartParser]
    body_bytes = staticmethod(one_file)

    @answers(shapes.Imports)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """The project's imports, newest first, without their error lists.

        The last hundred. An import whose process died waits to be run again.
        """
        jobs = ImportJob.objects.filter(project=self.project).select_related("created_by")[:100]
        return {"results": [With(as_it_stands(job), errors=[]) for job in jobs]}

    @answers(
        shapes.ImportKept,
        request={
            "multipart/form-data": {
                "type": "object",
                "required": ["file", "kind"],
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "kind": {"enum": ImportKind.values},
                    "mapping": {"type": "string", "description": 'JSON, {"column": "field"}'},
                    "set": {
                        "type": "string",
                        "description": "Of questions, qrels and a run: the test set; of the latter also one of its "
                        "numbers (support@1).",
                    },
                    "version": {
                        "type": "string",
                        "description": "Of a run, and of samples that a version of the system made: its name.",
                    },
                    "replace": {
                        "enum": ["1"],
                        "description": "Of questions: those that the file does not have leave the set's draft. Of "
                        "qrels: those of the set's questions that it does not have are removed.",
                    },
                    "preview": {"enum": ["1"]},
                },
            }
        },
        headers=ACCEPTED,
        also={
            200: OpenApiResponse(shapes.ImportKept, "Kept, with a preview; start it when the mapping is right."),
            **_OUTCOMES,
            413: OpenApiResponse(Error, "The file is larger than it may be."),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        """Uploads a file and imports it.

        Samples, labels, judge scores, the questions of a test set, judgements of relevance (TREC qrels) or rankings of
        a version (TREC run; docs/formats.md). A text of up to 256 KiB is imported while you wait: 201, or 422 with the
        errors. Anything larger or packed, Parquet, and any file while another of the project is being imported waits in
        a queue (202); ask for the import again to see how far it is.
        With `preview=1` the file is only kept, and the reply shows what it would be (200). All of a file is imported,
        or nothing.
        """
        upload = request.FILES.get("file")
        if upload is None:
            raise Invalid("missing_field", "Send the file as multipart form data, in the field “file”.")
        fields = cast("QueryDict", request.data)
        job = create_job(
            project=self.project,
            user=cast("User", request.user),
            kind=str(fields.get("kind", "")),
            upload=upload,
            mapping=fields.get("mapping"),
            options={name: str(fields[name]) for name in OPTIONS if name in fields},
        )
        if fields.get("preview") == "1":
            return Response(shapes.ImportKept.show(With(job, preview=preview(job))))
        return _outcome(self, start(job))


class ImportView(ProjectAPIView):
    actions = {"GET": "import.read"}

    @answers(shapes.Import)
    def get(self, request: Request, slug: str, job_id: uuid.UUID) -> ImportJob:
        """One import with its progress and its first 100 errors.

        `progress` is the share of the file that was read, 0 to 1; `error_count` counts the errors beyond the first
        hundred too.
        """
        return _job(self, job_id)


class ImportJobView(ProjectAPIView):
    actions = {"GET": "import.read"}

    @answers(Job)
    def get(self, request: Request, slug: str, job_id: uuid.UUID) -> Response:
        """How an import is, as every job tells it.

        Ask again after `Retry-After` seconds until its `status` is done or failed.
        """
        return job_as_reply(request, slug, state_of(_job(self, job_id)))


class ImportStartView(ProjectAPIView):
    actions = {"POST": "import.run"}
    parser_classes = [StrictJSON]

    @answers(shapes.Import, takes=shapes.ImportMapping, status=201, conflict=True, headers=ACCEPTED, also=_OUTCOMES)
    def post(self, request: Request, data: dict[str, Any], slug: str, job_id: uuid.UUID) -> Response:
        """Starts an uploaded import, optionally with another mapping.

        Send {"mapping": {"column": "field"}}, or an empty object for the present one. A failed import can be started
        again for 7 days, or as long as KEEP_UPLOADS_DAYS says; one that runs or is done is refused (409).
        """
        return _outcome(self, start(_job(self, job_id), data.get("mapping")))


class ImportPreviewView(ProjectAPIView):
    actions = {"POST": "import.run"}
    parser_classes = [StrictJSON]

    @answers(shapes.ImportPreview, takes=shapes.ImportMapping, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, job_id: uuid.UUID) -> Preview:
        """What an uploaded file would be under another mapping.

        Its first rows, and the field that each column would become. Nothing is stored.
        """
        return preview(_job(self, job_id), data.get("mapping"))


class ImportErrorsView(ProjectAPIView):
    actions = {"GET": "import.read"}

    @answers(OpenApiTypes.STR, status=(200, "text/csv"))
    def get(self, request: Request, slug: str, job_id: uuid.UUID) -> HttpResponse:
        """The first 100 errors of an import as CSV.

        In the order of the file's rows, with row, line, field, code, message and excerpt.
        """
        return errors_as_csv(_job(self, job_id))


def errors_as_csv(job: ImportJob) -> HttpResponse:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_ERROR_COLUMNS)
    for error in job.errors:
        cells = [error[column] for column in _ERROR_COLUMNS]
        writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in cells])
    return HttpResponse(
        text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="import-errors-{job.pk}.csv"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def _outcome(view: ProjectAPIView, job: ImportJob) -> Response:
    if job.status == ImportStatus.FAILED:
        error = {"code": "import_failed", "message": f"Nothing was written: {job.error_count} error(s)."}
        return Response(shapes.ImportFailed.show(With(job, error=error)), status=422)
    if job.status == ImportStatus.DONE:
        return Response(shapes.Import.show(job), status=201)
    return accepted(view.request, view.project.slug, shapes.Import.show(job), f"imports/{job.pk}/job/")


def _job(view: ProjectAPIView, job_id: uuid.UUID) -> ImportJob:
    job = ImportJob.objects.filter(project=view.project, pk=job_id).select_related("created_by").first()
    if job is None:
        raise Http404("Import not found.")
    return as_it_stands(job)


class ReleasesView(ProjectAPIView):
    actions = {"GET": "export.read", "POST": "export.run"}

    @answers(shapes.Releases)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """The project's releases with their manifests, newest first."""
        found = Release.objects.filter(project=self.project).select_related("project", "created_by")
        return {"results": found}

    @answers(
        shapes.Release,
        takes=shapes.ReleaseCreation,
        status=201,
        conflict=True,
        headers=ACCEPTED,
        also={202: OpenApiResponse(Job, "The worker makes it."), 503: OpenApiResponse(Error, "It can't be reached.")},
    )
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Response | Release:
        """Makes a release.

        Such as {"format": "jsonl", "filters": {"criteria": ["support"], "include_disputed": false}}. Refused (409) when
        nothing within the filters is settled. In a project of more than 2,000 samples the worker makes it: the reply is
        202, and its job says when it is there, or why not.
        """
        wanted: dict[str, Any] = {"file_format": str(data["format"]), "filters": data.get("filters")}
        if not releases.takes_time(self.project):
            return releases.make_release(project=self.project, user=self.user, **wanted)
        job = releases.request_release(project=self.project, user=self.user, **wanted)
        return accepted(request, slug, shown(request, slug, _state(job)), f"release-jobs/{job.pk}/")


class ReleaseJobView(ProjectAPIView):
    actions = {"GET": "export.run"}

    @answers(Job)
    def get(self, request: Request, slug: str, job_id: uuid.UUID) -> Response:
        """How a release is that the worker makes.

        Once it is done, `result` is its address.
        """
        return job_as_reply(request, slug, _state(one_job(self.project, JobKind.RELEASE, job_id)))


def _state(job: models.Job) -> JobState:
    return state_of_job(job, "releases/{}/")


class ReleaseView(ProjectAPIView):
    actions = {"GET": "export.read"}

    @answers(shapes.Release)
    def get(self, request: Request, slug: str, number: int) -> Release:
        """One release with its manifest."""
        return _release(self.project, number)


class ReleaseFileView(ProjectAPIView):
    actions = {"GET": "export.read"}

    @answers(OpenApiTypes.BINARY, status=(200, "application/octet-stream"), conflict=True)
    def get(self, request: Request, slug: str, number: int) -> FileResponse:
        """The file, as an attachment."""
        return as_download(_release(self.project, number), self.user)


def as_download(release: Release, user: User) -> FileResponse:
    """Never shown by a browser in our name, whatever text it holds."""
    return FileResponse(
        releases.hand_out(release, actor=user),
        as_attachment=True,
        filename=releases.download_name(release),
        content_type="application/octet-stream",
        headers={"X-Content-Type-Options": "nosniff"},
    )


def _release(project: Project, number: int) -> Release:
    found = Release.objects.filter(project=project, number=number).select_related("project", "created_by").first()
    if found is None:
        raise Http404("Release not found.")
    return found
