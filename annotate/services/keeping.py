"""A page that is still open at a task keeps it, though nothing is saved for a while."""

from __future__ import annotations

from datetime import datetime

from annotate.models import User
from annotate.services.labelling import own_row, require_open
from annotate.services.loop_rows import renew_lease


def keep_task(*, actor: User, task_id: int) -> datetime | None:
    """Renews the lease of a task from a pull queue, and returns until when it holds. None: the task needs none.

    Raises Http404 and Conflict as a save would, so that the page learns that there is nothing to save any more.
    """
    expires = renew_lease(task_id=task_id, annotator_id=actor.pk)
    if expires is None:
        require_open(own_row(actor, task_id))
    return expires
