from __future__ import annotations

from annotate.errors import Conflict
from annotate.models import Project, Task, User


def return_task(*, actor: User, project: Project, task_id: int, message: str) -> Task:
    task = Task.objects.select_for_update().get(pk=task_id, batch__project=project)
    if task.status != "submitted":
        raise Conflict("not_submitted", "x")
    task.status, task.return_message, task.returned_by = "returned", message, actor
    task.save()
    return task
