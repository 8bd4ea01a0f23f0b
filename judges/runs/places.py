"""Where a run is worked at: its endpoint, or, for judges that ask no model, the run itself.

One process works at a place at a time. It holds a lock of its database session, which ends with the process however
that ends; so the next one that gets the lock knows at once that nothing there is in hand any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from django.db import Error, OperationalError, connection, transaction
from django.db.models import QuerySet
from psycopg.errors import LockNotAvailable

from judges.models import Run, RunPurpose, RunState

# The first of the two numbers of an advisory lock; the second is the primary key.
_CLASSES = {"endpoint": 1_905_001, "run": 1_905_002}
# Of a question that two places may have; the second number is its hash. 3 and 4 are annotate.core.advisory's, 6 is
# systems.core.asking_place's.
QUESTION = 1_905_005


class Lockable(Protocol):
    """What one process works at at a time. lock: the two numbers of its advisory lock."""

    @property
    def lock(self) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class Place:
    """kind: "endpoint" or "run"; pk: its primary key."""

    kind: str
    pk: int

    @property
    def lock(self) -> tuple[int, int]:
        return _CLASSES[self.kind], self.pk

    def runs(self) -> QuerySet[Run]:
        """Every run that is worked at here, in any state."""
        runs = Run.objects.exclude(purpose=RunPurpose.IMPORT)
        if self.kind == "endpoint":
            return runs.filter(version__endpoint_id=self.pk)
        return runs.filter(pk=self.pk, version__endpoint__isnull=True)

    def ids_under_way(self) -> set[int]:
        """Of the runs that are to go on. Asked often: without all that is needed to open them."""
        return set(self.runs().filter(state=RunState.RUNNING).order_by().values_list("pk", flat=True))

    def under_way(self) -> QuerySet[Run]:
        """Those that are to go on, with what is needed to open them."""
        return (
            self.runs()
            .filter(state=RunState.RUNNING)
            .select_related("version__judge__project", "version__endpoint")
            .order_by("pk")
        )


def place_of(run: Run) -> Place:
    endpoint = run.version.endpoint_id
    return Place("run", run.pk) if endpoint is None else Place("endpoint", endpoint)


@contextmanager
def held(place: Lockable, *, patience: float = 0.0) -> Iterator[bool]:
    """Whether this process is the one that works there. patience: seconds to wait until another one is gone."""
    is_ours = _wait_for(place, patience) if patience else _try(place)
    try:
        yield is_ours
    finally:
        if is_ours:
            try:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_advisory_unlock(%s::int, %s::int)", place.lock)
            except Error:
                connection.close()  # the lock is gone with the session


def _try(place: Lockable) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s::int, %s::int)", place.lock)
        (is_ours,) = cursor.fetchone()
    return bool(is_ours)


def _wait_for(place: Lockable, patience: float) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{1000 * patience:.0f}ms"])
            cursor.execute("SELECT pg_advisory_lock(%s::int, %s::int)", place.lock)
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    return True


def is_held(place: Lockable) -> bool:
    """Whether a process works there."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND classid = %s::int::oid AND objid = %s::int::oid)",
            place.lock,
        )
        (found,) = cursor.fetchone()
    return bool(found)
