"""The versions of a project's guidelines, what was labelled under each, and what of them is news to a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Max
from django.db.models.functions import Coalesce
from django.http import Http404
from django.utils.translation import gettext as _

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


def versions_of(project: Project) -> list[GuidelineVersion]:
    """The newest first, each with its author."""
    return list(GuidelineVersion.objects.filter(project=project).select_related("author"))


@dataclass(frozen=True, slots=True)
class Made:
    """Labels that were made under one version, and of how many samples. version None: under which, nobody knows; an
    imported label is one of these."""

    version: int | None
    labels: int
    samples: int


def labels_by_version(project: Project) -> dict[int | None, Made]:
    """Of every label that says something; also of tasks that are still open."""
    said = Label.objects.filter(rater__project=project).exclude(value__isnull=True, cant_tell="")
    rows = said.values_list("guideline_version").annotate(Count("id"), Count("sample_id", distinct=True)).order_by()
    return {version: Made(version, labels, samples) for version, labels, samples in rows}


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
