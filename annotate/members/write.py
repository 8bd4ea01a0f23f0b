"""What a member knows about, and members who come to an end. Roles are services.projects' business."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.texts import is_storable
from annotate.core.trail import note
from annotate.models import Membership, Project, User
from annotate.projects.write import keep_an_admin
from annotate.tasks.write import hand_on_tasks

MAX_TAGS, MAX_TAG = 30, 80


def check_tags(tags: Any) -> list[str]:
    """Tags as they are stored: without blanks around them, each once. They match metadata values letter by letter."""
    if isinstance(tags, str) or not isinstance(tags, Sequence) or not all(is_storable(tag) for tag in tags):
        raise Invalid("bad_tags", _("tags: a list of texts."))
    clean = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if len(clean) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in clean):
        raise Invalid(
            "bad_tags",
            _("A member has at most %(tags)d tags of up to %(letters)d characters each.")
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
    *, actor: User | None, project: Project, user: User, hand_on_to: Sequence[User] | None = None
) -> int:
    """Ends the membership, at once in every session, and hands the open tasks on: to these people, or (None) evenly to
    those who label the batches with them. Returns how many tasks moved. Labels stay and keep the name.

    Refused for the last admin, and when a task has nobody to go to. Repeating it changes nothing.
    """
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        keep_an_admin(project, user, becomes=None)
        member = _locked(project, user)
        if not member.is_active:
            return 0
        # First: from here on the person is given nothing, so that nothing comes back to them.
        member.is_active = False
        member.save(update_fields=["is_active"])
        moved = hand_on_tasks(actor=actor, project=project, user=user, to=hand_on_to)
        note(actor=actor, action="member.deactivated", subject=user.username, project=project, tasks=moved)
    return moved


def reactivate_member(*, actor: User | None, project: Project, user: User) -> Membership:
    """The person is back, with role and tags of before. Tasks that were handed on stay where they are."""
    with transaction.atomic():
        member = _locked(project, user)
        if not member.is_active:
            member.is_active = True
            member.save(update_fields=["is_active"])
            note(actor=actor, action="member.reactivated", subject=user.username, project=project)
    return member


def deactivate_account(*, user: User) -> dict[str, int]:
    """Nobody logs in with the account any more; in every project its membership ends and its open tasks are handed on.
    Returns how many tasks moved, by project. All or nothing."""
    with transaction.atomic():
        memberships = Membership.objects.filter(user=user, is_active=True).select_related("project")
        moved = {
            member.project.slug: deactivate_member(actor=None, project=member.project, user=user)
            for member in memberships.order_by("project__slug")
        }
        User.objects.filter(pk=user.pk).update(is_active=False)
        note(actor=None, action="account.deactivated", subject=user.username)
    return moved


def _locked(project: Project, user: User) -> Membership:
    member = Membership.objects.select_for_update().filter(project=project, user=user).first()
    if member is None:
        raise Http404(_("This project has no member “%(name)s”.") % {"name": user.username})
    return member
