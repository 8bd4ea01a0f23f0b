"""Projects and criteria by name, for command lines; who may see them is not asked here."""

from __future__ import annotations

from annotate.core.errors import Invalid
from annotate.models import Criterion, Project
from annotate.projects.read import current_criteria


def project_named(slug: str) -> Project:
    """Raises Invalid with a sentence that names what there is."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:20]) or "none yet"
        raise Invalid("unknown_project", f"There is no project “{slug}”. Projects: {known}.")
    return project


def criterion_named(project: Project, key: str) -> Criterion:
    """The current version of the criterion. Raises Invalid with a sentence that names the known keys."""
    criterion = current_criteria(project).filter(key=key).first()
    if criterion is None:
        known = ", ".join(current_criteria(project).values_list("key", flat=True)) or "none yet"
        raise Invalid("unknown_criterion", f"“{project.slug}” has no criterion “{key}”. Criteria: {known}.")
    return criterion
