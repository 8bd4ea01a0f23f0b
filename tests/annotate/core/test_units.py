from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from annotate.core.units import (
    KIND_ORDER,
    LISTED_KINDS,
    UNIT_PATTERN,
    UnitCount,
    count_sql,
    has_unit,
    indices_sql,
    live_claims,
    parse_unit,
    reading_order,
    unit_count,
    unit_indices,
    unit_number,
    unit_sort_key,
    unit_text,
    unit_title,
    units_of,
)
from annotate.models import Project, Sample

EDITED = Sample(
    answer="One. Two. Three.",
    claims=[
        {"text": "Two.", "start": 5, "end": 9},
        {"text": "gone", "start": 0, "end": 4, "dropped": True},
        {"text": "in other words", "start": None, "end": None, "dropped": False, "from": ["a file's own"]},
        {"text": "One.", "start": 0, "end": 4, "from": [1]},
    ],
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


def test_a_dropped_claim_is_no_unit_and_the_others_keep_their_index() -> None:
    assert units_of(EDITED, "claim") == ["claim:0", "claim:2", "claim:3"]
    assert unit_count(EDITED, "claim") == 3
    assert [has_unit(EDITED, f"claim:{index}") for index in range(5)] == [True, False, True, True, False]
    assert [claim["index"] for claim in live_claims(EDITED)] == [0, 2, 3]
    # What was said of it before is still readable.
    assert unit_text(EDITED, "claim:1") == "gone"


def test_people_count_claims_as_they_stand_in_the_answer() -> None:
    assert reading_order(EDITED.claims) == [3, 0, 2]
    titles = [unit_title(unit, unit_number(EDITED, unit)) for unit in units_of(EDITED, "claim")]
    assert titles == ["Claim 2", "Claim 3", "Claim 1"]
    assert unit_title("claim:3") == "Claim 4"
    assert unit_number(SAMPLE, "context:1") == 2


def test_the_database_counts_the_same_units(db: None) -> None:
    project = Project.objects.create(slug="p", name="P")
    for number, sample in enumerate((EDITED, SAMPLE, Sample(answer="a"))):
        fields = {name: getattr(sample, name) for name in ("answer", *LISTED_KINDS.values())}
        stored = Sample.objects.create(project=project, external_id=f"s{number}", content_hash=b"0", **fields)
        for kind in LISTED_KINDS:
            counted = Sample.objects.annotate(units=UnitCount(kind)).get(pk=stored.pk)
            with connection.cursor() as cursor:
                cursor.execute(
                    f"SELECT {indices_sql(kind)}, {count_sql(kind)} FROM annotate_sample s WHERE id = %s", [stored.pk]
                )
                indices, count = cursor.fetchone()
            assert indices == list(unit_indices(sample, kind))
            assert counted.units == count == len(indices)
