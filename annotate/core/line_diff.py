"""What differs between two texts, line by line, and within a line that was changed word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher

# Chinese and Japanese have no blanks between words: each character is one.
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORDS = re.compile(rf"\s+|[{_CJK}]|[^\W{_CJK}]+|.")
# Longer lines are compared as wholes: the time grows with the product of their words.
_MOST_PAIRS = 250_000
# Two lines less alike than this are two lines, and not one that was changed.
_ALIKE = 0.4

# A stretch of a line, and whether the other text has it otherwise.
Piece = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Line:
    """sign: "+" new, "-" gone, " " in both. pieces: the same text, cut where it was changed."""

    sign: str
    text: str
    pieces: tuple[Piece, ...] = field(default=(), compare=False)


def lines_between(old: str, new: str) -> tuple[Line, ...]:
    before, after = old.splitlines(), new.splitlines()
    lines: list[Line] = []
    # Lines that come very often, as blank ones do in a long text, anchor nothing (autojunk): else the time explodes.
    for what, a, b, c, d in SequenceMatcher(None, before, after).get_opcodes():
        if what == "equal":
            lines += [_whole(" ", text, changed=False) for text in before[a:b]]
        elif what == "replace" and b - a == d - c:
            pairs = [_changed(old_line, new_line) for old_line, new_line in zip(before[a:b], after[c:d], strict=True)]
            lines += [gone for gone, _new in pairs] + [new_line for _gone, new_line in pairs]
        else:
            lines += [_whole("-", text) for text in before[a:b]] + [_whole("+", text) for text in after[c:d]]
    return tuple(lines)


def _whole(sign: str, text: str, *, changed: bool = True) -> Line:
    return Line(sign, text, ((text, changed),))


def _changed(old: str, new: str) -> tuple[Line, Line]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) * len(after) > _MOST_PAIRS:
        return _whole("-", old), _whole("+", new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return _whole("-", old), _whole("+", new)
    gone: list[Piece] = []
    added: list[Piece] = []
    for what, a, b, c, d in matcher.get_opcodes():
        gone += [("".join(before[a:b]), what != "equal")] if a < b else []
        added += [("".join(after[c:d]), what != "equal")] if c < d else []
    return Line("-", old, tuple(gone)), Line("+", new, tuple(added))
