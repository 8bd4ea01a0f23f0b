"""What was labelled under each version of a project's guidelines."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from annotate.labels.read import is_carried
from annotate.models import Label, Project


@dataclass(frozen=True, slots=True)
class Made:
    """Labels that were made under one version, and of how many samples. version None: under which, nobody knows; an
    imported label is one of these."""

    version: int | None
    labels: int
    samples: int


def labels_by_version(project: Project) -> dict[int | None, Made]:
    """Of every label that says something; also of tasks that are still open. One that was carried over to a later
    version of its criterion was made once."""
    said = Label.objects.filter(~is_carried(), rater__project=project).exclude(value__isnull=True, cant_tell="")
    rows = said.values_list("guideline_version").annotate(Count("id"), Count("sample_id", distinct=True)).order_by()
    return {version: Made(version, labels, samples) for version, labels, samples in rows}
