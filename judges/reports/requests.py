"""Asking the worker for a report; and what draws its plots, which stands above this floor and is named from there."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError

from annotate.core.background import hand_over
from annotate.core.errors import Unavailable
from annotate.core.jobs import ask_for
from annotate.models import Criterion, Job, User
from annotate.models.job import JobKind
from judges.reports.read import Labels, pending_key

# Longer than a report takes. A worker that died forgets the request after this, and one may ask again.
PENDING_SECONDS = 300


def request_report(*, criterion: Criterion, user: User | None = None, labels: Labels = "settled") -> bool:
    """Has the worker freeze a report once this transaction is in. False: one is on its way already.

    Raises Unavailable when the message can't be sent (outside a transaction; within one, on commit).
    """
    if not cache.add(pending_key(criterion.pk, labels), 1, timeout=PENDING_SECONDS):
        return False
    transaction.on_commit(lambda: _send(criterion.pk, user.pk if user else None, labels))
    return True


def request_job(*, criterion: Criterion, user: User, labels: Labels = "settled") -> tuple[Job, bool]:
    """The same, as a job that says when the report is there, and which it is; and whether it is a new one."""
    cache.add(pending_key(criterion.pk, labels), 1, timeout=PENDING_SECONDS)
    asked = {"criterion": criterion.pk, "labels": labels}
    try:
        return ask_for(project=criterion.project, user=user, kind=JobKind.REPORT, asked=asked)
    except Unavailable:
        cache.delete(pending_key(criterion.pk, labels))
        raise


def _send(criterion_id: int, user_id: int | None, labels: Labels) -> None:
    try:
        hand_over("judges.tasks.freeze_report", criterion_id, user_id, labels)
    except OperationalError as error:
        cache.delete(pending_key(criterion_id, labels))
        raise Unavailable("no_broker", "The worker can't be reached just now; nothing was requested.") from error


_drawer = ""


def register_drawer(dotted_name: str) -> None:
    """`dotted_name`: a function from a report's result to SVG by the name of the plot. It is imported when the first
    report is made, since what draws takes a second to load."""
    global _drawer  # noqa: PLW0603
    _drawer = dotted_name


def draw_plots(result: dict[str, Any]) -> dict[str, str]:
    plots: dict[str, str] = import_string(_drawer)(result)
    return plots
