"""Room for the frames of a request.

CPython keeps the frames of a thread in chunks of 16 KiB. A call for which the last chunk has no room left maps a new
one, and its return unmaps it. Where that falls into the inner loop of a template, a page takes twice as long; where it
falls depends on how many functions lie above. A function with a large frame is given a chunk that is larger still, and
what it calls finds room there.
"""

from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

# The frame takes 64 KiB of a chunk of 128, of which only what is used takes memory. A report's pages use 20.
SLOTS = 8192


def roomy(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with 64 KiB of frames below it in one chunk."""

    def with_room(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    made = cast("FunctionType", with_room)
    made.__code__ = made.__code__.replace(co_stacksize=SLOTS)
    return with_room
