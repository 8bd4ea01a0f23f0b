"""A project set up like another one: what it asks, what it requires of judges, and whom they ask; no sample, no label,
no member, no secret."""

from __future__ import annotations

from django.db import transaction

from annotate.batches.criterion_change_read import content_of
from annotate.core.trail import note
from annotate.models import Project, User
from annotate.projects.read import current_criteria
from annotate.projects.write import PROJECT_OPTIONS, change_project, create_project
from judges.core.requirement import require
from judges.endpoints.write import PLAIN
from judges.models import Endpoint, Requirement


def duplicate_project(*, actor: User, project: Project, slug: str, name: str) -> Project:
    """With the guidelines, the settings, the current criteria with what is required of judges on them, and the
    endpoints, whose keys have to be given anew. The actor becomes its admin. All or nothing. Raises Invalid and
    Conflict."""
    criteria = [{"key": criterion.key, **content_of(criterion)} for criterion in current_criteria(project)]
    spec = {"name": name, "guidelines": project.guidelines, "criteria": criteria}
    with transaction.atomic():
        made = create_project(slug=slug, spec=spec, created_by=actor)
        options = {option: getattr(project, option) for option in PROJECT_OPTIONS}
        change_project(actor=actor, project=made, name=made.name, **options)
        _require_alike(actor, project, made)
        for endpoint in project.endpoints.order_by("id"):
            # As it stands, without asking for its host; each request looks where it goes (judges.endpoints.addresses).
            fields = {field: getattr(endpoint, field) for field in ("name", *PLAIN)}
            copied = Endpoint.objects.create(project=made, created_by=actor, **fields)
            note(
                actor=actor, action="endpoint.added", subject=copied.name, project=made, base_url=copied.base_url,
                key_source=copied.key_source,
            )  # fmt: skip
    return made


def _require_alike(actor: User, project: Project, made: Project) -> None:
    """What an admin declared; where nothing was, the defaults hold there as well."""
    criteria = {criterion.key: criterion for criterion in current_criteria(made)}
    for declared in Requirement.objects.filter(project=project, criterion_key__in=criteria).order_by("id"):
        require(
            actor=actor, criterion=criteria[declared.criterion_key], measure=declared.measure, bar=declared.bar,
            risk=declared.risk, coverage=declared.coverage,
        )  # fmt: skip
