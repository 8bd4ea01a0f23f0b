"""Projects over the API: what they ask, what a change of it touches, who belongs to them, and what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from annotate.api import projects_serializers as shapes
from annotate.api.base import ProjectAPIView, StrictAPIView, expected_revision
from annotate.api.bodies import StrictJSON, json_body
from annotate.api.schema import IF_MATCH, answers
from annotate.api.serializers import Nothing, Rows, With
from annotate.batches.archiving import archive_project, restore_project
from annotate.batches.criterion_change_read import Choices, Impact, impact, versions_of
from annotate.batches.relabelling import Relabelled, relabel
from annotate.batches.version_uses_read import version_uses
from annotate.core.bodies import MIB
from annotate.core.errors import Invalid
from annotate.core.permissions import may, roles_of
from annotate.core.pictures import MEDIA_TYPE, MOST_BYTES
from annotate.core.rows import first_or_raise
from annotate.labels.under_guidelines_read import labels_by_version
from annotate.members.resets import create_reset
from annotate.members.write import change_tags, create_invite, deactivate_member, reactivate_member, revoke_invite
from annotate.models import Criterion, GuidelineImage, GuidelineVersion, Invite, Membership, Project, Rater, Scope, User
from annotate.models.project import Role
from annotate.projects.criteria import add_criteria, check_spec
from annotate.projects.guideline_images import add_image
from annotate.projects.guideline_images_read import one_image
from annotate.projects.guidelines import change_guidelines, note_seen
from annotate.projects.guidelines_read import may_know_authors, one_version
from annotate.projects.guidelines_read import versions_of as guideline_versions
from annotate.projects.read import (
    current_criteria,
    members_of,
    no_member,
    one_criterion,
    open_invites,
    people_of,
    person_of,
    projects_of,
)
from annotate.projects.trail_read import PAGE_SIZE, TrailPage, read_filter, trail
from annotate.projects.write import change_project, create_project, remove_member, set_member
from annotate.tasks.mail import public_url, send_invitation
from annotate.verdicts.read import one_verdict


class ProjectsView(StrictAPIView):
    scope = Scope.ADMIN

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "POST" and not self.user.is_staff:
            raise PermissionDenied("Only staff accounts may create projects.")

    @answers(shapes.ProjectListed(many=True))
    def get(self, request: Request) -> list[With]:
        """The projects you are a member of, with your role in each.

        A superuser sees all of them, as their admin.
        """
        roles = roles_of(self.user)
        return [With(project, role=roles.get(project.pk, Role.ADMIN.value)) for project in projects_of(self.user)]

    @answers(shapes.Project, takes=shapes.ProjectCreation, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any]) -> With:
        """Makes a project.

        For staff accounts; you become its admin. The fields are those of project.json (docs/formats.md), with the short
        name as `slug`. All or nothing: a criterion that can't be taken refuses the project.
        """
        slug = data.pop("slug")
        return With(create_project(slug=slug, spec=data, created_by=self.user), role="admin")


class ProjectDetailView(ProjectAPIView):
    actions = {"GET": "project.read", "PATCH": "project.change"}

    @answers(shapes.Project)
    def get(self, request: Request, slug: str) -> With:
        """One project: name, guidelines, your role, and its current criteria.

        Guidelines are Markdown. Of each criterion the current version is shown, in the order in which they are asked.
        """
        return With(self.project, role=self.role)

    @answers(shapes.Project, takes=shapes.ProjectChange)
    def patch(self, request: Request, data: dict[str, Any], slug: str) -> With:
        """Changes the name, the guidelines, or what reviewers and annotators get to see.

        A field that is left out stays as it is. The short name never changes. Other guidelines become their next
        version.
        """
        change_project(actor=self.user, project=self.project, **{"name": self.project.name, **data})
        return With(self.project, role=self.role)


class GuidelinesView(ProjectAPIView):
    actions = {"GET": "project.read", "POST": "guidelines.change"}

    @answers(shapes.GuidelineVersions)
    def get(self, request: Request, slug: str) -> Rows:
        """The versions of the guidelines, the newest first, without their texts.

        `labels` says to admins and reviewers how many labels were made under each.
        """
        may_count = may(self.role, "batches.read")

        def listed(versions: list[GuidelineVersion]) -> list[With]:
            # All labels of the project are counted: not where there is no version to say it of.
            made = labels_by_version(self.project) if versions and may_count else {}
            return [
                With(version, labels=made.get(version.number, 0) if may_count else None, **_hidden(self))
                for version in versions
            ]

        return Rows(guideline_versions(self.project).defer("text"), listed)

    @answers(shapes.GuidelineVersionSaved, takes=shapes.GuidelineChange, status=201, headers=[IF_MATCH])
    def post(self, request: Request, data: dict[str, Any], slug: str) -> GuidelineVersion:
        """Saves the next version of the guidelines.

        `If-Match` carries the number of the version that you changed. When there is a later one, nothing is saved and
        both texts come back (412). The text that stands already makes no version.
        """
        return change_guidelines(
            actor=self.user,
            project=self.project,
            text=data["text"],
            note=data.get("note", ""),
            seen=expected_revision(request),
            dispute=one_verdict(self.project, data["dispute"], reader=self.user) if "dispute" in data else None,
        )


class GuidelineVersionView(ProjectAPIView):
    actions = {"GET": "project.read"}

    @answers(shapes.GuidelineVersionSaved)
    def get(self, request: Request, slug: str, number: int) -> With:
        """One version of the guidelines, with its text."""
        return With(one_version(self.project, number), **_hidden(self))


def _hidden(view: ProjectAPIView) -> dict[str, None]:
    """What a reader who may not know the authors of guidelines gets in their place."""
    return {} if may_know_authors(view.project, view.role) else {"author": None}


class GuidelinesSeenView(ProjectAPIView):
    actions = {"POST": "work.label"}

    @answers(shapes.GuidelinesSeen, takes=shapes.GuidelinesSeen)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> dict[str, Any]:
        """Marks what changed in the guidelines as read, up to this version.

        Your workspace does not tell it again.
        """
        note_seen(user=self.user, project=self.project, number=data["version"])
        return data


class GuidelineImagesView(ProjectAPIView):
    actions = {"POST": "guidelines.change"}
    parser_classes = [MultiPartParser]
    body_bytes = MOST_BYTES + MIB

    @answers(shapes.GuidelineImage, request=shapes.ONE_FILE, status=201, conflict=True)
    def post(self, request: Request, slug: str) -> GuidelineImage:
        """Uploads an image for the guidelines.

        A PNG, JPEG, WebP or still GIF of at most 5 MB, as multipart form data in the field `file`. It is kept as WebP,
        at most 1600 pixels wide and without anything else that was in the file. Guidelines show it where they say
        `![what it shows](image:NAME)`; the words between the brackets are required. An image that the project has
        already comes back as it is. Refused (409) when the project has as many as it may have.
        """
        upload = request.FILES.get("file")
        if upload is None:
            raise Invalid("missing_field", "Send the file as multipart form data, in the field “file”.")
        return add_image(
            actor=self.user, project=self.project, file=upload, name=upload.name or "", size=upload.size or 0
        )


class GuidelineImageView(ProjectAPIView):
    actions = {"GET": "project.read"}

    @answers(OpenApiTypes.BINARY, status=(200, MEDIA_TYPE))
    def get(self, request: Request, slug: str, image_name: str) -> HttpResponse:
        """An image of the guidelines.

        What an address shows never changes, so it may be kept for a year, by the reader’s own browser alone.
        """
        return HttpResponse(
            bytes(one_image(self.project, image_name).content),
            content_type=MEDIA_TYPE,
            headers={
                "Cache-Control": "private, max-age=31536000, immutable",
                "Content-Disposition": f'inline; filename="{image_name}.webp"',
                "X-Content-Type-Options": "nosniff",
            },
        )


class ArchiveView(ProjectAPIView):
    actions = {"POST": "project.manage"}

    @answers(shapes.Archived, takes=Nothing)
    def post(self, request: Request, slug: str) -> Project:
        """Archives the project: everything can be read, and nothing is changed.

        Open batches are paused. Whatever would change something is refused (403) with the code `archived`. Repeating it
        changes nothing.
        """
        archive_project(actor=self.user, project=self.project)
        self.project.refresh_from_db()
        return self.project


class RestoreView(ProjectAPIView):
    actions = {"POST": "project.manage"}

    @answers(shapes.Archived, takes=Nothing)
    def post(self, request: Request, slug: str) -> Project:
        """Takes the project out of the archive.

        Batches stay paused until they are resumed. Repeating it changes nothing.
        """
        restore_project(actor=self.user, project=self.project)
        self.project.refresh_from_db()
        return self.project


class CriteriaView(ProjectAPIView):
    actions = {"GET": "criteria.read", "POST": "criteria.change"}
    parser_classes = [StrictJSON, MultiPartParser]

    @answers(shapes.Criterion(many=True))
    def get(self, request: Request, slug: str) -> QuerySet[Criterion]:
        """The current criteria, in the order in which they are asked.

        Earlier versions, which older labels belong to, are not listed.
        """
        return current_criteria(self.project)

    @answers(shapes.Criterion(many=True), request=shapes.CRITERIA, status=201, conflict=True)
    def post(self, request: Request, slug: str) -> list[Criterion]:
        """Adds criteria, or makes new versions of them.

        Send a list of specifications (docs/formats.md) or of keys of built-in ones, an object that has it under
        `criteria`, or either as a file. A key that the project has: the same content changes nothing; other content
        makes a new version when labels or batches rest on the present one, and replaces it otherwise. All or nothing.
        """
        return add_criteria(project=self.project, specs=_criteria_sent(request), actor=self.user)


def _criteria_sent(request: Request) -> list[Any]:
    sent: Any = json_body(request, or_file=True)
    if isinstance(sent, dict) and set(sent) == {"criteria"}:
        sent = sent["criteria"]
    if not isinstance(sent, list) or not sent:
        raise Invalid("not_a_list", 'Send a list of criteria or of keys of built-in ones, or {"criteria": […]}.')
    return sent


class MembersView(ProjectAPIView):
    actions = {"GET": "members.read"}

    @answers(shapes.Member(many=True))
    def get(self, request: Request, slug: str) -> QuerySet[Membership]:
        """The members with their roles and with what they know about.

        Everybody who belongs to the project, also those whose membership has ended.
        """
        return members_of(self.project)


class MemberView(ProjectAPIView):
    actions = {"PUT": "members.change", "PATCH": "members.change", "DELETE": "members.change"}

    @answers(shapes.Member, takes=shapes.Role, conflict=True)
    def put(self, request: Request, data: dict[str, Any], slug: str, username: str) -> Membership:
        """Adds a member, or changes a member's role.

        The account has to exist and be active. A project keeps at least one admin: the last one can't become anything
        else.
        """
        accounts = User.objects.filter(username=username, is_active=True)
        user = first_or_raise(accounts, Http404(f"There is no active account “{username[:80]}”."))
        return set_member(project=self.project, user=user, role=data["role"], actor=self.user)

    @answers(shapes.Member, takes=shapes.MemberChange, conflict=True)
    def patch(self, request: Request, data: dict[str, Any], slug: str, username: str) -> Membership:
        """Changes a member: role, tags, or whether they still take part.

        A field that is left out stays as it is. With `is_active` false the membership ends at once in every session,
        and the open tasks go to the people of `hand_on_to`, or are shared out evenly. Labels stay and keep the name.
        All or nothing.
        """
        user = person_of(self.project, username)
        if not members_of(self.project).filter(user=user).exists():
            raise no_member(username)
        active, hand_on_to = data.get("is_active"), data.get("hand_on_to")
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
                to = None if hand_on_to is None else people_of(self.project, hand_on_to)
                deactivate_member(actor=self.user, project=self.project, user=user, hand_on_to=to)
        return members_of(self.project).get(user=user)

    @answers(conflict=True)
    def delete(self, request: Request, slug: str, username: str) -> None:
        """Takes a member out of the project.

        The labels stay and keep the name. Refused (409) while the person has open tasks in open batches, and for the
        last admin.
        """
        remove_member(project=self.project, user=person_of(self.project, username), actor=self.user)


class MemberResetView(ProjectAPIView):
    actions = {"POST": "members.change"}

    @answers(shapes.Reset, takes=Nothing, status=201, conflict=True)
    def post(self, request: Request, slug: str, username: str) -> With:
        """Makes a one-time link by which a member chooses a new password.

        It works for 24 hours; a link that was made before no longer works. Until it is used, the account stays as it
        is. Refused (409) for accounts that you may not reset: yours, a superuser's, and those with a membership in a
        project of which you are no admin.
        """
        user = person_of(self.project, username)
        reset, token = create_reset(actor=self.user, project=self.project, user=user)
        return With(reset, link=public_url("reset", token))


class InvitesView(ProjectAPIView):
    actions = {"GET": "members.change", "POST": "members.change"}

    @answers(shapes.Invite(many=True))
    def get(self, request: Request, slug: str) -> QuerySet[Invite]:
        """The invitations that can still be used.

        The latest first. Their links are not among it: nobody can look them up.
        """
        return open_invites(self.project)

    @answers(shapes.InviteCreated, takes=shapes.InviteCreation, status=201)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> With:
        """Makes a link that lets people join the project.

        Whoever opens it joins in the given role, with an account of theirs or a new one. The link is in this reply and
        nowhere else; with `email` it is also sent there.
        """
        invite, token = create_invite(actor=self.user, project=self.project, **data)
        mailed = bool(invite.email) and send_invitation(invite=invite, token=token)
        return With(invite, link=public_url("invite", token), mailed=mailed)


class InviteView(ProjectAPIView):
    actions = {"DELETE": "members.change"}

    @answers()
    def delete(self, request: Request, slug: str, invite_id: int) -> None:
        """Takes an invitation back.

        Its link stops working at once; members who joined by it stay.
        """
        revoke_invite(actor=self.user, project=self.project, invite_id=invite_id)


class AuditView(ProjectAPIView):
    actions = {"GET": "audit.read"}

    @answers(shapes.Trail, query=shapes.AuditAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> TrailPage:
        """Who did what when: every label, verdict, membership, batch, import, export and look; the latest first.

        Nothing in it is ever changed or taken out. `actor` is null for what a rule did, and for the command line.
        Of a sample that you still have to label, it does not tell what others said: values and comments are empty, and
        `held_back` in `details` says why.
        """
        size, after = asked.pop("limit", PAGE_SIZE), asked.pop("cursor", "")
        rows = read_filter(self.project, **asked)
        return trail(project=self.project, reader=self.user, asked=rows, after=after, size=size)


class VersionsView(ProjectAPIView):
    actions = {"GET": "batches.read"}

    @answers(shapes.CriterionVersion(many=True))
    def get(self, request: Request, slug: str, key: str) -> list[With]:
        """All versions of a criterion, the latest first, with what rests on each."""
        return [
            With(
                use.criterion,
                labels=use.labels.number,
                carried=use.carried.number,
                verdicts=use.verdicts.number,
                waiting=use.waiting.number,
                batches=[batch.number for batch in use.batches],
                relabelled_in=use.relabelled_in.number if use.relabelled_in else None,
            )
            for use in version_uses(versions_of(self.project, key))
        ]


class ImpactView(ProjectAPIView):
    actions = {"POST": "criteria.change"}

    @answers(shapes.Impact, takes=shapes.ImpactAsked)
    def post(self, request: Request, data: dict[str, Any], slug: str, key: str) -> Impact:
        """What a change of a criterion would touch. Nothing is stored.

        Send the whole criterion as it would be, and what only you know: that the meaning stays the same (with the
        reason), or which values might be a new option now (null: "can't tell"). The counts are of labels that count,
        one per person and unit.
        """
        standing = one_criterion(self.project, key)
        spec = check_spec({**data["criterion"], "key": standing.key})
        return impact(old=standing, new=spec, choices=_choices(data))


class RelabelView(ProjectAPIView):
    actions = {"POST": "criteria.change"}

    @answers(shapes.Relabelled, takes=shapes.RelabelAsked, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, key: str) -> Relabelled:
        """Carries labels of an earlier version over to the current one, and asks only the touched ones again.

        The choices are those of `impact`. `hand_to` names who gives the labels of a rater who can't be asked any more.
        Repeating it changes nothing.
        """
        number = data["from_version"]
        new = one_criterion(self.project, key)
        old = next((one for one in versions_of(self.project, key) if one.version == number), None)
        if old is None:
            raise Invalid("unknown_version", f"“{key}” has no version {number}.")
        return relabel(
            actor=self.user,
            project=self.project,
            old=old,
            new=new,
            choices=_choices(data),
            hand_to=_hand_to(self, data.get("hand_to", {})),
            due_date=data.get("due_date"),
        )


def _choices(data: Mapping[str, Any]) -> Choices:
    some = data.get("maybe_new")
    return Choices(
        same_meaning=data.get("same_meaning", False),
        reason=data.get("reason", ""),
        maybe_new=None if some is None else tuple(some),
    )


def _hand_to(view: ProjectAPIView, given: Mapping[str, str]) -> dict[int, User]:
    raters = dict(Rater.objects.filter(project=view.project, name__in=list(given)).values_list("name", "pk"))
    for rater in given:
        if rater not in raters:
            raise Invalid("unknown_rater", f"Nobody labelled here as “{rater[:80]}”.")
    users = {user.username: user for user in people_of(view.project, list(given.values()))}
    return {raters[rater]: users[name] for rater, name in given.items()}
