"""Colours and labels of every plot, whoever draws it.

The colours keep a contrast of at least 3 to 1 with white and with the dark page; lines also differ by dash.
"""

from __future__ import annotations

import re

from frontend.reports.in_words import MARK

# What XML can't hold, and the mark of words.
CONTROL = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff{MARK}]")

JUDGE = "#2f7fd1"
TPR = "#c2661f"
TNR = "#12907f"
BAND = "#8a7fb5"

# Points: at the width that a plot is drawn for, they are the --text-1 and --text-2 of base/scales.css.
SMALL, READ = 9.75, 11.25


def plain(text: str, limit: int = 40) -> str:
    """Text that XML can hold and that leaves room for the plot."""
    text = CONTROL.sub("", text)
    return text if len(text) <= limit else text[: limit - 1] + "…"
