"""Limits of a process that reads what a stranger may have made: it dies alone."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import sys
import time
from pathlib import Path

# Of mallopt in <malloc.h>.
_ARENA_MAX = -8
_LOW_PRIORITY = 10


def bound_this_process(memory_mib: int, cpu_seconds: int) -> None:
    """From here on it may take so much memory (as addresses) and processor time, and others go first. What it loads to
    read with is to be loaded by now."""
    os.nice(_LOW_PRIORITY)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The limit counts from the start of the process, and loading alone takes seconds on a busy machine.
    most_seconds = math.ceil(time.process_time()) + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds + 5))
    if sys.platform != "linux":
        return
    # Else each thread takes addresses for a heap of its own, which it hardly uses.
    ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    most = _addresses_in_use() + (memory_mib << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _addresses_in_use() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
