"""The fast parser and the exact one give the same verdict on every input."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotate.files.problems import RowError
from annotate.files.strict_json import parse_document, parse_exactly, parse_object

_numbers = st.one_of(
    st.integers(-(2**66), 2**66), st.floats(), st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1])
)
_scalars = st.one_of(st.none(), st.booleans(), _numbers, st.text(st.characters(codec=None)))
_values = st.recursive(
    _scalars, lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(max_size=3), inner)), max_leaves=25
)
_separators = st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : "), (",\t", "\t:")])


def verdict(parse: Any, raw: bytes) -> Any:
    try:
        return parse(raw)
    except RowError as error:
        return error.code, error.field


def agree(raw: bytes) -> None:
    fast, exact = verdict(parse_object, raw), verdict(parse_exactly, raw)
    assert fast == exact
    if isinstance(fast, dict):
        assert json.dumps(fast) == json.dumps(exact)


@given(st.dictionaries(st.text(max_size=4), _values), _separators, st.booleans())
@settings(max_examples=60, deadline=None)
def test_objects(value: dict[str, Any], separators: tuple[str, str], escaped: bool) -> None:
    agree(json.dumps(value, separators=separators, ensure_ascii=escaped).encode("utf-8", "surrogatepass"))


@given(st.lists(st.tuples(st.sampled_from(["a", "b", 'c"', "a:", '":']), _scalars)), _separators)
@settings(max_examples=150, deadline=None)
def test_repeated_keys(pairs: list[tuple[str, Any]], separators: tuple[str, str]) -> None:
    comma, colon = separators
    members = comma.join(json.dumps(key) + colon + json.dumps(value) for key, value in pairs)
    agree(b"{" + members.encode() + b"}")


@given(st.text(alphabet='{}[]":,\\ue019-+.Ntrf \n\t', max_size=40))
@example('{"a":1,"a" :2}')
@example('{"a":"\\":","a" :2}')
@example('{"a": 1e400}')
@example('{"a": -0}')
@example('{"a": 1.0E+5, "b": 12345678901234567890.5}')
@example('{"\\u0061": 1, "a": 2}')
@example("{" + '"a":{' * 30 + "}" * 31)
@settings(max_examples=200, deadline=None)
def test_scraps(text: str) -> None:
    agree(text.encode())


@given(st.binary(max_size=30))
def test_bytes(raw: bytes) -> None:
    agree(raw)
    agree(b'{"a":"' + raw + b'"}')


@pytest.mark.parametrize("depth", [19, 20, 21])
def test_depth(depth: int) -> None:
    raw = b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
    agree(raw)
    assert isinstance(verdict(parse_object, raw), dict) == (depth <= 20)


def test_offset_of_invalid_utf8_is_that_in_the_file() -> None:
    with pytest.raises(RowError, match="byte 1007 of the file is 0xff"):
        parse_object(b'{"a": "\xff"}', False, 1000)


def test_a_document_may_be_any_json_but_is_read_as_strictly() -> None:
    assert parse_document(b'\xef\xbb\xbf[1, {"a": "b"}]') == [1, {"a": "b"}]
    for raw, code in (
        (b'[{"a": 1, "a": 2}]', "duplicate_key"),
        (b"[NaN]", "number"),
        (b'["\\u0000"]', "nul"),
        (b"\xff", "encoding"),
        (b"[" * 100_000, "depth"),
        (b"[1", "json"),
    ):
        with pytest.raises(RowError) as refused:
            parse_document(raw)
        assert refused.value.code == code


@pytest.mark.parametrize("raw", [b"{" + b"x" * 100_000, b'{"a": 1}' + b" " * 100_000])
def test_what_is_long_behind_the_last_comma_or_bracket_is_read_in_no_time(raw: bytes) -> None:
    before = time.process_time()
    verdict(parse_object, raw)
    verdict(parse_document, raw)
    assert time.process_time() - before < 1
