"""Handing work to the worker by the name of its Celery task. What does the work stands above what asks for it, so it is
not imported here. Raises kombu's OperationalError when the broker can't be reached."""

from __future__ import annotations

from typing import Any

from celery import current_app


def hand_over(task: str, *arguments: Any, expires: float | None = None) -> None:
    current_app.send_task(task, args=arguments, expires=expires)
