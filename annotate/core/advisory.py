"""Locks that stand for a piece of work, not for a row: who does not ask for the same one never waits. They end with the
transaction, however that ends; `held`, with the session of the database."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from django.conf import settings
from django.db import Error, OperationalError, connection
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.rows import execute, fetch_one

# The first of the two numbers of an advisory lock; the second is the primary key of the project.
IMPORTING = 1_905_003
_WRITING = 1_905_004
_SIGNING_IN = 1_905_005
_PATIENCE = "3s"


def begin_import(project_id: int, *, wait: bool) -> bool:
    """One import of a project is written at a time: whether it is this one, until the transaction ends."""
    with connection.cursor() as cursor:
        if wait:
            cursor.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [IMPORTING, project_id])
            return True
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s::int, %s::int)", [IMPORTING, project_id])
        (ours,) = cursor.fetchone()
    return bool(ours)


def write_on_what_stands(project_id: int) -> None:
    """For an import that reads claims and criteria now, and writes about them until it ends: holds back whoever would
    change them meanwhile (`no_import_writes`), and nobody else."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [_WRITING, project_id])


def no_import_writes(project_id: int) -> None:
    """Waits a little for imports of labels and scores, and holds them back until the transaction ends. For changes of
    what these rest on. Before any lock of a row. Raises Conflict when one takes longer."""
    with waits_a_little(_("Labels or scores are being imported. Try again in a moment.")):
        execute("SELECT pg_advisory_xact_lock_shared(%s::int, %s::int)", [_WRITING, project_id])


@contextmanager
def waits_a_little(refusal: str) -> Iterator[None]:
    """For locks that are asked for within it, in a transaction. Raises Conflict when one takes longer."""
    (before,) = fetch_one("SELECT current_setting('lock_timeout')")
    execute(f"SET LOCAL lock_timeout = '{_PATIENCE}'")
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != "55P03":
            raise
        raise Conflict("busy", refusal) from error
    execute("SELECT set_config('lock_timeout', %s, true)", [before])


@contextmanager
def held(job_id: uuid.UUID) -> Iterator[bool]:
    """Whether we are the one who does this job. The lock belongs to the database session and ends with it; behind a
    pooler, where one has a session only for a transaction, to a transaction of its own."""
    if settings.DATABASE_POOLED:
        with _held_by_transaction(job_id) as is_ours:
            yield is_ours
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [lock_key(job_id)])
        (is_ours,) = cursor.fetchone()
    try:
        yield is_ours
    finally:
        if is_ours:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [lock_key(job_id)])


# The jobs that this thread holds by a transaction.
_ours: ContextVar[frozenset[uuid.UUID]] = ContextVar("_ours", default=frozenset())


@contextmanager
def _held_by_transaction(job_id: uuid.UUID) -> Iterator[bool]:
    """Within itself it is ours again, as a lock of a session is."""
    before = _ours.get()
    if job_id in before:
        yield True
        return
    own = connection.copy()
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock_key(job_id)])
            (is_ours,) = cursor.fetchone()
        _ours.set(before | {job_id} if is_ours else before)
        yield is_ours
    finally:
        _ours.set(before)
        with suppress(Error):  # of a session that is gone; the server ends a closed one only later
            own.rollback()
        own.close()


def is_held(job_id: uuid.UUID) -> bool:
    """Whether a process does the job."""
    return lock_key(job_id) in held_keys()


def lock_key(job_id: uuid.UUID) -> int:
    return int.from_bytes(job_id.bytes[:8], signed=True)


def held_keys() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks"
            " WHERE locktype = 'advisory' AND granted AND objsubid = 1"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return {key for (key,) in cursor.fetchall()}


def one_sign_in_at_a_time() -> None:
    """By a provider: two at once could make two accounts of one person. Each takes some milliseconds."""
    execute("SELECT pg_advisory_xact_lock(%s::int, 0)", [_SIGNING_IN])


def importing_projects() -> set[int]:
    """The projects of which a file is being written just now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
            " AND classid = %s::bigint AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [IMPORTING],
        )
        return {project for (project,) in cursor.fetchall()}
