"""Python's garbage collector in processes that fork others."""

import gc


def freeze() -> None:
    """Before forking, when all code is loaded. What is loaded stays: it is taken from the collector, which would go
    through it again and again, and by that copy the memory that the processes share."""
    gc.collect()
    gc.freeze()


def ask_less_often() -> None:
    """A request, or a batch of a judge's work, makes some thousands of objects, and nearly all go without the
    collector."""
    gc.set_threshold(10_000, 10, 10)
