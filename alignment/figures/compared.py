"""Two judges, or two versions of one, on the units that both decided."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import Any

import numpy as np

from alignment.estimate import Estimate
from alignment.figures.beside import ONLY_NUMBERS
from alignment.figures.comparison import Comparison
from alignment.figures.decisions import cross_fitted
from alignment.figures.disagreements import reading_order
from alignment.figures.evidence import JudgeScores, UnitKey, Value
from alignment.figures.judged import Judged
from alignment.figures.reference import Reference
from alignment.figures.seeds import generator
from alignment.paired import Flips, paired_at_thresholds, paired_labels

MAX_JUDGES = 10
MAX_EARLIER = 10
MAX_FLIPPED = 50
NO_COMMON = "no unit that people settled was decided by both"

_DECISIONS = ("kappa", "tpr", "tnr", "accuracy")
_LABELS = ("kappa", "linear", "quadratic", "percent")


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """said: pass or fail by the judge, or its labels where the criterion has no such reading. reason: why it is
    empty."""

    scores: JudgeScores
    title: str
    said: Mapping[UnitKey, Value]
    reason: str | None


def compared_figures(reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]) -> dict[str, Any]:
    """Every two judges, and of each judge its latest version against those before it, as plain JSON.

    On pass and fail with the cross-fitted decisions on the dev part; on a criterion without passes with the labels of
    judges that answer so, on all units, since nothing is chosen there.

    {"basis", "sides", "pairs", "left_out"}. A pair's ``first`` and ``second`` are places among the sides, an earlier
    version always first; differences are the second less the first. ``left_out`` counts the judges beyond the tenth
    and the versions beyond ten, of which the latest of every judge come first.
    """
    now = [_now(reference, one, title) for one, title in zip(comparisons[:MAX_JUDGES], titles, strict=False)]
    earlier = _earlier(reference.evidence.earlier, now)
    sides = [*now, *(_before(reference, said, now) for said in earlier[:MAX_EARLIER])]
    place = {_series(side.scores): at for at, side in enumerate(now)}
    versions = [(at, place[_series(sides[at].scores)]) for at in range(len(now), len(sides))]
    human = dict(sorted((reference.labels() if reference.passing is None else reference.positive).items()))
    return {
        "basis": "labels" if reference.passing is None else "pass or fail",
        "sides": [
            {
                "judge": side.scores.judge,
                "version": side.scores.version,
                "dimension": side.scores.dimension,
                "title": side.title,
                "latest": at < len(now),
                "reason": side.reason,
            }
            for at, side in enumerate(sides)
        ],
        "pairs": [
            {"first": first, "second": second, **_pair(reference, human, sides[first], sides[second])}
            for first, second in (*combinations(range(len(now)), 2), *versions)
        ],
        "left_out": {
            "judges": max(0, len(comparisons) - MAX_JUDGES),
            "versions": max(0, len(earlier) - MAX_EARLIER),
        },
    }


def _now(reference: Reference, one: Comparison, title: str) -> _Side:
    if reference.passing is None:
        return _Side(one.said, title, one.labels, None if one.labels else ONLY_NUMBERS)
    return _Side(one.said, title, one.decisions, one.row["at_threshold"]["reason"])


def _before(reference: Reference, said: JudgeScores, now: Sequence[_Side]) -> _Side:
    judged = Judged(reference, said)
    several = sum(side.scores.judge == said.judge for side in now) > 1
    title = f"{said.judge} {said.version}" + (f" ({said.dimension})" if several else "")
    if reference.passing is None:
        return _Side(said, title, judged.labels, None if judged.labels else ONLY_NUMBERS)
    found = cross_fitted(judged)
    return _Side(said, title, found.decisions, found.reason)


def _series(scores: JudgeScores) -> tuple[str, str]:
    return scores.judge, scores.dimension


def _earlier(earlier: Iterable[JudgeScores], now: Sequence[_Side]) -> list[JudgeScores]:
    """The earlier versions of what is compared, those just before the latest first."""
    series = {_series(side.scores) for side in now}
    steps: Counter[tuple[str, str]] = Counter()
    ranked = []
    for said in earlier:
        if _series(said) in series:
            ranked.append((steps[_series(said)], said))
            steps[_series(said)] += 1
    return [said for _, said in sorted(ranked, key=lambda one: one[0])]


def _pair(reference: Reference, human: Mapping[UnitKey, Value], first: _Side, second: _Side) -> dict[str, Any]:
    units = [unit for unit in human if unit in first.said and unit in second.said]
    reason = next((f"{side.title}: {side.reason}" for side in (first, second) if side.reason is not None), None)
    figures = _DECISIONS if reference.passing is not None else _LABELS
    if reason is not None or not units:
        undefined = dict.fromkeys(figures, Estimate.undefined(reason or NO_COMMON).as_dict())
        nothing = {"units": 0, "samples": 0, "own": [undefined, undefined], "difference": undefined}
        return {**nothing, "flips": _counts(()), "flipped": [], "reason": reason or NO_COMMON}
    people = [human[unit] for unit in units]
    said = [first.said[unit] for unit in units], [second.said[unit] for unit in units]
    samples = [sample for sample, _ in units]
    key = reference.evidence.criterion.key
    rng = generator(reference.evidence.seed, "compared", key, *first.scores.name, *second.scores.name)
    if reference.passing is not None:
        one, other = (np.array(column, dtype=np.float64) for column in said)
        found: Any = paired_at_thresholds(one, other, people, samples, (0.5, 0.5), rng=rng)
    else:
        ratings = reference.ratings
        # Judges that answer with labels have levels to choose from.
        assert ratings.levels is not None
        found = paired_labels(people, *said, samples, scale=ratings.scale, levels=ratings.levels, rng=rng)
    flips: Flips = found.flips
    return {
        "units": len(units),
        "samples": len(set(samples)),
        "own": [{name: getattr(side, name).as_dict() for name in figures} for side in (found.first, found.second)],
        "difference": {name: getattr(found, name).as_dict() for name in figures},
        "flips": _counts(flips.gain.tolist()),
        "flipped": [
            {
                "sample": units[at][0],
                "unit": units[at][1],
                "human": people[at],
                "first": said[0][at],
                "second": said[1][at],
                "first_score": first.scores.numbers.get(units[at]),
                "second_score": second.scores.numbers.get(units[at]),
                "gain": gain,
            }
            for at, gain in _shown(flips, units)
        ],
        "reason": None,
    }


def _counts(gains: Sequence[int]) -> dict[str, int]:
    return {"only_first_right": gains.count(-1), "only_second_right": gains.count(1), "both_wrong": gains.count(0)}


def _shown(flips: Flips, units: Sequence[UnitKey]) -> list[tuple[int, int]]:
    """Place and gain of at most 50 units that flipped, as many of each gain as there are and fit, in reading order."""
    rows = sorted(zip(flips.index.tolist(), flips.gain.tolist(), strict=True), key=lambda r: reading_order(units[r[0]]))
    kinds = [[row for row in rows if row[1] == gain] for gain in (-1, 1, 0)]
    turns = [row for turn in zip_longest(*kinds) for row in turn if row is not None][:MAX_FLIPPED]
    return sorted(turns, key=lambda row: row[1])
