"""Saving, changing and deleting views of the lists of samples and of units. Of shared ones the trail tells; of a
private one only its owner knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.permissions import may, role_of
from annotate.core.texts import is_storable, words_or_raise
from annotate.core.trail import note
from annotate.models import Project, SavedView, User
from annotate.models.view import MAX_NAME, ViewOf
from annotate.verdicts.saved_views_read import one_view

MOST_VIEWS = 50  # of one person in one project
MOST_CONDITIONS, LONGEST = 30, 200

# What each list can be chosen by, as the addresses of its page name it; before a metadata key stands META.
META = "m."
CONDITIONS = {
    ViewOf.SAMPLES: {"q", "status", "criterion", "agreement", "judge", "guidelines", "abstained", "sort"},
    ViewOf.UNITS: {
        "q", "criterion", "status", "value", "agreement", "method", "judge", "batch", "guidelines", "sort",
    },
}  # fmt: skip
# What the trail calls a view of each.
_SUBJECTS = {ViewOf.SAMPLES: "view", ViewOf.UNITS: "units_view"}


def save_view(
    *, actor: User, project: Project, of: ViewOf, name: Any, conditions: Mapping[str, str], is_shared: bool = False
) -> SavedView:
    """of: which list. Raises Invalid for a name or conditions that can't be kept, and Conflict for a name the actor has
    given to a view of this list already or for one view too many."""
    view = SavedView(project=project, owner=actor, of=of, name=_name(name), is_shared=is_shared)
    view.conditions = _kept(of, conditions)
    with transaction.atomic():
        _lock(project)
        _require_free(view)
        if SavedView.objects.filter(project=project, owner=actor).count() >= MOST_VIEWS:
            raise Conflict(
                "too_many_views", _("You have %(most)d saved views. Delete one first.") % {"most": MOST_VIEWS}
            )
        view.save()
        if is_shared:
            note(actor=actor, action=f"{_subject(view)}.shared", subject=view.name, project=project)
    return view


def change_view(
    *,
    actor: User,
    project: Project,
    view_id: int,
    name: Any = None,
    conditions: Mapping[str, str] | None = None,
    is_shared: bool | None = None,
) -> SavedView:
    """By its owner alone; what is None stays. Raises Http404, PermissionDenied, Invalid and Conflict."""
    with transaction.atomic():
        _lock(project)
        view = one_view(project, view_id, user=actor)
        if view.owner_id != actor.pk:
            raise PermissionDenied(_("Only its owner can change a view."))
        before = (view.name, view.conditions, view.is_shared)
        if name is not None:
            view.name = _name(name)
            _require_free(view)
        if conditions is not None:
            view.conditions = _kept(ViewOf(view.of), conditions)
        if is_shared is not None:
            view.is_shared = is_shared
        if before == (view.name, view.conditions, view.is_shared):
            return view
        view.save()
        if told := _told(was_shared=before[2], is_shared=view.is_shared):
            note(actor=actor, action=f"{_subject(view)}.{told}", subject=view.name, project=project)
    return view


def delete_view(*, actor: User, project: Project, view_id: int) -> str:
    """By its owner, or a shared one by an admin. Returns its name. Raises Http404 and PermissionDenied."""
    with transaction.atomic():
        _lock(project)
        view = one_view(project, view_id, user=actor)
        if not may_delete(view, actor):
            raise PermissionDenied(_("Only its owner or an admin can delete a view."))
        view.delete()
        if view.is_shared:
            action = f"{_subject(view)}.deleted"
            note(actor=actor, action=action, subject=view.name, project=project, of=view.owner.username)
    return view.name


def may_delete(view: SavedView, user: User) -> bool:
    """Of a view that the user may read."""
    return view.owner_id == user.pk or may(role_of(user, view.project), "views.moderate")


def _told(*, was_shared: bool, is_shared: bool) -> str:
    """What the trail tells of a change; "": nothing."""
    if was_shared and is_shared:
        return "changed"
    return "shared" if is_shared else "unshared" if was_shared else ""


def _subject(view: SavedView) -> str:
    return _SUBJECTS[ViewOf(view.of)]


def _lock(project: Project) -> None:
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _name(text: Any) -> str:
    said = _("Enter a name of 1 to %(most)d characters.") % {"most": MAX_NAME}
    # One line.
    words = " ".join(text.split()) if isinstance(text, str) else text
    return words_or_raise(words, Invalid("bad_name", said), most=MAX_NAME)


def _require_free(view: SavedView) -> None:
    others = SavedView.objects.filter(project=view.project, owner=view.owner, of=view.of, name__iexact=view.name)
    if others.exclude(pk=view.pk).exists():
        said = _("You already have a view “%(name)s”. Choose another name, or open that view and update it.")
        raise Conflict("name_taken", said % {"name": view.name})


def _kept(of: ViewOf, conditions: Mapping[str, str]) -> dict[str, str]:
    """What they mean is known where they are applied; the list must know their names."""
    for name, value in conditions.items():
        if not all(is_storable(text) and 0 < len(text) <= LONGEST for text in (name, value)):
            said = _("The filter “%(name)s” can’t be saved: at most %(most)d characters.")
            raise Invalid("bad_filter", said % {"name": str(name)[:40], "most": LONGEST})
        if not (name in CONDITIONS[of] or (name.startswith(META) and name != META)):
            raise Invalid("unknown_filter", _("There is no filter “%(name)s” in this list.") % {"name": name[:40]})
    if not 0 < len(conditions) <= MOST_CONDITIONS:
        raise Invalid("no_filter", _("Choose 1 to %(most)d filters or an order first.") % {"most": MOST_CONDITIONS})
    return dict(conditions)
