"""Which of two versions' answers people prefer, side by side, without knowing the versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alignment.base.arrays import Bools, Floats, Ints
from alignment.comparing.asked import Asked
from alignment.comparing.experiments import Quality, Rule, metric_figures
from alignment.comparing.measured import compare_shares

_NAME = "preference"


@dataclass(frozen=True, eq=False, slots=True)
class SideBySide:
    """What people said of pairs of answers, and which questions could have been drawn.

    Of each pair that people saw, shape (pairs,): its ``question``, as a number from 0; ``b_first``, whether the answer
    of version b stood first; and whether they ``prefer`` it: 1, or that of a: 0, or say that both are about the same:
    .5, NaN where nothing is settled.

    Of each question its ``group``, and what is ``given`` without people, as ``prefer``: 1 where only a failed, NaN
    where they have to be asked. A drawn question without a pair is open. ``drawn`` and ``closed``, shape (groups,),
    are as in ``Asked``.
    """

    a: str
    b: str
    question: Sequence[int]
    b_first: Sequence[bool]
    prefer: Sequence[float]
    group: Sequence[int]
    given: Sequence[float]
    drawn: Sequence[bool]
    closed: Sequence[bool]


def preference_figures(shown: SideBySide, *, level: float = 0.95, seed: int = 0) -> dict[str, Any]:
    """{"a", "b", "questions", "drawn", "labelled", "unresolved", "win_rate", "difference", "sequential", "verdict",
    "reason", "needed", "counts", "first"} as plain JSON.

    win_rate: the share of questions in which b's answer is preferred, ties counting half. difference: that less a's win
    rate, which is how much more often b's answer is preferred than a's; it is concluded from as from any metric that
    people decide, with a margin of 0, at ``level``, and the win rate's interval is half of its. A pair of which nothing
    is settled lies between the two. Of a question that was shown in both orders the mean counts. ``sequential`` is of
    what these annotators say of these pairs, as they stood: their position, and what else they would say another time,
    is no part of it.

    counts: of the drawn questions, how many prefer b, neither (also where the two orders disagree) and a, and of how
    many that is open. first: of the settled pairs, the share in which the answer that stood first is preferred, ties
    counting half; None where people saw no pair. Where it is not .5, their position has a part in what they say: with
    each version first equally often it favours neither, and draws the win rate towards .5.

    Undefined as the metrics of ``experiment_figures``: nothing drawn, or nothing settled.

    >>> asked = {"group": [0, 1, 2], "given": [np.nan] * 3, "drawn": [True] * 3, "closed": [True] * 3}
    >>> found = preference_figures(SideBySide("a", "b", [0, 1, 2], [True, False, True], [1, 0.5, 1], **asked))
    >>> round(found["win_rate"]["value"], 2), found["counts"], found["verdict"]
    (0.83, {'b': 2, 'neither': 1, 'a': 0, 'open': 0}, 'cannot_tell')
    """
    group, given = np.asarray(shown.group, np.int64), np.asarray(shown.given, np.float64)
    question, prefer = np.asarray(shown.question, np.int64), np.asarray(shown.prefer, np.float64)
    drawn = np.asarray(shown.drawn, np.bool_)[group]
    settled = ~np.isnan(prefer)
    pairs, labels = (np.bincount(question[rows], minlength=group.size) for rows in (question >= 0, settled))

    def mean(unsettled: float) -> Floats:
        total = np.bincount(question, weights=np.where(settled, prefer, unsettled), minlength=group.size)
        of_pairs = np.where(pairs > 0, total / np.maximum(pairs, 1), unsettled)
        found: Floats = np.where(np.isnan(given), of_pairs, given)
        return found

    least, most = mean(0.0), mean(1.0)
    said = drawn & ((labels > 0) | ~np.isnan(given))
    found = _as_metric(shown, np.where(drawn, least, np.nan), np.where(drawn, most, np.nan), said, level, seed)
    level_of_b, difference = found["levels"][1], found["differences"][0]
    is_open = drawn & (least < most)
    counts = {"b": least > 0.5, "neither": (least == 0.5) & (most == 0.5), "a": most < 0.5}
    return {
        "a": shown.a,
        "b": shown.b,
        "questions": int(group.size),
        **{name: level_of_b[name] for name in ("drawn", "labelled", "unresolved")},
        "win_rate": _of_difference(difference["people"]),
        "difference": difference["people"],
        **{name: difference[name] for name in ("sequential", "verdict", "reason", "needed")},
        "counts": {name: int((drawn & ~is_open & rows).sum()) for name, rows in counts.items()}
        | {"open": int(is_open.sum())},
        "first": _first(shown, group[question[settled]], prefer[settled], settled, level),
    }


def _as_metric(shown: SideBySide, least: Floats, most: Floats, said: Bools, level: float, seed: int) -> dict[str, Any]:
    """Of two versions whose values add up to 1 in every question."""
    n = len(shown.group)
    asked = Asked(
        versions=[shown.a, shown.b],
        baseline=0,
        version=[0] * n + [1] * n,
        question=[*range(n), *range(n)],
        failed=[False] * (2 * n),
        abstained=[False] * (2 * n),
        group=shown.group,
        unanswerable=[False] * n,
        drawn=shown.drawn,
        closed=shown.closed,
    )
    metric = Quality(
        name=_NAME,
        title=_NAME,
        score=[np.nan] * (2 * n),
        least=np.concatenate([1 - most, least]).tolist(),
        most=np.concatenate([1 - least, most]).tolist(),
        labelled=[*said.tolist(), *said.tolist()],
        undefined=[False] * (2 * n),
    )
    return metric_figures(asked, [metric], Rule(_NAME, 0.0, {}, level), seed=seed)[0]


def _of_difference(difference: dict[str, Any]) -> dict[str, Any]:
    """The win rate: with that of the other version it adds up to 1."""
    ends = ((name, difference[name]) for name in ("value", "low", "high"))
    halved = {name: None if end is None else (1 + end) / 2 for name, end in ends}
    return {**difference, **halved, "method": f"(1 + d)/2, d: {difference['method']}"}


def _first(shown: SideBySide, group: Ints, prefer: Floats, settled: Bools, level: float) -> dict[str, Any] | None:
    if not prefer.size:
        return None
    of_first = np.where(np.asarray(shown.b_first, np.bool_)[settled], prefer, 1 - prefer)
    found = compare_shares(np.zeros(prefer.size, np.int64), group, of_first, 1, level=level)
    return found.levels[0].as_dict()
