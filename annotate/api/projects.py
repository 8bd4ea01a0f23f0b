"""The trail over the API."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, StrictAPIView, body, json_body, text_parameter, whole_number
from annotate.core.errors import Invalid
from annotate.core.permissions import roles_of
from annotate.core.texts import is_storable
from annotate.members.invites import DEFAULT_DAYS, create_invite, revoke_invite
from annotate.members.write import change_tags, deactivate_member, reactivate_member
from annotate.models import User
from annotate.models.project import Role
from annotate.projects.criteria import add_criteria
from annotate.projects.read import (
    criterion_as_dict,
    current_criteria,
    invite_as_dict,
    member_as_dict,
    members_of,
    open_invites,
    project_as_dict,
    projects_of,
)
from annotate.projects.trail_read import PAGE_SIZE, PARAMETERS, happening_as_dict, read_filter, trail
from annotate.projects.write import PROJECT_OPTIONS, change_project, create_project, remove_member, set_member
from annotate.tasks.mail import public_url, send_invitation


class ProjectsView(StrictAPIView):
    @shape.describes(shape.ProjectListed(many=True))
    def get(self, request: Request) -> Response:
        """The projects you are a member of, with your role in each.

        A superuser sees all of them, as their admin.
        """
        roles = roles_of(self.user)
        return Response(
            [
                {"slug": project.slug, "name": project.name, "role": roles.get(project.pk, Role.ADMIN.value)}
                for project in projects_of(self.user)
            ]
        )

    @shape.describes(shape.Project, request=shape.ProjectCreation, status=201, conflict=True)
    def post(self, request: Request) -> Response:
        """Makes a project.

        For staff accounts; you become its admin. The fields are those of project.json (docs/formats.md), with the short
        name as `slug`. All or nothing: a criterion that can't be taken refuses the project.
        """
        if not self.user.is_staff:
            raise PermissionDenied("Only staff accounts may create projects.")
        data = body(request, {"slug", "name", "guidelines", "criteria"}, required={"slug", "name"})
        slug = data.pop("slug")
        project = create_project(slug=slug, spec=data, created_by=self.user)
        return Response(project_as_dict(project, "admin"), status=201)


class ProjectDetailView(ProjectAPIView):
    actions = {"GET": "project.read", "PATCH": "project.change"}

    @shape.describes(shape.Project)
    def get(self, request: Request, slug: str) -> Response:
        """One project: name, guidelines, your role, and its current criteria.

        Guidelines are Markdown. Of each criterion the current version is shown, in the order in which they are asked.
        """
        return Response(project_as_dict(self.project, self.role))

    @shape.describes(shape.Project, request=shape.ProjectChange)
    def patch(self, request: Request, slug: str) -> Response:
        """Changes the name, the guidelines, or what reviewers and annotators get to see.

        A field that is left out stays as it is. The short name never changes.
        """
        data = body(request, {"name", "guidelines", *PROJECT_OPTIONS})
        change_project(
            actor=self.user,
            project=self.project,
            name=data.pop("name", self.project.name),
            guidelines=data.pop("guidelines", self.project.guidelines),
            **data,
        )
        return Response(project_as_dict(self.project, self.role))


class CriteriaView(ProjectAPIView):
    actions = {"GET": "criteria.read", "POST": "criteria.change"}
    parser_classes = [JSONParser, MultiPartParser]

    @shape.describes(shape.Criterion(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The current criteria, in the order in which they are asked.

        Earlier versions, which older labels belong to, are not listed.
        """
        return Response([criterion_as_dict(criterion) for criterion in current_criteria(self.project)])

    @shape.describes(shape.Criterion(many=True), request=shape.CRITERIA, status=201, conflict=True)
    def post(self, request: Request, slug: str) -> Response:
        """Adds criteria, or makes new versions of them.

        Send a list of specifications (docs/formats.md) or of keys of built-in ones, an object that has it under
        `criteria`, or either as a file. A key that the project has: the same content changes nothing; other content
        makes a new version when labels or batches rest on the present one, and replaces it otherwise. All or nothing.
        """
        specs = _criteria_sent(request)
        added = add_criteria(project=self.project, specs=specs, actor=self.user)
        return Response([criterion_as_dict(criterion) for criterion in added], status=201)


def _criteria_sent(request: Request) -> list[Any]:
    sent: Any = json_body(request, or_file=True)
    if isinstance(sent, dict) and set(sent) == {"criteria"}:
        sent = sent["criteria"]
    if not isinstance(sent, list) or not sent:
        raise Invalid("not_a_list", 'Send a list of criteria or of keys of built-in ones, or {"criteria": […]}.')
    return sent


class MembersView(ProjectAPIView):
    actions = {"GET": "members.read"}

    @shape.describes(shape.Member(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The members with their roles and with what they know about.

        Everybody who belongs to the project, also those whose membership has ended.
        """
        return Response([member_as_dict(member) for member in members_of(self.project)])


class MemberView(ProjectAPIView):
    actions = {"PUT": "members.change", "PATCH": "members.change", "DELETE": "members.change"}

    @shape.describes(shape.Member, request=shape.Role, conflict=True)
    def put(self, request: Request, slug: str, username: str) -> Response:
        """Adds a member, or changes a member's role.

        The account has to exist and be active. A project keeps at least one admin: the last one can't become anything
        else.
        """
        data = body(request, {"role"}, required={"role"})
        user = _user(username)
        if not user.is_active:
            raise Http404(_NO_ACCOUNT.format(username))
        member = set_member(project=self.project, user=user, role=data["role"], actor=self.user)
        return Response(member_as_dict(member))

    @shape.describes(shape.Member, request=shape.MemberChange, conflict=True)
    def patch(self, request: Request, slug: str, username: str) -> Response:
        """Changes a member: role, tags, or whether they still take part.

        A field that is left out stays as it is. With `is_active` false the membership ends at once in every session,
        and the open tasks go to the people of `hand_on_to`, or are shared out evenly. Labels stay and keep the name.
        All or nothing.
        """
        data = body(request, {"role", "tags", "is_active", "hand_on_to"})
        user = _user(username)
        if not members_of(self.project).filter(user=user).exists():
            raise Http404(_NO_MEMBER.format(username))
        active, hand_on_to = data.get("is_active"), data.get("hand_on_to")
        if active not in (None, True, False):
            raise Invalid("bad_is_active", "is_active: true or false.")
        if hand_on_to is not None and active is not False:
            raise Invalid("bad_hand_on_to", "hand_on_to goes with is_active false.")
        with transaction.atomic():
            if "role" in data:
                set_member(project=self.project, user=user, role=data["role"], actor=self.user)
            if "tags" in data:
                change_tags(actor=self.user, project=self.project, user=user, tags=data["tags"])
            if active is True:
                reactivate_member(actor=self.user, project=self.project, user=user)
            if active is False:
                to = None if hand_on_to is None else _people(hand_on_to)
                deactivate_member(actor=self.user, project=self.project, user=user, hand_on_to=to)
        return Response(member_as_dict(members_of(self.project).get(user=user)))

    @shape.describes(conflict=True)
    def delete(self, request: Request, slug: str, username: str) -> Response:
        """Takes a member out of the project.

        The labels stay and keep the name. Refused (409) while the person has open tasks in open batches, and for the
        last admin.
        """
        remove_member(project=self.project, user=_user(username), actor=self.user)
        return Response(status=204)


_NO_ACCOUNT = "There is no active account “{:.80}”."
_NO_MEMBER = "This project has no member “{:.80}”."


def _user(username: str) -> User:
    user = User.objects.filter(username=username).first() if is_storable(username) else None
    if user is None:
        raise Http404(_NO_ACCOUNT.format(username))
    return user


def _people(names: Any) -> list[User]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Invalid("bad_hand_on_to", "hand_on_to: a list of user names.")
    return [_user(name) for name in dict.fromkeys(names)]


class InvitesView(ProjectAPIView):
    actions = {"GET": "members.change", "POST": "members.change"}

    @shape.describes(shape.Invite(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The invitations that can still be used.

        The latest first. Their links are not among it: nobody can look them up.
        """
        return Response([invite_as_dict(invite) for invite in open_invites(self.project)])

    @shape.describes(shape.InviteCreated, request=shape.InviteCreation, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Makes a link that lets people join the project.

        Whoever opens it joins in the given role, with an account of theirs or a new one. The link is in this reply and
        nowhere else; with `email` it is also sent there.
        """
        data = body(request, {"role", "tags", "max_uses", "days", "email"}, required={"role"})
        invite, token = create_invite(
            actor=self.user,
            project=self.project,
            role=data["role"],
            tags=data.get("tags", []),
            max_uses=data.get("max_uses", 1),
            days=data.get("days", DEFAULT_DAYS),
            email=data.get("email", ""),
        )
        mailed = bool(invite.email) and send_invitation(invite=invite, token=token)
        found = {**invite_as_dict(invite), "link": public_url("invite", token), "mailed": mailed}
        return Response(found, status=201)


class InviteView(ProjectAPIView):
    actions = {"DELETE": "members.change"}

    @shape.describes()
    def delete(self, request: Request, slug: str, invite_id: int) -> Response:
        """Takes an invitation back.

        Its link stops working at once; who came by it stays.
        """
        revoke_invite(actor=self.user, project=self.project, invite_id=invite_id)
        return Response(status=204)


MAX_ROWS = 1000


class AuditView(ProjectAPIView):
    actions = {"GET": "audit.read"}
    params = frozenset({*PARAMETERS, "cursor", "limit"})

    @shape.describes(
        shape.Trail,
        params=[
            OpenApiParameter("person", description="User name of who did it."),
            OpenApiParameter(
                "kind", description="label, verdict, claims, or the first word of an action, such as member."
            ),
            OpenApiParameter("sample", description="The sample's own id."),
            OpenApiParameter("since", description="A day or a moment; from it on."),
            OpenApiParameter("until", description="A day, counted in whole, or a moment; before it."),
            OpenApiParameter("cursor", description="`next` of the page before."),
            OpenApiParameter("limit", int, description=f"At most {MAX_ROWS}; {PAGE_SIZE} when left out."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Who did what when: every label, verdict, membership, batch, import, export and look; the latest first.

        Nothing in it is ever changed or taken out. `actor` is null for what a rule did, and for the command line.
        Of a sample that you still have to label, it does not tell what others said: values and comments are empty, and
        `held_back` in `details` says why.
        """
        asked = read_filter(self.project, **{name: text_parameter(request, name) for name in PARAMETERS})
        size = whole_number(request.query_params.get("limit", PAGE_SIZE), "limit", low=1, high=MAX_ROWS)
        page = trail(
            project=self.project, reader=self.user, asked=asked, after=text_parameter(request, "cursor"), size=size
        )
        return Response({"results": [happening_as_dict(row) for row in page.rows], "next": page.next})
