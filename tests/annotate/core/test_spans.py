from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.core.errors import Invalid
from annotate.core.spans import (
    MAX_SPANS,
    check_evidence,
    citations_in,
    malformed_citations_in,
    relocate,
    without_citations,
)
from tests.conftest import ROOT

CONTEXTS = [
    {"id": "a", "text": "a😀b is open"},
    {"id": None, "text": "营业时间：九点"},
    {"id": None, "text": "e\u0301 👩‍👩‍👧 end"},
]
SHARED = json.loads((ROOT / "tests" / "fixtures" / "spans.json").read_text())


def span(context: Any = 0, start: Any = 0, end: Any = 1, quote: Any = "a") -> dict[str, Any]:
    return {"context": context, "start": start, "end": end, "quote": quote}


@pytest.mark.parametrize(
    "given_span",
    [
        span(0, 0, 3, "a😀b"),
        span(0, 2, 3, "b"),  # in UTF-16 the b is at 3
        span(1, 5, 7, "九点"),
        span(2, 0, 2, "e\u0301"),
        span(2, 3, 8, "👩‍👩‍👧"),
        span(0, 0, len(CONTEXTS[0]["text"]), CONTEXTS[0]["text"]),
    ],
)
def test_offsets_are_code_points(given_span: dict[str, Any]) -> None:
    assert check_evidence([given_span], CONTEXTS) == [given_span]


@pytest.mark.parametrize(
    ("evidence", "place"),
    [
        ("text", "evidence"), ({"context": 0}, "evidence"), (None, "evidence"), ([span()] * (MAX_SPANS + 1), "at most"),
        ([None], r"evidence\[0\]"), (["a"], r"evidence\[0\]"), ([{}], r"evidence\[0\]"),
        ([{**span(), "__proto__": 1}], r"evidence\[0\]"),
        ([{"context": 0, "start": 0, "end": 1}], r"evidence\[0\]"),
        ([span(), span(context=3)], r"evidence\[1\].*context 3 not found"),
        ([span(context=-1)], "context -1 not found"), ([span(context=True)], "whole numbers"),
        ([span(context="0")], "whole numbers"),
        ([span(start=0.0)], "whole numbers"), ([span(end=None)], "whole numbers"), ([span(end=True)], "whole numbers"),
        ([span(0, 1, 1, "")], "than start"), ([span(0, 2, 1, "")], "than start"), ([span(0, -1, 1, "a")], "than start"),
        ([span(0, 0, 1, "")], "not found in"), ([span(0, 0, 1, None)], "be text"), ([span(0, 0, 1, 7)], "be text"),
        ([span(0, 0, 1, "A")], "not found in context"), ([span(0, 0, 1, "a\x00")], "not found in context"),
        ([span(0, 5, 7, "九点")], "not found in context 0"),  # it stands in another one
        ([span(2, 0, 2, "\u00e9")], "not found in context"),  # the same to the eye, other characters
    ],
)  # fmt: skip
def test_a_bad_span_is_refused_and_its_place_named(evidence: Any, place: str) -> None:
    with pytest.raises(Invalid, match=place) as refused:
        check_evidence(evidence, CONTEXTS)
    assert refused.value.code == "bad_evidence"


@given(st.text(min_size=1), st.data())
def test_every_piece_of_every_text_can_be_quoted(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert check_evidence([span(0, start, end, text[start:end])], [{"text": text}])


@pytest.mark.parametrize("case", SHARED["places"], ids=lambda case: case["name"])
def test_the_fixture_shared_with_the_browser_holds_on_this_side(case: dict[str, Any]) -> None:
    text = case["text"]
    for there in case["spans"]:
        given_span = span(0, there["start"], there["end"], there["quote"])
        assert check_evidence([given_span], [{"text": text}]) == [given_span]
        # What the browser would send if it forgot to convert.
        in_utf16 = text.encode("utf-16-le")
        assert [len(in_utf16[: 2 * place].decode("utf-16-le")) for place in there["utf16"]] == [
            there["start"],
            there["end"],
        ]


@pytest.mark.parametrize("case", SHARED["relocations"], ids=lambda case: case["name"])
def test_a_span_is_found_again_by_its_quote(case: dict[str, Any]) -> None:
    found = relocate(case["text"], case["span"])
    assert found == (case["found"] and {**case["span"], "start": case["found"][0], "end": case["found"][1]})


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (span(0, 3, 4, "b"), span(0, 2, 3, "b")),  # counted in UTF-16
        (span(0, 0, 99, "a"), span(0, 0, 1, "a")),
        (span(0, 0, 10**30, "a"), span(0, 0, 1, "a")),
        (span(0, 10**30, 10**30 + 1, "open"), span(0, 7, 11, "open")),
        (span(1, 0, 2, "九点"), span(1, 5, 7, "九点")),
    ],
)
def test_a_span_that_has_shifted_is_taken_where_it_stands(sent: dict[str, Any], stored: dict[str, Any]) -> None:
    assert check_evidence([sent], CONTEXTS) == [stored]


@given(st.text("ab😀", min_size=1, max_size=12), st.text("ab😀", min_size=1, max_size=3), st.integers(0, 14))
def test_no_occurrence_is_nearer_than_the_one_found(text: str, quote: str, start: int) -> None:
    starts = [n for n in range(len(text)) if text.startswith(quote, n)]
    found = relocate(text, span(0, start, start + len(quote), quote))
    nearest = min(starts, key=lambda n: (abs(n - start), n), default=None)
    assert (found and found["start"]) == nearest


CITATIONS = json.loads((ROOT / "tests" / "fixtures" / "citations.json").read_text())


@pytest.mark.parametrize("case", CITATIONS, ids=lambda case: case["name"])
def test_citations_shared_with_the_browser_hold_on_this_side(case: dict[str, Any]) -> None:
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


@pytest.mark.parametrize(
    "text",
    [
        *("[1" + "," * 100_000, "[" * 100_000, "[1" + " " * 100_000, "[1" + ",1" * 50_000),
        *("[1," * 30_000, "【1:1†" * 20_000, "【1†" * 30_000, "(Source " * 12_000, "(Source 1 and " * 7_000),
        # Blanks on either side of a colon that is not there.
        "[" + "source  1," * 15,
    ],
)
def test_a_hostile_answer_is_read_in_no_time(text: str) -> None:
    before = time.process_time()
    assert citations_in(text) == malformed_citations_in(text) == []
    assert without_citations(text) == text
    assert time.process_time() - before < 1


@pytest.mark.parametrize(
    ("text", "malformed", "rest"),
    [
        ("Nine [3-1], ten [1, ] and [,2].", ["[3-1]", "[1, ]", "[,2]"], "Nine  , ten   and  ."),
        ("Nine [1］ and 【4:0†source】.", ["[1］", "【4:0†source】"], "Nine   and  ."),
        ("Nine [1] [2, 3] [^4] (Source 5).", [], "Nine        ."),
        ("In [2023] he wrote a[i], [], [ ], [1.5], [1a], (2), {3}.", [], None),
    ],
)
def test_malformed_citations_are_told_from_others(text: str, malformed: list[str], rest: str | None) -> None:
    assert [text[start:end] for start, end in malformed_citations_in(text)] == malformed
    assert without_citations(text) == (text if rest is None else rest)


@given(st.text("[]［］【】()†^,;-: 0123Sourcedoc来源和and", max_size=80))
def test_a_text_without_citations_is_the_same_if_it_had_none(text: str) -> None:
    cited = bool(citations_in(text) or malformed_citations_in(text))
    assert (without_citations(text) != text) == cited
