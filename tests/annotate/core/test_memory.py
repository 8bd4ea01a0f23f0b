"""What was freed goes back to the system."""

import psutil

from annotate.core import memory

MIB = 2**20


def test_what_lies_below_something_that_is_kept() -> None:
    pieces = [b"x" * 60_000 * (place > 0) + bytes([place % 256]) for place in range(2_000)]
    last = pieces[-1]
    held = psutil.Process().memory_info().rss
    del pieces
    memory.give_back()
    assert psutil.Process().memory_info().rss < held - 50 * MIB
    assert last
