"""What has to be told by mail: handed to the worker once it is stored. Nothing that happens waits for a mail."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from kombu.exceptions import OperationalError

from annotate.background import hand_over
from annotate.mail import anybody_reachable
from annotate.models import Batch, Task, User

_log = logging.getLogger(__name__)


def batch_opened(batch: Batch, people: Iterable[User] | None = None) -> None:
    """Tasks wait for its annotators, or for these people who came later."""
    if anybody_reachable(batch):
        ids = None if people is None else [user.pk for user in people]
        _tell("annotate.tasks.mail_batch_opened", batch.pk, ids)


def task_returned(task: Task) -> None:
    if task.annotator is not None and task.annotator.email:
        _tell("annotate.tasks.mail_task_returned", task.pk)


def _tell(name: str, *arguments: Any) -> None:
    def enqueue() -> None:
        try:
            hand_over(name, *arguments)
        except OperationalError as error:
            _log.error("The broker is unreachable, nobody gets mail (%s): %s", name, error)

    transaction.on_commit(enqueue)
