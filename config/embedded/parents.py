"""Processes that end with the one that started them, even when that is killed."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable


def die_with_parent(sent: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn`: the child gets this signal when we die, even by SIGKILL. Does nothing except on Linux."""
    parent = os.getpid()
    announce = _parent_death_signal(sent)

    def in_child() -> None:
        announce()
        if os.getppid() != parent:  # we died before the line above
            os.kill(os.getpid(), signal.SIGKILL)

    return in_child


def signal_me_when_parent_dies(sent: signal.Signals) -> None:
    _parent_death_signal(sent)()


def _parent_death_signal(sent: signal.Signals) -> Callable[[], object]:
    """What to call in the process that wants the signal.

    All is loaded here, before a fork: the child may be another user by then, who cannot read our Python.
    """
    if sys.platform != "linux":
        return lambda: None
    prctl = ctypes.CDLL(None).prctl
    set_parent_death_signal = 1  # PR_SET_PDEATHSIG in <sys/prctl.h>
    return lambda: prctl(set_parent_death_signal, int(sent))
