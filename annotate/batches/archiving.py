"""A project that is done is archived: everything can be read, nothing is changed (annotate.core.permissions). Or it is
deleted."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.batches.steps import pause_batch, resume_batch
from annotate.core.errors import Invalid
from annotate.core.trail import note
from annotate.models import Project, User
from annotate.models.batch import BatchStatus
from annotate.projects.deletion import wake_deletion


def archive_project(*, actor: User, project: Project) -> int:
    """Open batches are paused, so that their tasks are closed at every door. Returns how many these were. Repeating it
    changes nothing."""
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.archived_at is not None:
            return 0
        open_ones = list(project.batches.filter(status=BatchStatus.OPEN).order_by("id"))
        for batch in open_ones:
            pause_batch(actor=actor, batch=batch)
        project.archived_at = timezone.now()
        project.save(update_fields=["archived_at"])
        note(actor=actor, action="project.archived", subject=project.name, project=project, batches=len(open_ones))
    return len(open_ones)


def restore_project(*, actor: User, project: Project) -> None:
    """Batches stay paused until they are resumed; trainings and tests, which were only paused by this, go on. Repeating
    it changes nothing."""
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.archived_at is not None:
            project.archived_at = None
            project.save(update_fields=["archived_at"])
            for round_ in project.batches.filter(qualification__isnull=False, status=BatchStatus.PAUSED).order_by("id"):
                resume_batch(actor=actor, batch=round_)
            note(actor=actor, action="project.restored", subject=project.name, project=project)


def begin_deletion(*, actor: User, project: Project, name: str) -> None:
    """Closes the project to everybody and asks the worker to delete it with all its data. name: the project's, as the
    person wrote it. Repeating it changes nothing. Raises Invalid."""
    if not isinstance(name, str) or name.strip() != project.name.strip():
        raise Invalid("name_differs", _("This is not the project’s name. Nothing was deleted."))
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.deleting_at is not None:
            return
        for batch in project.batches.filter(status=BatchStatus.OPEN).order_by("id"):
            pause_batch(actor=actor, batch=batch)
        project.deleting_at, project.deleting_by = timezone.now(), actor
        project.save(update_fields=["deleting_at", "deleting_by"])
        note(actor=actor, action="project.deletion_started", subject=project.name, project=project)
        transaction.on_commit(wake_deletion)
