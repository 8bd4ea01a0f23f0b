"""Citations on the fixture that the browser's side is tested on as well, and what may surround them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.core.spans import citations_in
from tests.conftest import ROOT

SHARED = json.loads((ROOT / "tests" / "fixtures" / "citations.json").read_text())


@pytest.mark.parametrize("case", SHARED, ids=lambda case: case["name"])
def test_the_fixture_shared_with_the_browser_holds_on_this_side(case: dict[str, Any]) -> None:
    found = citations_in(case["text"])
    assert [(c.start, c.end, c.first, c.last, c.exists(case["contexts"])) for c in found] == [
        (c["start"], c["end"], c["first"], c["last"], c["exists"]) for c in case["citations"]
    ]
    assert [case["text"][c.start : c.end] for c in found] == [c["quote"] for c in case["citations"]]


@given(st.text("[]［］【】0１9,、- ab", max_size=40))
def test_citations_never_overlap_and_lie_in_the_text(text: str) -> None:
    ends = 0
    for citation in citations_in(text):
        assert ends <= citation.start < citation.end <= len(text)
        assert citation.first <= citation.last
        ends = citation.end


@pytest.mark.parametrize("text", ["[1" + "," * 100_000, "[" * 100_000, "[1" + " " * 100_000, "[1" + ",1" * 50_000])
def test_a_hostile_answer_is_read_in_no_time(text: str) -> None:
    before = time.process_time()
    assert citations_in(text) == []
    assert time.process_time() - before < 1
