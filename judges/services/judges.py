"""What people may say about a judge."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.models import Project, User
from judges.models import Judge, Look


def set_direction(*, judge: Judge, higher_is_better: Any, actor: User | None = None) -> Judge:
    """Whether a higher score means better. Reports that were made before are out of date then.

    Raises Conflict once the judge was measured on test: a look and its certificate are read in the direction in which
    they were taken, and never change.
    """
    if not isinstance(higher_is_better, bool):
        raise Invalid("bad_direction", "higher_is_better: true or false.")
    with transaction.atomic():
        # As looks and imports do.
        Project.objects.select_for_update(no_key=True).get(pk=judge.project_id)
        judge.refresh_from_db(fields=["higher_is_better"])
        if judge.higher_is_better == higher_is_better:
            return judge
        looks = Look.objects.filter(judge=judge).count()
        if looks:
            raise Conflict(
                "has_looks",
                _(
                    "“%(name)s” was measured on test (%(looks)s looks), so which way its scores go stays as it is. "
                    "Import them once more under another name."
                )
                % {"name": judge.name, "looks": looks},
                looks=looks,
            )
        judge.higher_is_better = higher_is_better
        judge.save(update_fields=["higher_is_better"])
        note(
            actor=actor,
            action="judge.direction_set",
            subject=judge.name,
            project=judge.project,
            higher_is_better=higher_is_better,
        )
    return judge
