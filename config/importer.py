"""`python -m config.importer`: runs the imports that wait, each in a process of its own with a limit of its memory.

It asks PostgreSQL for them, and needs no Redis. A process is a fork of this one, which has the code loaded and neither
threads nor a connection, so it begins at once; it ends with the job, alone or with the importer. One that was killed
leaves the job as it was, for the next.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
import uuid
from pathlib import Path
from typing import NoReturn

import django

from config import collector, embedded, logs
from config.storage import try_out_storage

LOOK_SECONDS = 0.25
# After files of which nothing came any more.
EXPIRED_LOOK_SECONDS = 60.0
# As long as PostgreSQL is away.
AWAY_SECONDS = 1.0
# A child that could not reach the store of files keeps its place for so long, as the next would not reach it either.
STORE_AWAY_SECONDS = 5.0

_log = logging.getLogger("config.importer")


class Importer:
    def __init__(self, processes: int, alive: Path) -> None:
        self._processes = processes
        self._alive = alive
        # Process -> the job that it runs.
        self._jobs: dict[int, uuid.UUID] = {}
        # Job -> how its process ended, until that is stored.
        self._ended: dict[uuid.UUID, int] = {}
        self._look_for_expired_at = 0.0

    def run(self) -> NoReturn:
        from django.db import Error, connection

        away = False
        while True:
            try:
                self._look()
                away = False
            except Error as error:
                if not away:
                    _log.error("The database does not answer, imports wait: %s", str(error).strip())
                away = True
                connection.close()
            time.sleep(AWAY_SECONDS if away else LOOK_SECONDS)

    def _look(self) -> None:
        from django.db import connection

        from annotate.files import import_queue, uploads

        self._bury()
        if time.monotonic() >= self._look_for_expired_at:
            uploads.end_expired()
            self._look_for_expired_at = time.monotonic() + EXPIRED_LOOK_SECONDS
        found = import_queue.to_do(besides={*self._jobs.values(), *self._ended})
        self._alive.touch()
        found = found[: self._processes - len(self._jobs)]
        if not found:
            return
        # A child would share it.
        connection.close()
        for job in found:
            self._start(job)

    def _start(self, job: uuid.UUID) -> None:
        die_with_us = embedded.die_with_parent(signal.SIGKILL)
        pid = os.fork()
        if pid:
            self._jobs[pid] = job
            return
        status = 1
        try:
            die_with_us()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _run(job)
            status = 0
        except BaseException:  # noqa: BLE001 - it must not go on as a second importer
            _log.exception("The process of import %s failed", job)
        finally:
            os._exit(status)

    def _bury(self) -> None:
        """What has ended, and what that means for its job."""
        from annotate.files import import_queue

        for pid, job in list(self._jobs.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._jobs[pid]
                self._ended[job] = os.waitstatus_to_exitcode(status)
        for job, code in list(self._ended.items()):
            if not code or import_queue.process_ended(job, code):
                del self._ended[job]


def _run(job_id: uuid.UUID) -> None:
    """The life of a child."""
    from django.conf import settings

    from annotate.core.errors import StorageError
    from annotate.files import bounds, import_queue

    try:
        import_queue.load_reader(job_id)
        bounds.bound_this_process(settings.IMPORT_MEMORY_MIB, settings.IMPORT_CPU_MINUTES * 60)
        logs.begin_task("import", str(job_id))
        done = import_queue.run_job(job_id)
        logs.end_task(done.status)
    except StorageError as error:
        _log.error("Import %s waits: %s", job_id, error)
        time.sleep(STORE_AWAY_SECONDS)


def main() -> None:
    # Numbers are only added up here, for which a thread per core would wait, and take addresses.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # As the first process of a container it would ignore the signal.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    services = embedded.ensure_services()
    django.setup()
    from django.conf import settings

    from annotate.files import import_labels, import_samples  # noqa: F401 - loaded for the children
    from judges.files import import_scores  # noqa: F401

    try_out_storage()
    collector.freeze()
    try:
        Importer(settings.IMPORT_PROCESSES, settings.DATA_DIR / "importer.alive").run()
    finally:
        services.close()


if __name__ == "__main__":
    main()
