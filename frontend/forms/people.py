"""Fields that offer the people of a project."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext as _

from annotate.models import Membership, Project, User
from annotate.projects.read import members_of


def offer_members(field: forms.Field, project: Project, *, without: User | None = None) -> None:
    """The choices of a field for people: the project's active members, each with role and expertise."""
    # list(): the choices are shown and checked; people of a project are few.
    members = list(members_of(project).filter(is_active=True, user__is_active=True))
    found = {member.user_id: member for member in members if without is None or member.user_id != without.pk}
    field.queryset = User.objects.filter(pk__in=found).order_by("username")  # type: ignore[attr-defined]
    field.label_from_instance = lambda user: _person(found[user.pk])  # type: ignore[attr-defined]


def _person(member: Membership) -> str:
    about = [member.get_role_display().lower(), *member.tags]
    return _("%(name)s (%(what)s)") % {"name": member.user.name, "what": ", ".join(about)}
