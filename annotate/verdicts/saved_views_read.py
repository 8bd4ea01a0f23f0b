"""Saved views of the lists of samples and of units: one's own, and those that others share."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.rows import first_or_raise
from annotate.models import Project, SavedView, User
from annotate.models.view import ViewOf


def views_of(project: Project, of: ViewOf, *, user: User) -> QuerySet[SavedView]:
    """By name, one's own before those of others. of: which list."""
    return known_views(project, user=user).filter(of=of)


def known_views(project: Project, *, user: User) -> QuerySet[SavedView]:
    """Of both lists, each by name, one's own before those of others."""
    known = SavedView.objects.filter(project=project).filter(Q(owner=user) | Q(is_shared=True))
    return known.select_related("owner").annotate(is_own=Q(owner=user)).order_by("of", "-is_own", Lower("name"), "id")


def one_view(project: Project, view_id: int, *, user: User) -> SavedView:
    return first_or_raise(known_views(project, user=user).filter(pk=view_id), Http404(_("View not found.")))
