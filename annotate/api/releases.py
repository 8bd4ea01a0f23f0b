"""Releases of ground truth over the API."""

from __future__ import annotations

from typing import cast

from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ProjectAPIView, body
from annotate.models import Project, Release, User
from annotate.services import releases


class ReleasesView(ProjectAPIView):
    actions = {"GET": "export.read", "POST": "export.run"}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """The project's releases with their manifests, newest first."""
        found = Release.objects.filter(project=self.project).select_related("project", "created_by")
        return Response({"results": [releases.release_as_dict(release) for release in found]})

    @extend_schema(request=OpenApiTypes.OBJECT, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str) -> Response:
        """Makes a release: {"format": "jsonl", "filters": {"criteria": ["support"], "include_disputed": false}}."""
        data = body(request, {"format", "filters"}, {"format"})
        release = releases.make_release(
            project=self.project,
            user=cast("User", request.user),
            file_format=str(data["format"]),
            filters=data.get("filters"),
        )
        return Response(releases.release_as_dict(release), status=201)


class ReleaseView(ProjectAPIView):
    actions = {"GET": "export.read"}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """One release with its manifest."""
        return Response(releases.release_as_dict(_release(self.project, number)))


class ReleaseFileView(ProjectAPIView):
    actions = {"GET": "export.read"}

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
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
        raise Http404("There is no such release in this project.")
    return found
