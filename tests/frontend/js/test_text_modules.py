"""What the workspace works out about texts: places, citations, sentences, hits, unseen characters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from annotate.core.texts import same_words
from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIXTURES = ROOT / "tests" / "fixtures"
SPANS = json.loads((FIXTURES / "spans.json").read_text())
CITATIONS = json.loads((FIXTURES / "citations.json").read_text())


@pytest.mark.parametrize("case", SPANS["places"], ids=lambda case: case["name"])
def test_utf16_becomes_code_points_again(modules: Page, case: dict[str, Any]) -> None:
    found = modules.evaluate(
        """async ({ text, spans }) => {
          const { spanAt } = await import("/base/spans.js");
          return spans.map(({ utf16: [start, end] }) => spanAt(text, { context: 2, start, end }));
        }""",
        case,
    )
    assert found == [
        {"context": 2, "start": span["start"], "end": span["end"], "quote": span["quote"]} for span in case["spans"]
    ]


def test_half_a_pair_of_surrogates_is_before_it(modules: Page) -> None:
    assert modules.evaluate("async () => (await import('/base/spans.js')).toCodePoints('a😀b', [4, 2, 1, 9])") == [
        3,
        1,
        1,
        3,
    ]


@pytest.mark.parametrize("case", SPANS["relocations"], ids=lambda case: case["name"])
def test_a_span_is_found_again_by_its_quote(modules: Page, case: dict[str, Any]) -> None:
    found = modules.evaluate("async ({ text, span }) => (await import('/base/spans.js')).relocate(text, span)", case)
    assert found == (case["found"] and {**case["span"], "start": case["found"][0], "end": case["found"][1]})


@pytest.mark.parametrize(
    ("places", "lanes"),
    [
        ([(0, 0, 9), (0, 9, 12)], [0, 0]),
        ([(0, 0, 9), (0, 8, 12)], [0, 1]),
        ([(0, 0, 9), (1, 0, 9)], [0, 0]),
        ([(0, 2, 3), (0, 0, 9), (0, 1, 5)], [2, 0, 1]),
        ([(0, 0, 4), (0, 3, 9), (0, 5, 7)], [0, 1, 0]),
        ([(0, 0, 9)] * 4, [0, 1, 2, 0]),
    ],
)
def test_places_that_overlap_lie_in_different_lanes(
    modules: Page, places: list[tuple[int, int, int]], lanes: list[int]
) -> None:
    named = [dict(zip(("context", "start", "end"), place, strict=True)) for place in places]
    assert modules.evaluate("async (places) => (await import('/base/spans.js')).lanesOf(places, 3)", named) == lanes


def test_pieces_of_a_long_text_begin_after_line_ends(modules: Page) -> None:
    lines = "".join(f"{n} {'x' * 97}\n" for n in range(100))
    begins = modules.evaluate("async (text) => (await import('/base/spans.js')).piecesOf(text)", lines)
    assert len(begins) == 3
    assert all(begin == 0 or lines[begin - 1] == "\n" for begin in begins)
    for text, expected in (("", []), ("short", [0]), ("x" * 9000, [0]), ("x" * 9000 + "\n", [0])):
        assert modules.evaluate("async (text) => (await import('/base/spans.js')).piecesOf(text)", text) == expected


@pytest.mark.parametrize("case", CITATIONS, ids=lambda case: case["name"])
def test_citations_are_those_of_the_server(modules: Page, case: dict[str, Any]) -> None:
    found = modules.evaluate(
        """async ({ text, contexts }) => {
          const { citationsIn, isThere } = await import("/label/citations.js");
          const quote = ({ start, end }) => text.slice(start, end);
          return citationsIn(text).map((one) => ({ ...one, quote: quote(one), exists: isThere(one, contexts) }));
        }""",
        case,
    )
    assert found == [
        {
            "start": there["utf16"][0],
            "end": there["utf16"][1],
            **{name: there[name] for name in ("first", "last", "quote", "exists")},
        }
        for there in case["citations"]
    ]


SENTENCES = """async ([text, language]) => {
  const { sentencesOf } = await import("/label/sentences.js");
  return sentencesOf(text, language).map(({ start, end }) => text.slice(start, end));
}"""


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        ("One. Two!  Three?\n\nFour", "en", ["One.", "Two!", "Three?", "Four"]),
        ("营业时间：九点。周日休息！退款？", "zh-hans", ["营业时间：九点。", "周日休息！", "退款？"]),
        ("It costs 2.5 €. 😀 Yes.", "en", ["It costs 2.5 €.", "😀 Yes."]),
        ("a heading\na line", "en", ["a heading", "a line"]),
        (" \n ", "en", []),
    ],
)
def test_sentences(modules: Page, text: str, language: str, sentences: list[str]) -> None:
    assert modules.evaluate(SENTENCES, [text, language]) == sentences


def test_sentences_without_a_segmenter_are_rough(modules: Page) -> None:
    modules.evaluate("delete Intl.Segmenter")
    text = "One. Two! 九点。周日休息\nlast"
    assert modules.evaluate(SENTENCES, [text, "en"]) == ["One.", "Two!", "九点。", "周日休息", "last"]


def test_a_walk_through_pieces_meets_every_sentence_once_and_back_again(modules: Page) -> None:
    text = "".join(f"First {n}. Second {n}.\n{chr(10) * (n % 3)}" for n in range(600))
    there, back = modules.evaluate(
        """async (text) => {
          const { Sentences } = await import("/label/sentences.js");
          const { piecesOf } = await import("/base/spans.js");
          const sentences = new Sentences(text, piecesOf(text), "en");
          const there = [], back = [];
          const words = ({ start, end }) => text.slice(start, end);
          for (let one = sentences.at(0); one; one = sentences.after(one.end)) there.push(words(one));
          for (let one = sentences.at(text.length); one; one = sentences.before(one.start)) back.unshift(words(one));
          return [there, back];
        }""",
        text,
    )
    assert there == back == [words for n in range(600) for words in (f"First {n}.", f"Second {n}.")]


@pytest.mark.parametrize(
    ("text", "query", "hits"),
    [
        ("Cafe\u0301, café and CAFE", "cafe", ["Cafe\u0301", "café", "CAFE"]),
        ("Ｃａｆｅ and ﾃﾞｰﾀ, データ", "データ", ["ﾃﾞｰﾀ", "データ"]),
        ("Ｃａｆｅ", "café", ["Ｃａｆｅ"]),
        ("退款。退 款", "退款", ["退款"]),
        ("so\u00adft hy\u200bphen", "soft hyphen", ["so\u00adft hy\u200bphen"]),
        ("😀a😀b", "😀", ["😀", "😀"]),
        ("aaaa", "aa", ["aa", "aa"]),
        ("한국어", "한", ["한"]),
        ("מְלָךְ מלך", "מלך", ["מְלָךְ", "מלך"]),
        ("ﬁne", "fi", ["ﬁ"]),
        ("İstanbul", "istanbul", ["İstanbul"]),
        ("。退款", "退款", ["退款"]),
        ("กำ กา", "กา", ["กา"]),
        ("が か", "か", ["か"]),
        ("a.b", ".", ["."]),
        ("nothing", "x", []),
        ("nothing", "", []),
        ("nothing", "\u200b", []),
    ],
)
def test_search_reads_as_people_do(modules: Page, text: str, query: str, hits: list[str]) -> None:
    found = modules.evaluate(
        """async ([text, query]) => {
          const { findAll, fold } = await import("/label/fold.js");
          return findAll(fold(text), query).map(({ start, end }) => text.slice(start, end));
        }""",
        [text, query],
    )
    assert found == hits


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain text\n\ttab", []),
        ("a\u200bb\u00a0c\u00add\ufeff", ["ZWSP", "NBSP", "SHY", "BOM"]),
        ("\u202eevil\u202c \u2066x\u2069", ["RLO", "PDF", "LRI", "PDI"]),
        ("👩‍👩‍👧 and 👍🏽‍", ["ZWJ"]),  # a family is one picture; the last joiner joins nothing
        ("🏴\U000e0067\U000e0062\U000e007f", []),  # a flag
        ("hi\U000e0068\U000e0069", ["TAG h", "TAG i"]),  # words for machines only
        ("x\u2028y\u2029\u000b\u0007", ["LSEP", "PSEP", "U+000B", "U+0007"]),
    ],
)
def test_unseen_characters_have_names(modules: Page, text: str, names: list[str]) -> None:
    found = modules.evaluate(
        "async (text) => (await import('/label/invisible.js')).unseenIn(text).map(({ name }) => name)", text
    )
    assert found == names


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("soft\u00adhyphen and\u00a0space", {}),
        ("می\u200cخواهم", {}),  # Persian is spelled with it
        ("pass\u200cword 1\u200d", {"ZWNJ": 1, "ZWJ": 1}),
        ("a\u200bb\u200b \u202ec", {"ZWSP": 2, "RLO": 1}),
        ("hi\U000e0068\U000e0069", {"TAG": 2}),
    ],
)
def test_the_hint_is_about_what_deceives(modules: Page, text: str, hint: dict[str, int]) -> None:
    script = "async (text) => Object.fromEntries((await import('/label/invisible.js')).suspectsIn([text, '']))"
    assert modules.evaluate(script, text) == hint


def test_marks_leave_the_text_what_it_was(modules: Page) -> None:
    result = modules.evaluate(
        """async (text) => {
          const { markUnseen, unmarkUnseen } = await import("/label/invisible.js");
          const root = document.body.appendChild(document.createElement("p"));
          root.append(text.slice(0, 4), Object.assign(document.createElement("b"), { textContent: text.slice(4) }));
          const before = root.innerHTML;
          const marked = [markUnseen(root), markUnseen(root)];
          const names = [...root.querySelectorAll(".unseen")].map((mark) => mark.dataset.name);
          const same = root.textContent === text;
          const unmarked = [unmarkUnseen(root), unmarkUnseen(root)];
          return { marked, names, same, unmarked, restored: root.innerHTML === before, nodes: root.childNodes.length };
        }""",
        "a\u200bb\u202e\u00a0c\ufeff",
    )
    assert result == {
        "marked": [True, False],
        "names": ["ZWSP", "RLO", "NBSP", "BOM"],
        "same": True,
        "unmarked": [True, False],
        "restored": True,
        "nodes": 2,
    }


def test_places_in_a_text_that_is_cut_and_marked(modules: Page) -> None:
    found = modules.evaluate(
        """async () => {
          const { offsetIn, rangeOf, selectedIn } = await import("/label/places.js");
          document.body.innerHTML = "<div id=a><bdi>one </bdi><bdi>tw<i>o</i> three</bdi></div><p>after</p>";
          const root = document.getElementById("a");
          const text = root.textContent;
          const ranges = [];
          for (let start = 0; start < text.length; start += 1) {
            for (let end = start + 1; end <= text.length; end += 1) {
              const range = rangeOf(root, start, end);
              const from = offsetIn(root, range.startContainer, range.startOffset);
              const to = offsetIn(root, range.endContainer, range.endOffset);
              const same = range.toString() === text.slice(start, end);
              if (!same || from !== start || to !== end) ranges.push([start, end]);
            }
          }
          const selected = new Range();
          selected.setStart(root.querySelector("i").firstChild, 0);
          selected.setEnd(document.querySelector("p").firstChild, 2);
          const across = selectedIn(root, selected);
          selected.setStart(document.querySelector("p"), 0);
          return { wrong: ranges, across: text.slice(across.start, across.end), outside: selectedIn(root, selected) };
        }"""
    )
    assert found == {"wrong": [], "across": "o three", "outside": None}


ANSWERS = [
    "One.\nTwo.", "One.\r\nTwo.", "One.\rTwo.", " One.\nTwo.\t\r\n", "One.\n\nTwo.", "One. Two.", "one.\nTwo.",
    "One.\nTwo.\u00a0", "\ufeffOne.\nTwo.", "One.\nTwo.\x85", "One.\nTwo.\u2028", "One.\nTwo.\x1f", "One.\nTwo.\x0b",
]  # fmt: skip


def test_page_and_server_agree_on_what_a_correction_changes(modules: Page) -> None:
    script = """async (texts) => {
      const { textValue } = await import("/label/steps.js");
      return texts.map((start) => texts.map((words) => textValue({ start }, words) === null));
    }"""
    assert modules.evaluate(script, ANSWERS) == [[same_words(one, other) for other in ANSWERS] for one in ANSWERS]
