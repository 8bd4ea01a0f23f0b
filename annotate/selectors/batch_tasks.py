"""The tasks of a batch as those who run it see them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from annotate.errors import Invalid
from annotate.models import Batch, Task
from annotate.models.batch import Purpose, TaskStatus


def tasks_of(batch: Batch, *, measuring: bool, status: str = "", username: str = "") -> QuerySet[Task]:
    """By sample; of one status, and of one annotator, when they are named. measuring: also gold and second readings,
    which nobody may know of who might have one."""
    if status and status not in TaskStatus.values:
        raise Invalid("bad_status", f"status: one of {', '.join(TaskStatus.values)}.")
    tasks = Task.objects.filter(batch=batch).select_related("sample", "annotator").order_by("sample_id", "id")
    if not measuring:
        tasks = tasks.filter(purpose=Purpose.LABEL)
    if status:
        tasks = tasks.filter(status=status)
    return tasks.filter(annotator__username=username) if username else tasks


def task_as_dict(task: Task) -> dict[str, Any]:
    return {
        "id": task.pk,
        "sample_id": task.sample.external_id,
        "annotator": task.annotator.username if task.annotator else None,
        "purpose": task.purpose,
        "status": task.status,
        "tag": task.tag,
        "position": task.position,
        "lease_expires_at": task.lease_expires_at,
        "skip_reason": task.skip_reason,
        "return_message": task.return_message,
        "active_seconds": task.active_seconds,
        "submitted_at": task.submitted_at,
    }
