"""Two judges, or two versions of one, on the units that both decided."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import comb
from typing import Any

import numpy as np

from alignment.base.estimate import Estimate, Remark, estimates_as_dicts, remark
from alignment.judging.paired import Flips, paired_at_thresholds, paired_labels
from alignment.report.comparison import Comparison, coverage_of, reading_order
from alignment.report.decisions import cross_fitted
from alignment.report.evidence import JudgeScores, Value
from alignment.report.judged import Judged
from alignment.report.people import ONLY_NUMBERS
from alignment.report.reference import Reference
from alignment.report.units import ByUnit, UnitKey

MAX_JUDGES = 10
MAX_EARLIER = 10
MAX_FLIPPED = 50
NO_COMMON = remark("no_unit_decided_by_both")

_DECISIONS = ("kappa", "tpr", "tnr", "accuracy")
_LABELS = ("kappa", "linear", "quadratic", "percent")


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """said: pass or fail by the judge, or its labels where the criterion has no such reading. reason: why it is
    empty."""

    scores: JudgeScores
    title: str
    said: Mapping[UnitKey, Value]
    reason: Remark | None


def compared_figures(reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]) -> dict[str, Any]:
    """Each judge with the best of them, and of each judge its latest version with those before it, as plain JSON.

    On pass and fail with the cross-fitted decisions on the dev part; on a criterion without passes with the labels of
    judges that answer so, on all units, since nothing is chosen there.

    {"basis", "best", "sides", "pairs", "left_out"}. ``best`` is the place among the sides of the judge with the
    greatest kappa, of those with at least half as many units as the one with most; the first where none has any. A
    pair's ``first`` and ``second`` are places among the sides, the best and an earlier version always first;
    differences are the second less the first. ``left_out`` counts the judges beyond the tenth and the versions beyond
    ten, of which the latest of every judge come first.

    The best was found by looking, so intervals of the difference in kappa hold together for all pairs of judges that
    could have come of it; those of versions for all of them: ``family`` is "judges" or "versions", and ``among`` how
    many comparisons hold together at 95 %. The other figures stand each for itself.
    """
    now = [_now(reference, one, title) for one, title in zip(comparisons[:MAX_JUDGES], titles, strict=False)]
    earlier = _earlier(reference.evidence.earlier, now)
    sides = [*now, *(_before(reference, said, now) for said in earlier[:MAX_EARLIER])]
    place = {_series(side.scores): at for at, side in enumerate(now)}
    human = _human(reference)
    best = _best(reference, comparisons[:MAX_JUDGES])
    usable = [at for at, side in enumerate(sides) if side.reason is None]
    versions = [(at, place[_series(sides[at].scores)]) for at in range(len(now), len(sides))]
    families = {
        "judges": (comb(sum(at < len(now) for at in usable), 2), [(best, at) for at in range(len(now)) if at != best]),
        "versions": (sum(earlier in usable and latest in usable for earlier, latest in versions), versions),
    }
    pairs = [
        {
            "first": first,
            "second": second,
            "family": family,
            "among": among,
            **_pair(reference, human, sides[first], sides[second], MAX_FLIPPED, max(among, 1)),
        }
        for family, (among, shown) in families.items()
        for first, second in shown
    ]
    return {
        "basis": reference.basis,
        "best": best if now else None,
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
        "pairs": pairs,
        "left_out": {
            "judges": max(0, len(comparisons) - MAX_JUDGES),
            "versions": max(0, len(earlier) - MAX_EARLIER),
        },
    }


def _best(reference: Reference, comparisons: Sequence[Comparison]) -> int:
    """Place of the judge with the greatest kappa, the first of several; 0 where none has a kappa."""
    rows = [one.row["labels" if reference.passing is None else "at_threshold"] for one in comparisons]
    kappas = [(at, row["kappa"]) for at, row in enumerate(rows) if row and row["kappa"]["value"] is not None]
    enough = max((kappa["n"] for _, kappa in kappas), default=0) / 2
    return max((one for one in kappas if one[1]["n"] >= enough), key=lambda one: one[1]["value"], default=(0,))[0]


def two_versions(
    reference: Reference, first: JudgeScores, second: JudgeScores, titles: tuple[str, str], most: int
) -> dict[str, Any]:
    """Two versions of a judge on the units of the reference, which are all dev where there are halves: one pair as
    above, with at most ``most`` of the units that flipped, and the ``basis``.

    ``coverage``: of each version, as its row of a report has it. ``thresholds``: of each, the best one on these units;
    None for labels, and where there are no decisions. ``changed``: units on which both decide alike, whose score or
    label is another one, the greatest change first; of those too at most ``most``, ``changed_in_all`` counts them.
    Both lists have the versions' labels, None for numbers.
    """
    judged = [Judged(reference, said) for said in (first, second)]
    sides = [_side(one, title) for one, title in zip(judged, titles, strict=True)]
    human = _human(reference)
    alike = _changed(human, sides[0], sides[1], [one.answers_labels for one in judged])
    pair = _pair(reference, human, sides[0], sides[1], most)

    def with_labels(row: dict[str, Any]) -> dict[str, Any]:
        unit = row["sample"], row["unit"]
        return {**row, "first_label": first.labels.get(unit), "second_label": second.labels.get(unit)}

    return {
        "basis": reference.basis,
        "coverage": [coverage_of(one) for one in judged],
        "thresholds": [
            None
            if one.answers_labels or reference.passing is None or side.reason
            else one.sweep(one.dev).best_threshold
            for one, side in zip(judged, sides, strict=True)
        ],
        **pair,
        "flipped": [with_labels(row) for row in pair["flipped"]],
        "changed": [with_labels(row) for row in alike[:most]],
        "changed_in_all": len(alike),
    }


def _changed(
    human: Mapping[UnitKey, Value], first: _Side, second: _Side, labels: Sequence[bool]
) -> list[dict[str, Any]]:
    """Only where both answer the same way: from a label to a number, everything would have changed."""
    if first.reason is not None or second.reason is not None or labels[0] is not labels[1]:
        return []
    answers: list[Mapping[UnitKey, Value]] = [
        side.scores.labels if labels[0] else side.scores.numbers for side in (first, second)
    ]
    found = [
        unit
        for unit in human
        if unit in first.said
        and unit in second.said
        and first.said[unit] == second.said[unit]
        and answers[0][unit] != answers[1][unit]
    ]
    if not labels[0]:
        one, other = first.scores.numbers, second.scores.numbers
        found.sort(key=lambda unit: (-abs(other[unit] - one[unit]), reading_order(unit)))
    else:
        found.sort(key=reading_order)
    return [{**_unit(human, first, second, unit), "gain": None} for unit in found]


def _now(reference: Reference, one: Comparison, title: str) -> _Side:
    if reference.passing is None:
        return _Side(one.said, title, one.labels, None if one.labels else ONLY_NUMBERS)
    return _Side(one.said, title, one.decisions, one.row["at_threshold"]["reason"])


def _before(reference: Reference, said: JudgeScores, now: Sequence[_Side]) -> _Side:
    several = sum(side.scores.judge == said.judge for side in now) > 1
    return _side(Judged(reference, said), f"{said.judge} {said.version}" + (f" ({said.dimension})" if several else ""))


def _side(judged: Judged, title: str) -> _Side:
    if judged.reference.passing is None:
        return _Side(judged.said, title, judged.labels, None if judged.labels else ONLY_NUMBERS)
    found = cross_fitted(judged)
    return _Side(judged.said, title, found.decisions, found.reason)


def _human(reference: Reference) -> ByUnit[Value]:
    return reference.labels() if reference.passing is None else reference.positive


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


def _pair(
    reference: Reference, human: ByUnit[Value], first: _Side, second: _Side, most: int, among: int = 1
) -> dict[str, Any]:
    both = [ByUnit.of(reference.units, side.said, object) for side in (first, second)]
    units = reference.units.at(np.flatnonzero(human.known & both[0].known & both[1].known))
    why = (remark("not_compared", judge=one.title, why=one.reason) for one in (first, second) if one.reason is not None)
    reason = next(why, None)
    figures = _DECISIONS if reference.passing is not None else _LABELS
    if reason is not None or not units:
        undefined = dict.fromkeys(figures, Estimate.undefined(reason or NO_COMMON).as_dict())
        nothing = {"units": 0, "samples": 0, "own": [undefined, undefined], "difference": undefined}
        return {**nothing, "flips": _counts(()), "flipped": [], "reason": reason or NO_COMMON}
    people, *said = (of.values_at[units.codes].tolist() for of in (human, *both))
    groups = reference.group[units.codes]
    if reference.passing is not None:
        one, other = (np.array(column, dtype=np.float64) for column in said)
        found: Any = paired_at_thresholds(one, other, people, groups, (0.5, 0.5), interval="jackknife", among=among)
    else:
        ratings = reference.ratings
        # Judges that answer with labels have levels to choose from.
        assert ratings.levels is not None
        asked: Any = {"scale": ratings.scale, "levels": ratings.levels, "interval": "jackknife", "among": among}
        found = paired_labels(people, said[0], said[1], groups.tolist(), **asked)
    flips: Flips = found.flips
    return {
        "units": len(units),
        "samples": reference.samples_of(units.codes.astype(np.int64)).size,
        "own": [estimates_as_dicts(side, figures) for side in (found.first, found.second)],
        "difference": estimates_as_dicts(found, figures),
        "flips": _counts(flips.gain.tolist()),
        "flipped": [
            {**_unit(human, first, second, units[at]), "gain": gain} for at, gain in _shown(flips, units, most)
        ],
        "reason": None,
    }


def _unit(human: Mapping[UnitKey, Value], first: _Side, second: _Side, unit: UnitKey) -> dict[str, Any]:
    """What people and both sides say of a unit."""
    return {
        "sample": unit[0],
        "unit": unit[1],
        "human": human[unit],
        "first": first.said[unit],
        "second": second.said[unit],
        "first_score": first.scores.numbers.get(unit),
        "second_score": second.scores.numbers.get(unit),
    }


def _counts(gains: Sequence[int]) -> dict[str, int]:
    return {"only_first_right": gains.count(-1), "only_second_right": gains.count(1), "both_wrong": gains.count(0)}


def _shown(flips: Flips, units: Sequence[UnitKey], most: int) -> list[tuple[int, int]]:
    """Place and gain of at most ``most`` units that flipped, as many of each gain as there are and fit, in reading
    order."""
    rows = sorted(zip(flips.index.tolist(), flips.gain.tolist(), strict=True), key=lambda r: reading_order(units[r[0]]))
    kinds = [[row for row in rows if row[1] == gain] for gain in (-1, 1, 0)]
    turns = [row for turn in zip_longest(*kinds) for row in turn if row is not None][:most]
    return sorted(turns, key=lambda row: row[1])
