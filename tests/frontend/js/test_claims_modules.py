"""Where claims can be cut and what can be undone: the editor's pure module, in a real browser without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page


def call(page: Page, name: str, *given: Any) -> Any:
    return page.evaluate(f"async (given) => (await import('/data/claims-words.js')).{name}(...given)", list(given))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It opens 😀 (at nine).", ["It", "opens", "(at", "nine)."]),
        ("She said “yes”, twice!", ["She", "said", "“yes”,", "twice!"]),
        ("", []),
        (" … ", []),
    ],
)
def test_words_keep_their_brackets_and_stops(modules: Page, text: str, words: list[str]) -> None:
    found = call(modules, "wordsOf", text)
    units = text.encode("utf-16-le")
    assert [units[2 * word["start"] : 2 * word["end"]].decode("utf-16-le") for word in found] == words


def test_chinese_is_cut_between_words(modules: Page) -> None:
    cuts = call(modules, "cutsOf", "前台九点开门，周六不开门。")
    assert 0 < len(cuts) < 12
    assert 7 in cuts


def test_offsets_become_code_points(modules: Page) -> None:
    assert [call(modules, "toPoints", "a😀b", at) for at in (0, 1, 3, 4)] == [0, 1, 2, 3]


def step(revision: int, op: str, to: int | None = None) -> dict[str, Any]:
    return {"revision": revision, "change": {"op": op} if to is None else {"op": op, "revision": to}}


@pytest.mark.parametrize(
    ("history", "past", "future"),
    [
        ([], [], []),
        ([step(1, "imported")], [], []),
        ([step(1, "imported"), step(2, "split"), step(3, "drop")], [1, 2], []),
        # Back, back, and on again.
        ([step(1, "imported"), step(2, "split"), step(3, "drop"), step(4, "restore_revision", 2)], [1], [3]),
        (
            [
                step(1, "imported"), step(2, "split"), step(3, "drop"), step(4, "restore_revision", 2),
                step(5, "restore_revision", 1), step(6, "restore_revision", 2),
            ],
            [1],
            [3],
        ),
        # A new change forgets what could be redone; checking changes nothing.
        (
            [
                step(1, "imported"), step(2, "split"), step(3, "restore_revision", 1),
                step(4, "checked"), step(5, "add"),
            ],
            [1],
            [],
        ),
        # Somewhere else altogether.
        ([step(1, "imported"), step(2, "split"), step(3, "drop"), step(4, "restore_revision", 1)], [1, 2, 3], []),
    ],
)  # fmt: skip
def test_what_can_be_undone_and_redone(
    modules: Page,
    history: list[dict[str, Any]],
    past: list[int],
    future: list[int],
) -> None:
    assert call(modules, "replay", history[::-1]) == {"past": past, "future": future}
