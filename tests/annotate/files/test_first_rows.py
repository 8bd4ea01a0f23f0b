"""Which row was the first with a key, as a dictionary would say it, in less memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator

from annotate.files.first_rows import FirstRows

ROWS = 50_000
RATERS, CLAIMS, CRITERION = 7, 5, 3

Said = tuple[int, str, int]


def keys() -> Iterator[tuple[int, Said]]:
    """Many of them twice; samples have large keys, too."""
    draw = random.Random(4)
    for _ in range(ROWS):
        said = (draw.randrange(RATERS), f"claim:{draw.randrange(CLAIMS)}", CRITERION)
        yield draw.choice((1, 2**40)) * draw.randrange(1, 1_000), said


def test_the_first_row_of_each_key() -> None:
    found, expected = FirstRows(), dict[tuple[int, Said], int]()
    for row, (sample, said) in enumerate(keys(), 1):
        assert found.of(sample, said, row) == expected.setdefault((sample, said), row)
    assert 2 * len(expected) > ROWS  # more than once it had to grow, and met the keys of before


def test_what_a_key_takes() -> None:
    tracemalloc.start()
    found = FirstRows()
    for row in range(1, ROWS + 1):
        found.of(row, (0, "answer", CRITERION), row)
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # While it grows, the places of before are there as well.
    assert now <= 64 * ROWS
    assert peak <= 96 * ROWS
