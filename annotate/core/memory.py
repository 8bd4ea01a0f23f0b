"""Memory that was freed, and that the process would keep."""

import ctypes


def give_back() -> None:
    """To the system, of what the C library keeps for later: after a million samples were read, hundreds of megabytes,
    in pieces too small for what comes next. Another C library than glibc keeps none, or has no word for it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
