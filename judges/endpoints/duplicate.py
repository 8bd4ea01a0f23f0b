"""A project set up like another one: what it asks, what it requires of judges, and whom they ask; no sample, no label,
no member, no secret."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from annotate.batches.criterion_change_read import content_of
from annotate.core.hotkeys import RESERVED_HOTKEYS
from annotate.core.trail import note
from annotate.models import Criterion, Project, User
from annotate.projects.guideline_images import copy_images
from annotate.projects.read import current_criteria
from annotate.projects.write import PROJECT_OPTIONS, change_project, create_project
from judges.core.duplicating import copy_what_others_keep
from judges.core.requirement import require
from judges.endpoints.write import PLAIN
from judges.models import Endpoint, Requirement


def duplicate_project(*, actor: User, project: Project, slug: str, name: str) -> Project:
    """With the guidelines and their images, the settings, the current criteria with what is required of judges on them,
    what an app above this one copies, and the endpoints, whose keys have to be given anew. The actor becomes its admin.
    All or nothing. Raises Invalid and Conflict."""
    criteria = [{"key": criterion.key, **_asked_alike(criterion)} for criterion in current_criteria(project)]
    spec = {"name": name, "criteria": criteria}
    with transaction.atomic():
        made = create_project(slug=slug, spec=spec, created_by=actor, guidelines=project.guidelines)
        copy_images(text=project.guidelines, of=project, to=made)
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
        copy_what_others_keep(actor=actor, project=project, made=made)
    return made


def _asked_alike(criterion: Criterion) -> dict[str, Any]:
    """Without the keys of options that became an action's since: these get the usual ones."""
    content = content_of(criterion)
    options = [
        {name: value for name, value in option.items() if name != "hotkey" or value not in RESERVED_HOTKEYS}
        for option in content["options"]
    ]
    return {**content, "options": options}


def _require_alike(actor: User, project: Project, made: Project) -> None:
    """What an admin declared; where nothing was, the defaults hold there as well."""
    criteria = {criterion.key: criterion for criterion in current_criteria(made)}
    for declared in Requirement.objects.filter(project=project, criterion_key__in=criteria).order_by("id"):
        require(
            actor=actor, criterion=criteria[declared.criterion_key], measure=declared.measure, bar=declared.bar,
            risk=declared.risk, coverage=declared.coverage,
        )  # fmt: skip
