"""Fields that offer the people of a project, and fields that are in sight only when they apply."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.models import Membership, Project, User
from annotate.projects.read import members_of


class WorkSearch(forms.Form):
    """Of what one has labelled; ids of samples are the project's business."""

    q = forms.CharField(
        label=gettext_lazy("Words in question or answer"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"type": "search"}),
    )


def show_field(
    form: forms.Form, name: str, *, by: str, at: Sequence[str] = (), unless: Sequence[str] = (), needed: bool = False
) -> None:
    """Show the field only while the field `by` has one of the values `at`, or none of `unless` (base/reveal.js).

    A form may be sent without the field then, so it must not be required. needed: must be filled in while it is shown.
    """
    if name in form.fields and by in form.fields:
        told = {"by": form.add_prefix(by), **({"at": at} if at else {"unless": unless}), "needed": needed}
        form.fields[name].shown_when = json.dumps(told)  # type: ignore[attr-defined]


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
