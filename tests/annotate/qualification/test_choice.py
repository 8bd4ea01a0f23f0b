"""Which samples a training, a test and each try are made of."""

from __future__ import annotations

import random
from typing import Any

from annotate.qualification.choice import draw, split, varied

Options = dict[int, set[tuple[Any, str]]]


def options(**counts: int) -> Options:
    """So many samples of each option."""
    listed = [option for option, n in counts.items() for _sample in range(n)]
    return {number: {("c", option)} for number, option in enumerate(listed)}


def held(found: Options, samples: list[int]) -> set[str]:
    return {option for sample in samples for _criterion, option in found[sample]}


def test_rare_options_are_in_the_training_and_in_the_test() -> None:
    found = options(yes=36, no=2, unsure=2)
    for seed in range(20):
        training, test = split(found, {}, training=10, test=30, rng=random.Random(seed))
        assert (len(training), len(test)) == (10, 30)
        assert not set(training) & set(test)
        assert held(found, training) == held(found, test) == {"yes", "no", "unsure"}


def test_groups_are_not_split() -> None:
    found = options(yes=20, no=20)
    groups = {sample: f"question {sample // 4}" for sample in found}
    training, test = split(found, groups, training=8, test=20, rng=random.Random(1))
    assert not {groups[one] for one in training} & {groups[one] for one in test}
    assert training
    assert len(test) == 20


def test_one_draw_leaves_rare_options_to_the_next() -> None:
    found = options(yes=28, no=2)
    for seed in range(20):
        first = draw(found, 15, random.Random(seed))
        rest = {one: what for one, what in found.items() if one not in first}
        second = draw(rest, 15, random.Random(seed))
        assert held(found, first) == held(found, second) == {"yes", "no"}


def test_the_same_seed_draws_the_same() -> None:
    found = options(yes=20, no=20)
    assert draw(found, 5, random.Random(3)) == draw(found, 5, random.Random(3))
    assert draw(found, 5, random.Random(3)) != draw(found, 5, random.Random(4))
    assert sorted(draw(found, 99, random.Random(3))) == sorted(found), "all, if there are fewer"
    assert draw({}, 5, random.Random(3)) == []


def test_criteria_with_one_option_are_found() -> None:
    found: Options = {1: {("a", "yes"), ("b", "1")}, 2: {("a", "yes"), ("b", "2")}}
    assert varied(found, [1, 2]) == {"b"}
    assert varied(found, [1]) == set()
