"""Faults of ours and of kinds of judges, in the log."""

from __future__ import annotations

import logging
import traceback

_log = logging.getLogger(__name__)


def note_fault(error: BaseException, what: str) -> None:
    """Where it happened, and not what the exception says: that may be anything that was sent or came."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error("%s: %s\n%s", what, type(error).__name__, frames)
