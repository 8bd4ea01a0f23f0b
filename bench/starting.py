"""What an installation takes when nobody does anything: to start, in memory, on disk.

    python -m bench.starting [--times 3]

`make run` on the data of its small demo, stopped and started again: seconds until the first page is there. Then, a
while after the last start, the memory of all its processes but PostgreSQL and Redis, what they share counted once
(PSS). The virtual environment is the one that this runs in.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import psutil

from bench.stage import figure, heading, own_folder
from bench.under_faults import make_run

# What a process loads at its first work (a beat, a look into the queue) is there by then.
REST_SECONDS = 60
# As their command lines show them; the first that fits.
SORTS = {
    "databases": ("postgres", "redis", "config.embedded"),
    "worker": ("celery",),
    "web": ("gunicorn",),
    "importer": ("config.importer",),
}


def started(folder: Path, rest: float = 0) -> tuple[float, Counter[str]]:
    """Seconds until the first page, and the memory of each sort of process in MB after so many seconds' rest."""
    began = time.perf_counter()
    with make_run(folder) as (port, _log):
        with urllib.request.urlopen(f"http://localhost:{port}/login/") as reply:
            reply.read()
        seconds = time.perf_counter() - began
        time.sleep(rest)
        return seconds, memory()


def memory() -> Counter[str]:
    taken: Counter[str] = Counter()
    for process in psutil.Process().children(recursive=True):
        command = " ".join(process.cmdline())
        sort = next((sort for sort, marks in SORTS.items() if any(mark in command for mark in marks)), "supervisor")
        taken[sort] += process.memory_full_info().pss
    return Counter({sort: round(size / 1e6) for sort, size in taken.items()})


def size_of(folder: Path) -> int:
    """On disk, in bytes; a file with several names counts once."""
    files = {(at.st_dev, at.st_ino): at.st_blocks * 512 for path in folder.rglob("*") if (at := path.lstat())}
    return sum(files.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    with own_folder() as folder:
        os.environ["DEMO"] = "small"
        started(folder)
        heading("Starting again on the small demo's data")
        for number in range(1, options.times + 1):
            seconds, taken = started(folder, REST_SECONDS if number == options.times else 0)
            figure("first page", f"{seconds:.1f} s", "≤ 4 s")
        del taken["databases"]
        parts = "   ".join(f"{sort} {size}" for sort, size in taken.most_common())
        figure("memory when nobody does anything, MB", f"{taken.total()}: {parts}", "≤ 200 MB")
    figure("virtual environment, MB", f"{size_of(Path(sys.prefix)) / 1e6:.0f}", "≤ 700 MB")


if __name__ == "__main__":
    main()
