"""How work is that takes longer than a request, in one shape: reports and releases, and imports and runs, which have
queues of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotate.models import Job
from annotate.models.job import UNDER_WAY


@dataclass(frozen=True, slots=True)
class JobState:
    """progress: 0 to 1; None where nobody counts. result: the last part of the address of what came of it, behind that
    of the project; None until it is there. errors: of the rows of a file; error_count: with those that are left out."""

    status: str
    created_at: datetime
    finished_at: datetime | None
    progress: float | None = None
    result: str | None = None
    error: Mapping[str, str] | None = None
    errors: Sequence[Mapping[str, Any]] = ()
    error_count: int = 0

    @property
    def goes_on(self) -> bool:
        return self.status in UNDER_WAY


def state_of_job(job: Job, result: str) -> JobState:
    """result: the address of what it makes, behind that of the project, with {} for its number."""
    return JobState(
        status=job.status,
        created_at=job.created_at,
        finished_at=job.finished_at,
        result=None if job.result is None else result.format(job.result),
        error={"code": job.error_code, "message": job.error_message} if job.error_code else None,
    )
