"""Patterns of words: planted ones are found, and nothing is where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from alignment.aligning.wording import FEWEST_OTHERS, Pattern, patterns

CAUSES = [["wrong", "date"], ["currency", "rounded"], ["cites", "footnote", "only"]]
FUNCTION_WORDS = ["the", "a", "of", "is", "in", "was"]


def texts(count: int, causes: list[list[str]], seed: int, length: int = 15) -> list[list[str]]:
    """Of words by Zipf's law and function words; a cause in four of five, where there are causes."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 1001)
    made = []
    for number in range(count):
        words = [f"w{at}" for at in rng.choice(1000, length, p=shares / shares.sum())]
        words += rng.choice(FUNCTION_WORDS, 6).tolist()
        at = int(rng.integers(0, len(words)))
        cause = causes[number % len(causes)] if causes and number % 5 else []
        made.append([*words[:at], *cause, *words[at:]])
    return made


def found(some: list[list[str]], others: list[list[str]], seed: int = 1) -> list[Pattern]:
    apart = [f"other {at}" for at in range(len(others))]
    return patterns(some, range(len(some)), others, apart, np.random.default_rng(seed))


@pytest.mark.parametrize("count", [200, 3_000])
def test_planted_causes_are_found_with_their_names(count):
    """Also where more texts are than are grouped, and for whatever seed."""
    some, others = texts(count, CAUSES, 3), texts(400, [], 4)
    for seed in (1, 2):
        these = found(some, others, seed)
        assert sorted(one.terms[0] for one in these) == ["cites footnote only", "currency rounded", "wrong date"]
        for one in these:
            cause = [" ".join(words) for words in CAUSES].index(one.terms[0])
            assert (one.rows % 3 == cause).all()
            # A word that is telling by chance may draw a few away.
            assert one.rows.size > 0.9 * count * 4 / 15
    again = found(some, others, 1)
    assert [one.rows.tolist() for one in again] == [one.rows.tolist() for one in found(some, others, 1)]


def test_one_cause_is_one_pattern():
    assert [(one.rows.size, one.terms) for one in found([["wrong", "date"]] * 30, texts(100, [], 4))] == [
        (30, ("wrong date",))
    ]


def test_texts_like_all_others_have_no_pattern():
    """In 40 worlds without a cause, at most a few words come out by chance (5 % of worlds, binomial tolerance)."""
    claimed = sum(bool(found(texts(60, [], seed), texts(120, [], 1000 + seed))) for seed in range(40))
    assert claimed <= 5


def test_what_is_as_common_in_others_groups_nothing():
    """People write of dates where the judge is right as well."""
    assert not found(texts(100, CAUSES[:1], 5), texts(100, CAUSES[:1], 6))


def test_scripts_without_blanks_are_named_in_one_piece():
    """Pairs of characters that overlap, as judges.kinds.lexical.texts splits them."""
    some = [["日期", "期错", "错误", f"甲{at}"] for at in range(12)]
    others = [["引用", "用正", "正确", f"乙{at}"] for at in range(30)]
    assert [one.terms for one in found(some, others)] == [("日期错误",)]


def test_hostile_texts():
    others = texts(60, [], 7)
    assert not found([], others)
    assert not found([[]] * 30, others)
    assert not found([["x" * 10_000]] * 30, others)
    assert not found([FUNCTION_WORDS] * 30, [FUNCTION_WORDS] * 60)
    assert not found([["wrong", "date"]] * 4, others)
    assert [one.terms for one in found([["x"]] * 30, others)] == [("x",)]
    # Nothing to compare with.
    assert not found([["wrong", "date"]] * 30, others[: FEWEST_OTHERS - 1])


def test_copies_of_one_sample_are_no_pattern():
    others = texts(60, [], 7)
    groups = ["a", "b"] * 15
    assert not patterns([["wrong", "date"]] * 30, groups, others, range(60), np.random.default_rng(1))


def test_unequal_columns_are_refused():
    others = texts(60, [], 7)
    with pytest.raises(ValueError, match="cluster"):
        patterns([["a"]] * 30, range(29), others, range(100, 160), np.random.default_rng(1))
