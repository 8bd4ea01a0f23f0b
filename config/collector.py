"""Python's garbage collector: seldom asked, and in processes that fork others kept away from what is loaded."""

import gc


def freeze() -> None:
    """Before forking, when all code is loaded. What is loaded stays: it is taken from the collector, which would go
    through it again and again, and by that copy the memory that the processes share."""
    gc.collect()
    gc.freeze()


def ask_less_often() -> None:
    """A request, or a batch of a judge's work, makes some thousands of objects, and nearly all go without the
    collector. Nearly all that a start makes stays, and the collector would go through it hundreds of times."""
    gc.set_threshold(10_000, 10, 10)
