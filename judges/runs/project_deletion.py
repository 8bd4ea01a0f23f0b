"""Deleting a project, as far as runs go: they are cancelled when it begins."""

from __future__ import annotations

from django.db import transaction

from annotate.batches.archiving import begin_deletion
from annotate.models import Project, User
from judges.models import Run, RunState
from judges.runs.write import cancel_run


def delete_project(*, actor: User, project: Project, name: str) -> None:
    """All or nothing; the worker does the rest (annotate.projects.deletion). Raises Invalid for another name."""
    with transaction.atomic():
        begin_deletion(actor=actor, project=project, name=name)
        runs = Run.objects.filter(version__judge__project=project, state=RunState.RUNNING)
        for run in runs.order_by("id"):
            cancel_run(run=run, actor=actor)
