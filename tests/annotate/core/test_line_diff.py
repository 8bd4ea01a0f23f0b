"""Two texts, line by line and word by word."""

from __future__ import annotations

import pytest

from annotate.core.line_diff import Line, lines_between


def told(old: str, new: str) -> list[tuple[str, str]]:
    return [(line.sign, line.text) for line in lines_between(old, new)]


def changed(line: Line) -> list[str]:
    return [text for text, is_changed in line.pieces if is_changed]


def test_lines_that_came_went_and_stayed() -> None:
    assert told("one\ntwo\nthree", "one\nthree\r\nfour\n") == [
        (" ", "one"), ("-", "two"), (" ", "three"), ("+", "four"),
    ]  # fmt: skip
    assert told("", "one") == [("+", "one")]
    assert told("same", "same\n") == [(" ", "same")]


@pytest.mark.parametrize(
    ("old", "new", "gone", "added"),
    [
        ("Read all of it.", "Read half of it.", ["all"], ["half"]),
        ("Read it.", "Read it twice.", [], [" twice"]),
        # Each Chinese character is a word.
        ("请阅读全部上下文。", "请阅读部分上下文。", ["全"], ["分"]),
        # Nothing in common: two lines, and not one that was changed.
        ("Apples are red.", "请阅读。", ["Apples are red."], ["请阅读。"]),
    ],
)
def test_words_within_a_line(old: str, new: str, gone: list[str], added: list[str]) -> None:
    before, after = lines_between(old, new)
    assert ("".join(text for text, _ in before.pieces), "".join(text for text, _ in after.pieces)) == (old, new)
    assert (changed(before), changed(after)) == (gone, added)


def test_a_very_long_line_is_changed_as_a_whole() -> None:
    """Word by word its comparison would take minutes."""
    old, new = (" ".join(f"{word}{n}" for n in range(20_000)) for word in ("a", "b"))
    lines = lines_between(f"Same.\n{old}", f"Same.\n{new}")
    assert [(line.sign, line.pieces) for line in lines] == [
        (" ", (("Same.", False),)), ("-", ((old, True),)), ("+", ((new, True),)),
    ]  # fmt: skip


def test_a_long_text_with_blank_lines_between_is_compared() -> None:
    old, new = ("\n\n".join(f"{word} {n}." for n in range(2_000)) for word in ("Before", "After"))
    lines = lines_between(old, new)
    assert "\n".join(line.text for line in lines if line.sign != "+") == old
    assert "\n".join(line.text for line in lines if line.sign != "-") == new
