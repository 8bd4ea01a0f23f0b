"""The first rows of a Parquet file, read by a process of its own: how much it becomes is known only when it is read.

Started as `python -m annotate.files.parquet_peek`, without Django, it prints them as JSON.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from itertools import islice
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, TypedDict

import orjson
from django.conf import settings
from django.utils.translation import gettext as _

from annotate.core.errors import Unavailable
from annotate.files.bounds import bound_this_process
from annotate.files.problems import FileError, Limits, Problem, Problems, RowError
from annotate.files.streams import Counted

_CPU_SECONDS = 5
# Others go first, so that on a busy machine those few seconds of the processor take this long.
_SECONDS = 60
_RETRY_SECONDS = 5
# Each keeps a thread that answers requests, and most of a processor.
_at_once = BoundedSemaphore(1)


class Peeked(TypedDict):
    columns: list[str]
    rows: list[dict[str, Any]]
    errors: list[Problem]


def peek(path: Path, limits: Limits, *, rows: int, most_bytes: int) -> Peeked:
    """Raises Unavailable when others are read just now, and FileError for what can't be read within the bounds."""
    if not _at_once.acquire(timeout=1):
        raise Unavailable("busy", _("Other files are being read. Try again in a moment."), retry_after=_RETRY_SECONDS)
    asked = {
        "path": str(path),
        "limits": dataclasses.asdict(limits),
        "rows": rows,
        "most_bytes": most_bytes,
        "memory_mib": settings.IMPORT_MEMORY_MIB,
    }
    command = [sys.executable, "-m", "annotate.files.parquet_peek"]
    try:
        done = subprocess.run(
            command,
            input=orjson.dumps(asked),
            capture_output=True,
            timeout=_SECONDS,
            cwd=settings.BASE_DIR,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FileError("too_slow", "Its first rows take too long to read.") from None
    finally:
        _at_once.release()
    if done.returncode:
        said = f"Its first rows need more memory than {settings.IMPORT_MEMORY_MIB:,} MiB, or more than a few seconds."
        raise FileError("memory", said)
    found: Peeked = orjson.loads(done.stdout)
    return found


def _read(asked: dict[str, Any]) -> Peeked:
    from annotate.files.parquet_file import ParquetReader

    bound_this_process(asked["memory_mib"], _CPU_SECONDS)
    found: Peeked = {"columns": [], "rows": [], "errors": []}
    problems, size = Problems(), 0
    path = Path(asked["path"])
    try:
        with Counted(path) as file:
            reader = ParquetReader(file, path.stat().st_size, problems, Limits(**asked["limits"]))
            found["columns"] = reader.columns()
            for _number, _line, row in islice(reader.rows(), asked["rows"]):
                size += len(orjson.dumps(row))
                if size > asked["most_bytes"]:
                    break
                found["rows"].append(row)
    except RowError as error:
        problems.add(error)
    found["errors"] = problems.first
    return found


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(_read(orjson.loads(sys.stdin.buffer.read()))))
