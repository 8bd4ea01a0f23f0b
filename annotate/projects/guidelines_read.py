"""The versions of a project's guidelines, who wrote them, and what of them is news to a person."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Max, QuerySet
from django.db.models.functions import Coalesce
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.permissions import may
from annotate.core.rows import first_or_raise
from annotate.models import GuidelineVersion, Label, Membership, Project, User, Verdict


def newest_version(project: Project) -> GuidelineVersion | None:
    return GuidelineVersion.objects.filter(project=project).first()


def one_version(project: Project, number: int) -> GuidelineVersion:
    versions = GuidelineVersion.objects.filter(project=project, number=number).select_related("author")
    return first_or_raise(
        versions, Http404(_("Version %(version)d of the guidelines not found.") % {"version": number})
    )


def led_to(dispute: Verdict) -> list[int]:
    """The numbers of the versions that were written because of it."""
    return sorted(GuidelineVersion.objects.filter(dispute=dispute).values_list("number", flat=True))


def versions_of(project: Project) -> QuerySet[GuidelineVersion]:
    """The newest first, each with its author."""
    return GuidelineVersion.objects.filter(project=project).select_related("author")


def may_know_authors(project: Project, role: str) -> bool:
    """Who writes guidelines knows who else does; annotators where the project shows names."""
    return project.show_names or may(role, "guidelines.change")


def guideline_news(user: User, project: Project, newest: GuidelineVersion | None) -> Sequence[GuidelineVersion]:
    """The versions that were saved since the person last labelled here, and which they have not closed yet; the newest
    first. None for who never labelled: nothing has changed for them.

    A label of which nobody knows the version was made under the first one at the earliest.
    """
    if newest is None or newest.number == 1:
        return []
    seen = Membership.objects.filter(project=project, user=user).values_list("guidelines_seen", flat=True).first()
    if seen is not None and seen >= newest.number:
        return []
    own = Label.objects.filter(rater__user=user, rater__project=project, task__isnull=False)
    labelled = own.aggregate(under=Max(Coalesce("guideline_version", 1)))["under"]
    if labelled is None:
        return []
    return versions_since(project, max(labelled, seen or 0))


def versions_since(project: Project, number: int) -> list[GuidelineVersion]:
    return list(GuidelineVersion.objects.filter(project=project, number__gt=number).select_related("author"))
