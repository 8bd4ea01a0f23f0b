"""Limits of a process that reads foreign files."""

from __future__ import annotations

import subprocess
import sys

_BOUND = """
import resource, time
from annotate.files.bounds import bound_this_process
while time.process_time() < 1.2:
    pass
bound_this_process(2048, 5)
print(resource.getrlimit(resource.RLIMIT_CPU)[0])
"""


def test_loading_takes_nothing_from_the_time_to_read() -> None:
    done = subprocess.run([sys.executable, "-c", _BOUND], capture_output=True, text=True, check=True)
    assert int(done.stdout) >= 1.2 + 5
