from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.api.base import ProjectAPIView, body
from annotate.errors import Invalid
from annotate.models import User
from annotate.permissions import role_of
from annotate.selectors.projects import (
    criterion_as_dict,
    current_criteria,
    members_of,
    one_sample,
    project_as_dict,
    projects_of,
    sample_as_dict,
    samples_matching,
)
from annotate.services.criteria import add_criteria
from annotate.services.projects import change_project, create_project, remove_member, set_member


class ProjectsView(APIView):
    """One's projects; creating one takes a staff account."""

    def get(self, request: Request) -> Response:
        return Response(
            [
                {"slug": project.slug, "name": project.name, "role": role_of(request.user, project)}
                for project in projects_of(request.user)
            ]
        )

    def post(self, request: Request) -> Response:
        if not request.user.is_staff:
            raise PermissionDenied("Only staff accounts may create projects.")
        data = body(request, {"slug", "name", "guidelines", "criteria"}, required={"slug", "name"})
        slug = data.pop("slug")
        project = create_project(slug=slug, spec=data, created_by=request.user)
        return Response(project_as_dict(project, "admin"), status=201)


class ProjectDetailView(ProjectAPIView):
    actions = {"GET": "project.read", "PATCH": "project.change"}

    def get(self, request: Request, slug: str) -> Response:
        return Response(project_as_dict(self.project, self.role))

    def patch(self, request: Request, slug: str) -> Response:
        data = body(request, {"name", "guidelines"})
        for field, text in data.items():
            if not isinstance(text, str) or "\x00" in text:
                raise Invalid("bad_text", f"{field}: write a text.")
        change_project(
            project=self.project,
            name=data.get("name", self.project.name),
            guidelines=data.get("guidelines", self.project.guidelines),
        )
        return Response(project_as_dict(self.project, self.role))


class CriteriaView(ProjectAPIView):
    """The current criteria; POST adds some (a list of specifications or of keys of built-in ones)."""

    actions = {"GET": "criteria.read", "POST": "criteria.change"}

    def get(self, request: Request, slug: str) -> Response:
        return Response([criterion_as_dict(criterion) for criterion in current_criteria(self.project)])

    def post(self, request: Request, slug: str) -> Response:
        specs: Any = request.data
        if not isinstance(specs, list) or not specs:
            raise Invalid("not_a_list", "Send a list of criteria or of keys of built-in ones.")
        added = add_criteria(project=self.project, specs=specs)
        return Response([criterion_as_dict(criterion) for criterion in added], status=201)


class MembersView(ProjectAPIView):
    actions = {"GET": "members.read"}

    def get(self, request: Request, slug: str) -> Response:
        return Response(
            [
                {"username": member.user.username, "name": member.user.name, "role": member.role}
                for member in members_of(self.project)
            ]
        )


class MemberView(ProjectAPIView):
    """PUT {"role"} adds a member or changes the role; DELETE takes the member out, their labels stay."""

    actions = {"PUT": "members.change", "DELETE": "members.change"}

    def put(self, request: Request, slug: str, username: str) -> Response:
        data = body(request, {"role"}, required={"role"})
        member = set_member(project=self.project, user=_user(username), role=data["role"])
        return Response({"username": member.user.username, "name": member.user.name, "role": member.role})

    def delete(self, request: Request, slug: str, username: str) -> Response:
        remove_member(project=self.project, user=_user(username))
        return Response(status=204)


def _user(username: str) -> User:
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise Http404(f"There is no active account “{username}”.")
    return user


class SamplesView(ProjectAPIView):
    """The samples in import order; `?search=` looks in id, question and answer."""

    actions = {"GET": "samples.read"}

    def get(self, request: Request, slug: str) -> Response:
        words = request.query_params.get("search", "")
        if "\x00" in words:
            raise Invalid("bad_text", "search: write a text.")
        pages = LimitOffsetPagination()
        rows = pages.paginate_queryset(samples_matching(self.project, words), request)
        return pages.get_paginated_response([{"pk": row.pk, **sample_as_dict(row)} for row in rows or []])


class SampleView(ProjectAPIView):
    actions = {"GET": "samples.read"}

    def get(self, request: Request, slug: str, sample_id: int) -> Response:
        sample = one_sample(self.project, sample_id)
        return Response({"pk": sample.pk, **sample_as_dict(sample)})
