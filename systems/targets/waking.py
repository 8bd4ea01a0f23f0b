"""Telling a worker that there is something to ask. A message that is lost costs a delay: every worker looks by itself
(systems.celery_tasks)."""

from __future__ import annotations

import logging

from kombu.exceptions import OperationalError

from annotate.core.background import hand_over

_log = logging.getLogger(__name__)


def wake(project_id: int, *, expires: float | None = None) -> bool:
    """Whether the message could be sent."""
    try:
        hand_over("systems.tasks.ask_targets", project_id, expires=expires)
    except OperationalError as error:
        _log.warning("The broker is away, asking for project %s waits: %s", project_id, type(error).__name__)
        return False
    return True
