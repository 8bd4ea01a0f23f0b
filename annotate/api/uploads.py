"""Files in parts, by the tus protocol: what its headers say (annotate.files.uploads has the rules)."""

from __future__ import annotations

import base64
import binascii
import io
import uuid
from typing import IO, Any, cast

from django.http import Http404
from django.utils.http import http_date
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import files_serializers as shapes
from annotate.api.base import ProjectAPIView
from annotate.api.files import OPTIONS
from annotate.api.schema import Error, answers
from annotate.api.serializers import Nothing
from annotate.core.bodies import MANY_ROWS
from annotate.core.errors import Invalid, Refusal
from annotate.files.problems import Limits
from annotate.files.uploads import HASHES, drop_upload, open_upload, take_part
from annotate.models import ImportJob

VERSION = "1.0.0"
_SAID_OF_FILE = ("kind", "filename", "mapping", *OPTIONS)


class OtherVersion(Refusal):
    status = 412


class Part(BaseParser):
    """The bytes as they come: they are never held in memory."""

    media_type = "application/offset+octet-stream"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return stream


def _header(name: str, about: str, kind: Any = OpenApiTypes.STR, *, required: bool = True) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.HEADER, required=required, description=about)


class UploadsView(ProjectAPIView):
    actions = {"POST": "import.run"}

    @answers(
        shapes.Import,
        takes=Nothing,
        status=201,
        conflict=True,
        headers=[
            _header("Upload-Length", "The size of the file, in bytes.", OpenApiTypes.INT),
            _header("Upload-Metadata", "`kind`, `filename`, `mapping`, `set`, `version`, `replace`, each in Base64."),
            OpenApiParameter(
                "Location", OpenApiTypes.URI, OpenApiParameter.HEADER, response=[201], description="Where parts go."
            ),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Begins the upload of a large file, in parts of up to 16 MiB.

        The tus protocol, 1.0, with its extensions creation, expiration, checksum and termination: any client of it will
        do. Parts go to the address in `Location`. Once the last one is there the file is imported, in a queue: ask for
        the import of the same id. At most five files of a project come at once (409); one of which nothing came for a
        day is given up.
        """
        _require_version(request)
        said = _said_of_file(request.headers.get("Upload-Metadata", ""))
        job = open_upload(
            project=self.project,
            user=self.user,
            kind=said.get("kind", ""),
            file_name=said.get("filename", "file"),
            size=_number(request, "Upload-Length", low=1),
            mapping=said.get("mapping"),
            options={name: said[name] for name in OPTIONS if name in said},
        )
        where = request.build_absolute_uri(f"{request.path}{job.pk}/")
        return Response(shapes.Import.show(job), status=201, headers={"Location": where, **_as_headers(job)})


class UploadView(ProjectAPIView):
    actions = {"GET": "import.read", "PATCH": "import.run", "DELETE": "import.run"}
    parser_classes = [Part]
    body_bytes = MANY_ROWS

    @answers(shapes.Import)
    def get(self, request: Request, slug: str, job_id: uuid.UUID) -> Response:
        """How much of a file is there.

        `Upload-Offset` says where it goes on, and `Upload-Length` its size; HEAD is answered with these alone.
        """
        job = self._job(job_id)
        return Response(shapes.Import.show(job), headers={"Cache-Control": "no-store", **_as_headers(job)})

    @answers(
        conflict=True,
        request={"application/offset+octet-stream": OpenApiTypes.BINARY},
        headers=[
            _header("Upload-Offset", "How much of the file is there: where this part goes.", OpenApiTypes.INT),
            _header("Upload-Checksum", "`sha256` and the digest of this part in Base64.", required=False),
        ],
        also={
            410: OpenApiResponse(Error, "Nothing came for a day: it was given up."),
            460: OpenApiResponse(Error, "The part is not what its checksum says; nothing of it was kept."),
        },
    )
    def patch(self, request: Request, slug: str, job_id: uuid.UUID) -> Response:
        """Sends the next part of a file.

        It is taken whole or not at all. When a reply got lost, or another one came first (409, with `received`), ask
        where the file goes on.
        """
        _require_version(request)
        job = take_part(
            job=self._job(job_id),
            offset=_number(request, "Upload-Offset"),
            # No body is an empty object, as for REST framework.
            stream=cast("IO[bytes]", request.data or io.BytesIO()),
            checksum=_checksum(request),
        )
        return Response(status=204, headers=_as_headers(job))

    @answers(conflict=True)
    def delete(self, request: Request, slug: str, job_id: uuid.UUID) -> None:
        """Gives an unfinished upload up, with all that came of it."""
        drop_upload(job=self._job(job_id))

    def _job(self, job_id: uuid.UUID) -> ImportJob:
        jobs = ImportJob.objects.filter(project=self.project, pk=job_id, received__isnull=False)
        job = jobs.select_related("created_by").first()
        if job is None:
            raise Http404("Upload not found.")
        return job


def _require_version(request: Request) -> None:
    if request.headers.get("Tus-Resumable", VERSION) != VERSION:
        raise OtherVersion("other_version", f"Tus-Resumable: this is version {VERSION}.")


def _as_headers(job: ImportJob) -> dict[str, str]:
    found = {
        "Tus-Resumable": VERSION,
        "Tus-Version": VERSION,
        "Tus-Extension": "creation,expiration,checksum,termination",
        "Tus-Max-Size": str(Limits.from_settings().file_bytes),
        "Tus-Checksum-Algorithm": ",".join(HASHES),
        "Upload-Offset": str(job.received),
        "Upload-Length": str(job.size),
    }
    if job.expires_at is not None:
        found["Upload-Expires"] = http_date(job.expires_at.timestamp())
    return found


def _number(request: Request, name: str, *, low: int = 0) -> int:
    text = request.headers.get(name, "")
    if not text.isascii() or not text.isdecimal() or len(text) > 18 or int(text) < low:
        raise Invalid("bad_header", f"{name}: a whole number of bytes, from {low}.")
    return int(text)


def _checksum(request: Request) -> tuple[str, bytes] | None:
    said = request.headers.get("Upload-Checksum")
    if said is None:
        return None
    name, _, digest = said.partition(" ")
    if name not in HASHES:
        raise Invalid("bad_header", f"Upload-Checksum: {' or '.join(HASHES)}, and the digest in Base64.")
    return name, _decoded(digest, "Upload-Checksum")


def _said_of_file(header: str) -> dict[str, str]:
    said: dict[str, str] = {}
    for pair in filter(None, header.split(",")):
        name, _, value = pair.strip().partition(" ")
        if name not in _SAID_OF_FILE or name in said:
            known = ", ".join(_SAID_OF_FILE)
            raise Invalid("bad_metadata", f"Upload-Metadata: each once of {known}, not “{name[:80]}”.")
        try:
            said[name] = _decoded(value, "Upload-Metadata").decode()
        except UnicodeDecodeError:
            raise Invalid("bad_metadata", f"Upload-Metadata: {name} is not UTF-8.") from None
    return said


def _decoded(text: str, header: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Invalid("bad_header", f"{header}: “{text[:80]}” is not Base64.") from None
