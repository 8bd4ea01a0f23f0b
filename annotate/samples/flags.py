"""Telling the admin that something is wrong with a sample, and resolving it."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.permissions import may, no_such_task, role_of
from annotate.core.rows import first_or_raise
from annotate.core.texts import words_or_raise
from annotate.core.trail import note
from annotate.models import Flag, Project, Task, User
from annotate.models.batch import BatchStatus


def raise_flag(*, actor: User, task_id: int, reason: Any) -> Flag:
    """Flags the sample of the actor's own task. The same words again, while their flag is open, are the same flag.

    Raises Http404 (not the actor's task), Invalid (no reason).
    """
    words = words_or_raise(reason, Invalid("no_reason", _("Briefly explain what is wrong with this sample.")))
    with transaction.atomic():
        # Locked, so that the same request twice at once makes one flag.
        task = (
            Task.objects.select_for_update(of=("self",), no_key=True)
            .select_related("batch__project")
            .filter(pk=task_id, annotator=actor)
            .exclude(batch__status=BatchStatus.DRAFT)
            .first()
        )
        if task is None or not may(role_of(actor, task.batch.project), "flags.raise"):
            raise no_such_task(actor, task_id)
        same = Flag.objects.filter(task=task, raised_by=actor, reason=words, resolved_at=None).first()
        return same or Flag.objects.create(
            project=task.batch.project, sample_id=task.sample_id, task=task, reason=words, raised_by=actor
        )


def resolve_flag(*, actor: User, project: Project, flag_id: int, resolution: Any) -> Flag:
    """Notes what was done about it. Repeating it changes nothing.

    Raises Http404, Invalid (no words), Conflict (resolved with other words already).
    """
    words = words_or_raise(resolution, Invalid("no_resolution", _("Briefly explain what was done about it.")))
    with transaction.atomic():
        flags = Flag.objects.select_for_update(of=("self",)).filter(pk=flag_id, project=project)
        flag = first_or_raise(flags, Http404(_("Flag not found in this project.")))
        if flag.resolved_at is not None:
            if flag.resolved_by_id == actor.pk and flag.resolution == words:
                return flag
            raise Conflict("resolved", _("This flag was already resolved. Nothing was changed."))
        flag.resolution, flag.resolved_by, flag.resolved_at = words, actor, timezone.now()
        flag.save(update_fields=["resolution", "resolved_by", "resolved_at"])
        note(actor=actor, action="flag.resolved", subject=flag.sample.external_id, project=project, resolution=words)
    return flag
