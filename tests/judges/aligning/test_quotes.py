"""A rule that quotes a text is found, however it is written; one that only speaks of the same is not."""

from __future__ import annotations

import pytest

from judges.aligning.quotes import Quotes

TEXT = "The pharmacy in the café’s old mill opens at nine on every second Monday of the month."
CHINESE = "老磨坊里的药店每逢第二个星期一的上午九点开门，其余日子不开。"


@pytest.mark.parametrize(
    "rule",
    [
        "Old mill opens at nine on every second day.",
        "THE PHARMACY IN THE CAFÉ’S OLD MILL, and others.",
        "Where it says: opens — at «nine», on\n every   second... Monday of!",
        "ｏｐｅｎｓ ａｔ ｎｉｎｅ ｏｎ ｅｖｅｒｙ ｓｅｃｏｎｄ Ｍｏｎｄａｙ ｏｆ",
        "the pharmacy in the cafe\u0301's old mill is open",
        "the pharmacy in the cafe's old mill is open",
        "op\u200bens at ni\u00adne on every second Mon\u2060day of",
        "_opens_ _at_ _nine_ _on_ _every_ _second_ _Monday_ _of_",
    ],
)
def test_quoted(rule: str) -> None:
    assert Quotes([rule, "Go by the contexts."]).of(TEXT) == {rule}


@pytest.mark.parametrize(
    "rule",
    [
        "药店每逢第二个星期一的上午九点开门",
        "药 店 每 逢 第 二 个 星 期 一 的 上 午 九 点 开 门",
        "药店每逢，第二个「星期一」的上午九点开",
    ],
)
def test_quoted_without_spaces(rule: str) -> None:
    assert Quotes([rule]).of(CHINESE) == {rule}


def test_a_short_text_is_quoted_as_a_whole() -> None:
    rule = "A claim like “take two tablets at noon” is not supported."
    assert Quotes([rule]).of("Take two tablets at noon.") == {rule}
    assert Quotes(["“请在中午服用两片药片”不算有依据。"]).of("请在中午服用两片药片。")
    assert not Quotes([rule]).of("Not supported."), "any rule says that"


def test_what_quotes_nothing() -> None:
    rules = [
        "A claim that names when a pharmacy opens needs a source for the very day.",
        "提到开门时间的说法需要来源。",
    ]
    quotes = Quotes(rules)
    assert not quotes.of(TEXT)
    assert not quotes.of(CHINESE)
    assert not quotes.of("")
