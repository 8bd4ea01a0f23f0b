"""One JSON object from bytes, strictly: nothing that another parser, PostgreSQL or a re-export would see differently.

orjson is fast, but keeps the last of two equal keys and turns integers beyond 64 bits into floats. `parse_object` uses
it when cheap checks on the bytes show that neither can have happened, and else `parse_exactly`, which looks at
everything. Both give the same verdict on every input (tests/annotate/files/test_strict_json.py).
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

import orjson

from annotate.files.problems import MAX_COLUMNS, MAX_DEPTH, MAX_FIELD_BYTES, MAX_VALUES, RowError, too_many_columns

Row = dict[str, Any]

_SPACED_COLON = re.compile(rb'"[ \t\r\n]+:')
_DIGITS_TO_ZERO = bytes(0x30 if 0x30 <= byte <= 0x39 else byte for byte in range(256))
# Every integer of 18 digits fits into 64 bits.
_LONG_NUMBER = b"0" * 19
# Up to the next comma or bracket that is not inside a string, to a quote that is never closed (all that follows is
# inside it), or to the end: looking for a mark from each later character again would take the square of the time.
_TO_MARK = re.compile(r'[^"\[\]{},]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{},]*+)*+([\[\]{},"]|\Z)', re.DOTALL)
# A NUL or half of a surrogate pair, which JSON can only hold as escapes.
_ODD_CHARACTER = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_INT64 = range(-(2**63), 2**63)


def needs_care(block: bytes) -> bool:
    """Whether some row in these bytes may hold an integer beyond 64 bits or a NUL. Checked per block: it is cheaper."""
    return b"\\u0000" in block or _LONG_NUMBER in block.translate(_DIGITS_TO_ZERO)


def parse_object(raw: bytes, careful: bool = True, offset: int = 0) -> Row:
    """The object written in `raw`. Raises RowError.

    careful: what `needs_care` said about `raw` or bytes around it. offset: where `raw` begins, for messages.
    """
    if not _may_hold_too_much(raw) and (not careful or not needs_care(raw)):
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return parse_exactly(raw, offset)
        # Each key in the text is a quote followed by a colon, so equal numbers mean that no key came twice.
        if type(value) is dict and raw.count(b'":') == _count_keys(value, 1) and not _SPACED_COLON.search(raw):
            if len(raw) > MAX_FIELD_BYTES:
                _check_strings(value)
            _check_columns(value)
            return value
    return parse_exactly(raw, offset)


def _may_hold_too_much(raw: bytes) -> bool:
    """Whether there may be more values than a row may have; commas and brackets inside texts count as well."""
    return len(raw) > MAX_VALUES and raw.count(b",") + raw.count(b"[") + raw.count(b"{") > MAX_VALUES


def _check_columns(row: Row) -> None:
    if len(row) > MAX_COLUMNS:
        raise RowError("too_many_values", too_many_columns(len(row)).message)


def _count_keys(node: Any, depth: int) -> int:
    """Number of keys in the tree; negative when it is nested too deeply."""
    if depth > MAX_DEPTH:
        return -(1 << 40)
    if type(node) is dict:
        count = len(node)
        node = node.values()
    else:
        count = 0
    for child in node:
        kind = type(child)
        if kind is dict or kind is list:
            count += _count_keys(child, depth + 1)
    return count


def parse_exactly(raw: bytes, offset: int = 0) -> Row:
    """As `parse_object`, by the standard library, with a precise error."""
    value = _parse(raw, offset, "row")
    if not isinstance(value, dict):
        excerpt = raw.decode()
        raise RowError("not_object", 'A row is a JSON object: {"question": …, "answer": …}.', excerpt=excerpt)
    _check_strings(value)
    _check_columns(value)
    return value


def parse_document(raw: bytes, *, most: int = MAX_VALUES, what: str = "file") -> Any:
    """A small file of any JSON, such as project.json, or a request, as strictly as a row. Raises RowError.

    most: how many values it may hold.
    """
    value = _parse(raw.removeprefix(b"\xef\xbb\xbf"), 0, what, most)
    if len(raw) > MAX_FIELD_BYTES or _ODD_CHARACTER.search(raw):
        _check_strings(value)
    return value


def parse_loosely(raw: bytes, *, most: int) -> Any:
    """A request as other parsers read it, within the same bounds: to see what it is about before an importer reads it
    strictly, and names the rows that are not as they should be. Raises RowError."""
    return _loads(_text(raw, 0, most, "request"), "request", parse_int=float)


def _parse(raw: bytes, offset: int, what: str, most: int = MAX_VALUES) -> Any:
    return _loads(
        _text(raw, offset, most, what),
        what,
        object_pairs_hook=_unique_keys,
        parse_int=_integer,
        parse_float=_finite,
        parse_constant=_no_constant,
    )


def _text(raw: bytes, offset: int, most: int, what: str) -> str:
    text = decoded(raw, offset, what)
    _check_shape(text, most)
    return text


def decoded(raw: bytes, offset: int, what: str = "file") -> str:
    """offset: where `raw` begins in the file, or in the request. Raises RowError."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        what, instead = ("request", "Send") if what == "request" else ("file", "Save the file as")
        raise RowError(
            "encoding",
            f"Not UTF-8: byte {offset + error.start} of the {what} is 0x{raw[error.start]:02x}. {instead} UTF-8.",
            excerpt=raw[max(0, error.start - 20) : error.start + 20],
        ) from None


def _loads(text: str, what: str, **hooks: Any) -> Any:
    try:
        return json.loads(text, **hooks)
    except json.JSONDecodeError as error:
        raise RowError(
            "json",
            f"Not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1} of this {what}.",
            excerpt=text[max(0, error.pos - 30) :],
        ) from None


def _check_shape(text: str, most: int) -> None:
    """Refuses deep nesting, and more values than that, before any of it is made. Raises RowError. It stops where the
    text is no JSON any more, which the parser says better."""
    level = count = 0
    for found in _TO_MARK.finditer(text):
        mark = found[1]
        if mark in ("", '"'):
            return
        if mark in "]}":
            level -= 1
        else:
            count += 1
            level += mark != ","
        if level < 0:
            return
        if level > MAX_DEPTH:
            raise RowError("depth", f"Nested more than {MAX_DEPTH} levels deep.", excerpt=text)
        if count > most:
            raise RowError("too_many_values", f"Holds more than {most:,} values.", excerpt=text)


def _unique_keys(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RowError(
                    "duplicate_key", f"The key “{key[:80]}” comes twice in one object.", field=key[:80], excerpt=key
                )
            seen.add(key)
    return row


def _integer(digits: str) -> int:
    if len(digits) > 20 or (number := int(digits)) not in _INT64:
        raise RowError("number", "A whole number beyond 64 bits; write it as a string.", excerpt=digits)
    return number


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise RowError("number", "A number beyond the range of 64-bit floating point.", excerpt=digits)
    return number


def _no_constant(name: str) -> NoReturn:
    raise RowError("number", f"{name} is not JSON; write null for a missing number.", excerpt=name)


def _check_strings(node: Any, path: str = "") -> None:
    """Checks every string in the tree, keys included, as one of the field that it stands in."""
    if isinstance(node, str):
        check_text(node, path)
    elif isinstance(node, dict):
        for key, child in node.items():
            check_text(key, path or key)
            _check_strings(child, f"{path}.{key}" if path else key)
    elif isinstance(node, list):
        for index, child in enumerate(node):
            _check_strings(child, f"{path}[{index}]")


def check_text(text: str, field: str) -> None:
    """Refuses what PostgreSQL can't keep, and what is too long. Raises RowError."""
    if "\0" in text:
        raise RowError("nul", "Holds a NUL character, which a database text cannot keep.", field=field, excerpt=text)
    if len(text) * 4 > MAX_FIELD_BYTES or not text.isascii():
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            raise RowError(
                "surrogate",
                "Holds half of a surrogate pair (\\ud800–\\udfff), which is no character.",
                field=field,
                excerpt=text[max(0, error.start - 20) :],
            ) from None
        if size > MAX_FIELD_BYTES:
            raise RowError(
                "too_long", f"{size:,} bytes long; the limit is {MAX_FIELD_BYTES:,}.", field=field, excerpt=text
            )
