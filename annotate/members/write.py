"""Members: what they know about, how a membership ends, and invitations, links that make a user a member. An account
can be made only with an invitation. Roles: annotate.projects.write.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import first_or_raise
from annotate.core.secret_links import digest, new_token
from annotate.core.texts import is_storable
from annotate.core.trail import note
from annotate.models import DeletedAccount, Invite, Membership, Project, User
from annotate.models.project import Role
from annotate.projects.read import open_invites
from annotate.projects.write import keep_an_admin, set_member
from annotate.tasks.write import hand_on_tasks

MAX_TAGS, MAX_TAG = 30, 80


def check_tags(tags: Any) -> list[str]:
    """Tags as they are stored: without blanks around them, each once. They match metadata values letter by letter."""
    if isinstance(tags, str) or not isinstance(tags, Sequence) or not all(is_storable(tag) for tag in tags):
        raise Invalid("bad_tags", _("tags: must be a list of texts."))
    clean = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if len(clean) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in clean):
        raise Invalid(
            "bad_tags",
            _("A member can have up to %(tags)d tags of up to %(letters)d characters each.")
            % {"tags": MAX_TAGS, "letters": MAX_TAG},
        )
    return clean


def change_tags(*, actor: User, project: Project, user: User, tags: Sequence[str]) -> Membership:
    """What the member knows about. It decides who gets the tasks of batches that are opened from now on."""
    clean = check_tags(tags)
    with transaction.atomic():
        member = _locked(project, user)
        if member.tags != clean:
            note(
                actor=actor,
                action="member.tags_changed",
                subject=user.username,
                project=project,
                before=member.tags,
                after=clean,
            )
            member.tags = clean
            member.save(update_fields=["tags"])
    return member


def deactivate_member(
    *,
    actor: User | None,
    project: Project,
    user: User,
    hand_on_to: Sequence[User] | None = None,
    keeps_an_admin: bool = True,
) -> int:
    """Ends the membership, at once in every session, and hands the open tasks on: to these people, or (None) evenly to
    those who label the batches with them. Returns how many tasks moved. Labels stay and keep the name.

    Refused for the last admin, unless the provider's groups decide, and when no one can take over a task. Repeating it
    changes nothing.
    """
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if keeps_an_admin:
            keep_an_admin(project, user, becomes=None)
        member = _locked(project, user)
        if not member.is_active:
            return 0
        # First, so that none of the tasks comes back to them.
        member.is_active = False
        member.save(update_fields=["is_active"])
        moved = hand_on_tasks(actor=actor, project=project, user=user, to=hand_on_to)
        note(actor=actor, action="member.deactivated", subject=user.username, project=project, tasks=moved)
    return moved


def reactivate_member(*, actor: User | None, project: Project, user: User) -> Membership:
    """The person is back, with role and tags of before. Tasks that were handed on stay where they are. Raises Conflict
    where their account was deleted."""
    with transaction.atomic():
        member = _locked(project, user)
        if not member.is_active:
            if DeletedAccount.objects.filter(user=user).exists():
                raise Conflict("deleted_already", _("This account is deleted already."))
            member.is_active = True
            member.save(update_fields=["is_active"])
            note(actor=actor, action="member.reactivated", subject=user.username, project=project)
    return member


def deactivate_account(*, user: User) -> dict[str, int]:
    """Closes the account to logins; in every project its membership ends and its open tasks are handed on. Returns how
    many tasks moved, by project. All or nothing."""
    with transaction.atomic():
        memberships = Membership.objects.filter(user=user, is_active=True).select_related("project")
        moved = {
            member.project.slug: deactivate_member(actor=None, project=member.project, user=user)
            for member in memberships.order_by("project__slug")
        }
        user = User.objects.select_for_update().get(pk=user.pk)
        user.is_active = False
        # Should it be opened again, sessions, tokens and the password of before stay ended.
        user.set_unusable_password()
        user.save(update_fields=["is_active", "password"])
        note(actor=None, action="account.deactivated", subject=user.username)
    return moved


def _locked(project: Project, user: User) -> Membership:
    members = Membership.objects.select_for_update().filter(project=project, user=user)
    return first_or_raise(members, Http404(_("Member “%(name)s” not found in this project.") % {"name": user.username}))


DEFAULT_DAYS, MAX_DAYS = 14, 90
MAX_USES = 1000


def create_invite(
    *,
    actor: User,
    project: Project,
    role: str,
    tags: Sequence[str] = (),
    max_uses: int = 1,
    days: int = DEFAULT_DAYS,
    email: str = "",
) -> tuple[Invite, str]:
    """The invite and its token, which is shown only now: its digest is all that is stored."""
    if role not in Role.values:
        raise Invalid(
            "bad_role",
            _("role: “%(role)s” must be one of %(roles)s.") % {"role": str(role)[:80], "roles": ", ".join(Role.values)},
        )
    _check_number(max_uses, MAX_USES, "bad_uses", _("Number of uses: must be a whole number from 1 to %(most)d."))
    _check_number(days, MAX_DAYS, "bad_days", _("Valid for: must be 1 to %(most)d whole days."))
    token, token_digest = new_token()
    with transaction.atomic():
        invite = Invite.objects.create(
            project=project,
            role=role,
            tags=check_tags(tags),
            token_digest=token_digest,
            email=_check_email(email),
            max_uses=max_uses,
            expires_at=timezone.now() + timedelta(days=days),
            created_by=actor,
        )
        note(
            actor=actor,
            action="invite.created",
            subject=str(invite.pk),
            project=project,
            role=role,
            max_uses=max_uses,
            until=invite.expires_at.isoformat(),
            email=invite.email,
        )
    return invite, token


def find_invite(token: str) -> Invite:
    """The invite that a link belongs to. Raises Http404, always in the same words, for one that can't be used."""
    invites = Invite.objects.filter(token_digest=digest(token)).select_related("project", "created_by")
    invite = first_or_raise(invites, _gone())
    if not _is_usable(invite):
        raise _gone()
    return invite


def _is_usable(invite: Invite) -> bool:
    return open_invites(invite.project).filter(pk=invite.pk).exists()


def _gone() -> Http404:
    """Used up, expired, taken back or never made: from outside it is all the same."""
    return Http404(_("This invitation is no longer valid."))


def accept_invite(*, user: User, token: str) -> Membership:
    """Makes the user a member. A member keeps their role, and doesn't use the invitation up.

    The row lock lets no more people in than the invite is for, however many open it at once.
    """
    with transaction.atomic():
        invites = Invite.objects.select_for_update(of=("self",)).select_related("project")
        invite = first_or_raise(invites.filter(token_digest=digest(token)), _gone())
        member = Membership.objects.filter(project=invite.project, user=user).first()
        if member is not None and member.is_active:
            return member
        if not _is_usable(invite):
            raise _gone()
        if member is not None:
            raise Conflict(
                "deactivated",
                _("You were deactivated in “%(project)s”. Ask a project admin to reactivate you.")
                % {"project": invite.project.name},
            )
        member = set_member(project=invite.project, user=user, role=invite.role, actor=user)
        if invite.tags:
            member.tags = invite.tags
            member.save(update_fields=["tags"])
        invite.uses += 1
        invite.save(update_fields=["uses"])
        note(
            actor=user,
            action="invite.accepted",
            subject=str(invite.pk),
            project=invite.project,
            user=user.username,
            role=invite.role,
        )
    return member


def revoke_invite(*, actor: User, project: Project, invite_id: int) -> Invite:
    """The link stops working at once. Members who used it stay. Repeating it changes nothing."""
    with transaction.atomic():
        invites = Invite.objects.select_for_update().filter(project=project, pk=invite_id)
        invite = first_or_raise(invites, Http404(_("Invitation not found.")))
        if invite.revoked_at is None:
            invite.revoked_at = timezone.now()
            invite.save(update_fields=["revoked_at"])
            note(actor=actor, action="invite.revoked", subject=str(invite.pk), project=project)
    return invite


def _check_number(value: object, most: int, code: str, sentence: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid(code, sentence % {"most": most})


def _check_email(address: object) -> str:
    if not isinstance(address, str) or not is_storable(address):
        raise Invalid("bad_email", _("Must be an email address."))
    address = address.strip()
    if address:
        try:
            validate_email(address)
        except ValidationError:
            raise Invalid("bad_email", _("Must be an email address.")) from None
    return address
