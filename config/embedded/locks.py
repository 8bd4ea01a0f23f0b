"""File locks, which the kernel drops when a process dies, however it dies."""

import fcntl
import time
from pathlib import Path
from typing import IO

from .places import EmbeddedError


def try_lock(path: Path, kind: int) -> IO[str] | None:
    """The open, locked file, or None when the lock of another process forbids it. Closing the file unlocks it."""
    file = path.open("a")
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except BaseException:
        file.close()
        raise
    return file


def lock_within(path: Path, kind: int, seconds: float) -> IO[str]:
    deadline = time.monotonic() + seconds
    while (file := try_lock(path, kind)) is None:
        if time.monotonic() > deadline:
            raise EmbeddedError(
                f"Another process has held {path} for {seconds:.0f} seconds. See which one with: fuser -v {path}"
            )
        time.sleep(0.02)
    return file


def keeper_gone(data: Path, name: str) -> bool:
    if (file := try_lock(data / "run" / f"{name}.keeper", fcntl.LOCK_SH)) is None:
        return False
    file.close()
    return True


def used_by_others(data: Path, name: str) -> bool:
    """True when other processes hold the service; False when none does, or its keeper is stopping it."""
    path = data / "run" / f"{name}.users"
    if (alone := try_lock(path, fcntl.LOCK_EX)) is not None:
        alone.close()
        return False
    if (shared := try_lock(path, fcntl.LOCK_SH)) is not None:
        shared.close()
        return True
    return False
