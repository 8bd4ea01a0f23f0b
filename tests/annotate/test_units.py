from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.models import Sample
from annotate.units import (
    KIND_ORDER,
    UNIT_PATTERN,
    has_unit,
    parse_unit,
    unit_count,
    unit_sort_key,
    unit_text,
    unit_title,
    units_of,
)

SAMPLE = Sample(
    question="Q",
    answer="An answer.",
    contexts=[{"id": "a", "text": "first"}, {"id": None, "text": "second"}],
    claims=[{"text": "a claim", "start": 0, "end": 2}],
    key_facts=["a fact"],
    entities=[],
)


@pytest.mark.parametrize(
    ("unit", "parsed"),
    [
        ("answer", ("answer", None)),
        ("sample", ("sample", None)),
        ("claim:0", ("claim", 0)),
        ("entity:999999", ("entity", 999999)),
    ],
)
def test_an_address_is_read(unit: str, parsed: tuple[str, int | None]) -> None:
    assert parse_unit(unit) == parsed


@pytest.mark.parametrize(
    "unit",
    [
        "", "claim", "claim:", "claim:-1", "claim:01", "claim:1.0", "claim: 1", "claim:1000000", "claim:٣", "claim:3\n",
        "answer\n", "\nanswer", "answer:0", "Claim:0", "claim:0 ", "context:1;drop", "fact:1:2",
        None, 3, True, ["answer"],
        {"unit": "answer"}, "x" * 100_000,
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_a_short_sentence(unit: Any) -> None:
    with pytest.raises(ValueError, match="write answer, sample, claim:0") as refused:
        parse_unit(unit)
    assert len(str(refused.value)) < 200


@given(
    st.text(max_size=12) | st.from_regex(r"(claim|context|fact|entity|answer|sample)(:[0-9]{0,7})?\n?", fullmatch=True)
)
def test_what_is_read_is_exactly_what_the_database_accepts(unit: str) -> None:
    # PostgreSQL's $ does not match before a final newline; \Z is its equal.
    accepted = re.match(UNIT_PATTERN.replace("$", r"\Z"), unit) is not None
    try:
        kind, index = parse_unit(unit)
    except ValueError:
        assert not accepted
    else:
        assert accepted
        assert unit == (kind if index is None else f"{kind}:{index}")


@pytest.mark.parametrize(
    ("kind", "count"), [("claim", 1), ("context", 2), ("fact", 1), ("entity", 0), ("answer", 1), ("sample", 1)]
)
def test_the_units_of_a_sample(kind: str, count: int) -> None:
    units = units_of(SAMPLE, kind)
    assert len(units) == unit_count(SAMPLE, kind) == count
    assert all(has_unit(SAMPLE, unit) for unit in units)
    assert units == sorted(units, key=unit_sort_key)


@pytest.mark.parametrize("unit", ["claim:1", "context:2", "fact:1", "entity:0", "claim:99"])
def test_a_unit_that_the_sample_does_not_have(unit: str) -> None:
    assert not has_unit(SAMPLE, unit)


@pytest.mark.parametrize(
    ("unit", "text"), [("claim:0", "a claim"), ("context:1", "second"), ("fact:0", "a fact"), ("answer", "An answer.")]
)
def test_the_words_of_a_unit(unit: str, text: str) -> None:
    assert unit_text(SAMPLE, unit) == text


def test_addresses_sort_by_number_and_in_the_order_of_work() -> None:
    units = ["answer", "claim:10", "claim:9", "sample", "entity:0", "context:1"]
    assert sorted(units, key=unit_sort_key) == ["claim:9", "claim:10", "context:1", "entity:0", "answer", "sample"]
    assert len(KIND_ORDER) == 6


def test_people_count_units_from_one() -> None:
    units = ["claim:1", "context:0", "fact:2", "entity:4", "answer", "sample"]
    assert [unit_title(unit) for unit in units] == [
        "Claim 2",
        "Context 1",
        "Key fact 3",
        "Entity 5",
        "Answer",
        "Sample",
    ]
