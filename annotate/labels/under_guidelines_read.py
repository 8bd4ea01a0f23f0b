"""What was labelled under each version of a project's guidelines."""

from __future__ import annotations

from django.db.models import Count

from annotate.labels.read import is_carried
from annotate.models import Label, Project


def labels_by_version(project: Project) -> dict[int | None, int]:
    """How many labels were made under each; None: under which, nobody knows; an imported label is one of these.

    Of every label that says something; also of tasks that are still open. One that was carried over to a later
    version of its criterion was made once."""
    said = Label.objects.filter(~is_carried(), rater__project=project).exclude(value__isnull=True, cant_tell="")
    return dict(said.order_by().values_list("guideline_version").annotate(Count("id")))
