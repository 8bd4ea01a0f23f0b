"""What was freed goes back to the system."""

import platform

import psutil
import pytest

from annotate.core import memory

MIB = 2**20


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps nothing, or gives back nothing")
def test_what_lies_below_something_that_is_kept() -> None:
    pieces = [b"x" * 60_000 * (place > 0) + bytes([place % 256]) for place in range(2_000)]
    last = pieces[-1]
    del pieces
    before = psutil.Process().memory_info().rss
    memory.give_back()
    assert psutil.Process().memory_info().rss < before - 50 * MIB
    assert last
