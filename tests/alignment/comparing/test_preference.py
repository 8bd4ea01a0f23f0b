"""Preferences side by side, against figures worked out by hand and in worlds of which the truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from alignment import SideBySide, preference_figures
from bench.promises import at_least

WORLDS = 300


def shown(prefer: Any, **more: Any) -> SideBySide:
    """One pair of each question; the version first in every second."""
    n = len(prefer)
    given: dict[str, Any] = {
        "question": range(n), "b_first": [at % 2 == 0 for at in range(n)], "prefer": prefer, "group": range(n),
        "given": [np.nan] * n, "drawn": [True] * n, "closed": [True] * n,
    }  # fmt: skip
    return SideBySide("v1", "v2", **{**given, **more})


def test_against_the_mean_and_its_standard_error() -> None:
    """Every question labelled once: wins less losses is a plain mean, and t's interval is that of R's t.test."""
    prefer = np.random.default_rng(5).choice([1, 0.5, 0], 200, p=[0.5, 0.2, 0.3])
    found = preference_figures(shown(prefer))
    net = 2 * prefer - 1
    half = student.ppf(0.975, 199) * net.std(ddof=1) / np.sqrt(200)
    assert found["win_rate"]["value"] == pytest.approx(prefer.mean())
    assert [found["difference"][name] for name in ("value", "low", "high")] == pytest.approx(
        [net.mean(), net.mean() - half, net.mean() + half]
    )
    counts = {name: int((prefer == value).sum()) for name, value in (("b", 1), ("neither", 0.5), ("a", 0))}
    assert found["counts"] == {**counts, "open": 0}


def test_two_orders_are_one_question() -> None:
    """Preferred in both, in none, once each, and tied once."""
    prefer = [1, 1, 0, 0, 1, 0, 1, 0.5]
    found = preference_figures(
        shown(prefer, question=[0, 0, 1, 1, 2, 2, 3, 3], group=range(4), given=[np.nan] * 4, drawn=[True] * 4)
    )
    assert found["counts"] == {"b": 2, "neither": 1, "a": 1, "open": 0}
    assert found["win_rate"]["value"] == pytest.approx((1 + 0 + 0.5 + 0.75) / 4)
    assert (found["questions"], found["win_rate"]["clusters"]) == (4, 4)


def test_what_is_given_is_only_of_drawn_questions_and_what_is_open_lies_between() -> None:
    found = preference_figures(
        SideBySide(
            "v1",
            "v2",
            question=[0, 1],
            b_first=[True, False],
            prefer=[1, np.nan],
            group=range(6),
            given=[np.nan, np.nan, 1, 0, 1, np.nan],
            drawn=[True, True, True, False, False, True],
            closed=[False] * 6,
        )
    )
    # Drawn: one preferred, one not settled, one that failed, and one without a pair.
    assert found["counts"] == {"b": 2, "neither": 0, "a": 0, "open": 2}
    assert (found["drawn"], found["labelled"], found["unresolved"]) == (4, 2, 2)
    assert found["win_rate"]["value"] == pytest.approx((1 + 0.5 + 1 + 0.5) / 4)
    assert (found["verdict"], found["reason"]["code"]) == ("cannot_tell", "too_many_unresolved")
    assert found["first"]["value"] == 1


def test_nothing_drawn_is_undefined() -> None:
    found = preference_figures(
        shown([], question=[], b_first=[], group=[0, 1], given=[np.nan] * 2, drawn=[False] * 2, closed=[False] * 2)
    )
    assert (found["win_rate"]["value"], found["verdict"], found["first"]) == (None, "cannot_tell", None)
    assert found["reason"]["code"] == "no_labelled"


@pytest.mark.parametrize(("wins", "ties", "drawn"), [(0.5, 0.2, 80), (0.5, 0.2, 20), (0.95, 0.03, 40), (0.3, 0.4, 60)])
def test_its_intervals_hold(wins: float, ties: float, drawn: int) -> None:
    rng = np.random.default_rng(8)
    truth, held = wins + ties / 2, np.zeros(2)
    for _ in range(WORLDS):
        prefer = rng.choice([1, 0.5, 0], 200, p=[wins, ties, 1 - wins - ties])
        asked = rng.permutation(200) < drawn
        question = asked.nonzero()[0]
        found = preference_figures(shown(prefer[asked], question=question, group=range(200), given=[np.nan] * 200,
                                         b_first=rng.random(drawn) < 0.5, drawn=asked, closed=asked))  # fmt: skip
        for at, (name, value) in enumerate((("win_rate", truth), ("difference", 2 * truth - 1))):
            held[at] += found[name]["low"] <= value <= found[name]["high"]
    assert all(at_least(int(each), WORLDS, 0.95) for each in held)


def test_the_win_rate_and_the_difference_say_the_same() -> None:
    """Once the win rate had an interval of its own, which held a half where the difference said better."""
    for prefer in ([1.0] * 5 + [0.5] * 5, [1.0] * 20 + [0.5] * 14 + [0.0] * 6):
        found = preference_figures(shown(prefer))
        assert found["verdict"] == "better"
        for end in ("value", "low", "high"):
            assert found["win_rate"][end] == pytest.approx((1 + found["difference"][end]) / 2)
        assert found["win_rate"]["low"] > 0.5


@pytest.mark.parametrize(("wins", "ties", "open_", "drawn"), [(350, 0, 150, 40), (45, 910, 45, 80)])
def test_what_nobody_could_settle_may_be_against_it(wins: int, ties: int, open_: int, drawn: int) -> None:
    """Both ends once had the error of the middle: with 3 in 10 pairs open, the lower one missed in a fifth of draws."""
    rng, n = np.random.default_rng(11), wins + ties + open_
    least, missed = (wins - open_) / n, 0
    for _ in range(WORLDS):
        prefer = rng.permutation(np.repeat([1, 0.5, np.nan], [wins, ties, open_]))
        asked = np.arange(n) < drawn
        found = preference_figures(shown(prefer[asked], question=range(drawn), group=range(n), given=[np.nan] * n,
                                         drawn=asked, closed=asked))  # fmt: skip
        missed += found["difference"]["low"] > least
    assert at_least(WORLDS - missed, WORLDS, 0.975)


def test_who_takes_the_first_favours_neither_version() -> None:
    """Of equal versions, half of the time the first is taken whatever it says: the win rate stays .5, and it shows."""
    rng = np.random.default_rng(9)
    found = []
    for _ in range(50):
        b_first = rng.permutation(100) < 50
        prefer = np.where(rng.random(100) < 0.5, b_first, rng.random(100) < 0.5).astype(float)
        found.append(preference_figures(shown(prefer, b_first=b_first)))
    assert np.mean([one["win_rate"]["value"] for one in found]) == pytest.approx(0.5, abs=0.02)
    assert np.mean([one["first"]["value"] for one in found]) == pytest.approx(0.75, abs=0.02)


def test_what_position_decides_draws_the_win_rate_towards_a_half() -> None:
    """Of answers that are always better than the others: who takes the first in 4 of 10 cases finds it in 8."""
    rng = np.random.default_rng(10)
    found = []
    for _ in range(50):
        b_first = rng.permutation(100) < 50
        prefer = np.where(rng.random(100) < 0.4, b_first, 1).astype(float)
        found.append(preference_figures(shown(prefer, b_first=b_first))["win_rate"]["value"])
    assert np.mean(found) == pytest.approx(0.8, abs=0.02)
