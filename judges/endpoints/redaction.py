"""Taking an endpoint's key out of what it sends: the one place that knows in how many ways a key can be written.

Replies are kept, shown and exported, and some servers repeat what they were sent. So every text of a reply goes through
here once it is decoded, before anything is cut off it. docs/endpoints.md says what can't be found.
"""

from __future__ import annotations

import base64
import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from urllib.parse import unquote

from judges.endpoints.keys import FEWEST_LETTERS, Secret

SHOWN = "[key]"
# An escape within an escape within an escape … is taken apart this often. Nothing harmless is deeper.
_MOST_ESCAPED = 8
# base64 of hex of base64: what is encoded that often is still looked into.
_MOST_ENCODED = 3
# Of a longer text with an encoded key, and of one with more of them, nothing is kept: finding where each begins and
# ends would take a hostile server's client seconds.
_MOST_SEARCHED = 20_000
_MOST_ENCODED_KEYS = 20
# So many characters are looked at in all, which takes about two seconds. A text that needs more was made to need it.
_MOST_READ = 20_000_000

_NO_SIGN = re.compile(r"[^0-9A-Za-z]+")
_LETTER = re.compile(r"[0-9A-Za-z+/]")
_MAY_BE_ESCAPED = re.compile(r"[\\%&=]")
_ESCAPE = re.compile(
    r"\\[ux]\{([0-9a-fA-F]{1,8})\}|\\U([0-9a-fA-F]{8})|\\[uU]([0-9a-fA-F]{4})|\\[xX]([0-9a-fA-F]{2})"
    r"|%u([0-9a-fA-F]{4})|\\([0-7]{2,3})|\\(.)",
    re.DOTALL,
)
_IN_MAIL = re.compile(r"=([0-9a-fA-F]{2})")
# What may be base64 or hexadecimal, perhaps over several lines, which may be quoted.
_RUN = re.compile(r"[0-9A-Za-z+/_-]{11,}(?:[ \t]*[\r\n]+[ \t>]*[0-9A-Za-z+/_-]+)*")
_STANDARD = str.maketrans("-_", "+/", "\r\n\t >")
# What may be letters as numbers, decimal or hexadecimal.
_NUMBER = r"(?<![0-9A-Za-z])(?:0[xX])?([0-9a-fA-F]{2,3})(?![0-9A-Za-z])"
_NUMBERS = re.compile(rf"(?:{_NUMBER}[^0-9A-Za-z]{{1,4}}){{7,}}{_NUMBER}")
_ONE_NUMBER = re.compile(_NUMBER)
# Of what was decoded, stretches that may be an encoding once more: bytes of a picture have few.
_WRITTEN = re.compile(r"[\t\r\n -~]{4,}")
# An entity that has no end is one for browsers, and for others the beginning of one that is itself escaped.
_ENTITY = re.compile(r"&#?\w{1,40};")
_OPEN_ENTITY = re.compile(r"&(?:#[0-9]{1,40}|#[xX][0-9a-fA-F]{1,40}|[A-Za-z]\w{0,40});?")
_BLANKS = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " ", "v": " ", "a": " "}
# A field of JSON with its text, wherever it stands.
_FIELD = re.compile(r'"(\w{1,40})"\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
# Of what base64 has before and behind a key, this many letters hold some of its bits.
_SHARED = 2


class Redaction:
    """Of one key, or of none. Safe to use from several threads."""

    def __init__(self, key: Secret | None) -> None:
        self._plain: re.Pattern[str] | None = None
        # Without signs, since what stands between the letters doesn't matter; these also without case.
        self._folded: tuple[str, ...] = ()
        self._exact: tuple[str, ...] = ()
        if key is not None:
            plain = key.reveal()
            self._plain = re.compile(re.escape(plain), re.IGNORECASE)
            self._folded = tuple(_signless(way).lower() for way in _spellings(plain))
            self._exact = tuple(_signless(way) for way in _in_base64(plain))

    def __repr__(self) -> str:
        return "Redaction(…)"

    def of_many(self) -> Callable[[str], str]:
        """For the many texts of one reply: together they are read no longer than one."""
        return partial(self, effort=_Effort())

    def __call__(self, text: str, effort: _Effort | None = None) -> str:
        """The text with SHOWN wherever the key was, however it was written."""
        if self._plain is None:
            return text
        try:
            return self._without(self._plain.sub(SHOWN, text), effort or _Effort())
        except _TooMuch:
            return SHOWN

    def unread(self, body: str) -> str:
        """A whole body that isn't understood. In a stream of events each may have a piece of the key."""
        pieces: defaultdict[str, list[str]] = defaultdict(list)
        for found in _FIELD.finditer(body) if self._plain else ():
            pieces[found[1]].append(found[2])
        effort = _Effort()
        try:
            if any(self._is_in("".join(texts), effort) for texts in pieces.values() if len(texts) > 1):
                return SHOWN
        except _TooMuch:
            return SHOWN
        return self(body)

    def _without(self, text: str, effort: _Effort) -> str:
        for _ in range(_MOST_ENCODED_KEYS):
            if not self._is_in(text, effort):
                return text
            if len(text) > _MOST_SEARCHED:
                break
            first, last = self._place(text, effort)
            text = text[:first] + SHOWN + text[last:]
        return SHOWN

    def _place(self, text: str, effort: _Effort) -> tuple[int, int]:
        """Where a key that is in the text begins and ends: no shorter piece of it has it."""
        last = _least(len(text), lambda end: self._is_in(text[:end], effort))
        first = last - _least(last, lambda length: self._is_in(text[last - length : last], effort))
        for _ in range(_SHARED):
            first -= bool(first and _LETTER.match(text[first - 1]))
            last += bool(last < len(text) and _LETTER.match(text[last]))
        # What escapes its first letter goes with it, or it would escape what is put there.
        while first and text[first - 1] == "\\":
            first -= 1
        return first, last

    def _is_in(self, text: str, effort: _Effort, encoded: int = 0) -> bool:
        if encoded:
            if self._is_legible(text, effort):
                return True
            text = "\0".join(_WRITTEN.findall(text))
        for view in _views(text):
            if view is None or self._is_legible(view, effort):
                return True
            if encoded < _MOST_ENCODED and any(self._is_in(inner, effort, encoded + 1) for inner in _decoded(view)):
                return True
        return False

    def _is_legible(self, text: str, effort: _Effort) -> bool:
        """Whether it is there but for signs, with nothing undone."""
        effort.reads(text)
        signless = _signless(text)
        folded = signless.lower()
        if any(way in folded for way in self._folded) or any(way in signless for way in self._exact):
            return True
        return "0x" in folded and any(way in folded.replace("0x", "") for way in self._folded)


class _TooMuch(Exception):
    """The text was made to be read for ever."""


class _Effort:
    """How much was read for one text: escapes within encodings within escapes multiply."""

    def __init__(self) -> None:
        self._left = _MOST_READ

    def reads(self, text: str) -> None:
        # A short piece costs something, too.
        self._left -= len(text) + 100
        if self._left < 0:
            raise _TooMuch


def _signless(text: str) -> str:
    return _NO_SIGN.sub("", text)


def _spellings(key: str) -> Iterator[str]:
    """As it is, backwards, and as numbers. What looks like an escape in the key itself is undone along with others."""
    for written in (key, key[::-1]):
        yield from (view for view in _views(written) if view is not None and len(_signless(view)) >= FEWEST_LETTERS)
    yield key.encode().hex()
    yield " ".join(str(ord(letter)) for letter in key)


def _in_base64(key: str) -> Iterator[str]:
    """Wherever it stands in a longer text: without the characters that what is before and behind has a part in."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + key.encode()).decode()
        yield whole[-(-before * 8 // 6) : (before + len(key)) * 8 // 6]


def _views(text: str) -> Iterator[str | None]:
    """The text, and as it reads with its escapes undone, again and again; None when they go deeper than any harmless
    ones do."""
    yield text
    for step in count():
        if not _MAY_BE_ESCAPED.search(text):
            return
        if "&" in text:
            yield _OPEN_ENTITY.sub(lambda found: html.unescape(found[0]), text)
        plainer = _undone(text)
        if plainer == text:
            return
        # A row of backslashes only becomes half as long: somebody drew with them.
        if step >= _MOST_ESCAPED and _signless(plainer) != _signless(text):
            yield None
            return
        text = plainer
        yield text


def _undone(text: str) -> str:
    """Those of e-mail only when there are no others: “=ab” may also be where the value of an address begins."""
    plainer = _ENTITY.sub(lambda found: html.unescape(found[0]), _ESCAPE.sub(_unescaped, text))
    plainer = unquote(plainer, encoding="latin-1")
    return plainer if plainer != text else _IN_MAIL.sub(lambda found: chr(int(found[1], 16)), text)


def _unescaped(found: re.Match[str]) -> str:
    *hexadecimal, octal, other = found.groups()
    code = next((digits for digits in hexadecimal if digits), "")
    if code or octal:
        number = int(code, 16) if code else int(octal, 8)
        return chr(number) if number <= 0x10FFFF else ""
    return _BLANKS.get(other, str(other))


def _decoded(view: str) -> Iterator[str]:
    """What stands in the text in numbers, hexadecimal or base64, if it does: wherever its first byte may begin."""
    for found in _NUMBERS.finditer(view):
        numbers = _ONE_NUMBER.findall(found.group())
        yield "".join(chr(int(number, 16)) for number in numbers)
        yield "".join(chr(int(number)) for number in numbers if number.isdecimal())
    for found in _RUN.finditer(view):
        run = found.group().translate(_STANDARD)
        if re.fullmatch("[0-9a-fA-F]+", run):
            for start in range(2):
                digits = run[start:]
                yield bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("latin-1")
        for start in range(4):
            letters = run[start:]
            yield base64.b64decode(letters + "A" * (-len(letters) % 4)).decode("latin-1")


def _least(most: int, is_enough: Callable[[int], bool]) -> int:
    """The smallest number for which it is enough; `most` is."""
    low, high = 0, most
    while low + 1 < high:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high
