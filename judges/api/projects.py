"""Projects as a whole: another one set up alike, and the end of one."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework.request import Request

from annotate.api import projects_serializers as shapes
from annotate.api.base import ProjectAPIView
from annotate.api.schema import answers
from annotate.api.serializers import With
from annotate.models import Project
from judges.endpoints.duplicate import duplicate_project
from judges.runs.project_deletion import delete_project


class DuplicateView(ProjectAPIView):
    actions = {"POST": "project.manage"}

    @answers(shapes.Project, takes=shapes.Duplication, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> With:
        """Makes another project that is set up like this one.

        With its settings, guidelines, criteria, requirements and endpoints, whose keys have to be given anew; without
        samples, labels, judges and members. For staff accounts; you become its admin. All or nothing.
        """
        if not self.user.is_staff:
            raise PermissionDenied("Only staff accounts may create projects.")
        return With(duplicate_project(actor=self.user, project=self.project, **data), role="admin")


class DeletionView(ProjectAPIView):
    actions = {"POST": "project.manage"}

    @answers(shapes.Deletion, takes=shapes.DeletionAsked, status=202)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Project:
        """Deletes the project with all its data, for good.

        Send its name, so that it is the right one. From then on every route of the project answers 403 with the code
        `being_deleted`, and 404 once everything is gone, which happens in the background, whole or not at all. When it
        fails, the project answers as before.
        """
        delete_project(actor=self.user, project=self.project, **data)
        return self.project
