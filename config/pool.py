"""The worker's processes: Celery's own, looked after more often."""

from typing import Any

from celery.concurrency import asynpool, prefork

# Celery looks every 5 seconds whether one of its processes has ended, and only then has another do its work.
LOOK_SECONDS = 0.25


class AsynPool(asynpool.AsynPool):
    @property
    def timers(self) -> dict[Any, float]:
        return {self.maintain_pool: LOOK_SECONDS}


class TaskPool(prefork.TaskPool):
    Pool = AsynPool
