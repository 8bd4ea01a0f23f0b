"""One judge on parts of the data, told apart by the samples' metadata, and week by week."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any, cast

import numpy as np

from alignment.base.coded import array_of, different
from alignment.base.estimate import NO_UNITS, Estimate, Remark, remark
from alignment.base.interval import Plan, share_of_trials
from alignment.base.ratings import encode
from alignment.judging.slices import MIN_CLUSTERS, Slice, slices_at_threshold
from alignment.report.comparison import Comparison
from alignment.report.evidence import UnitKey
from alignment.report.people import refusal
from alignment.report.reference import NO_PASSES, Reference

MEASURE = "kappa"
MIN_VALUES, MAX_VALUES = 2, 20
MAX_KEYS = 8
MAX_SLICES = 60

NO_METADATA = remark("no_metadata")
NO_KEY = remark("no_metadata_key", few=MIN_VALUES, many=MAX_VALUES, n=MIN_CLUSTERS)


def judge_slices(reference: Reference, one: Comparison) -> dict[str, Any]:
    """The judge's decisions on dev for every value of the metadata keys that can tell parts apart, as plain JSON.

    Keys with 2 to 20 values, those that most samples have first, 8 keys and 60 values at most; values of fewer than 10
    samples belong to the rest only. `skipped` names the keys left out, with the reason.
    """
    reason = _refusal(reference, one)
    units = list(one.decisions)
    columns, skipped = _columns(reference, units) if reason is None else ({}, [])
    if reason is None and not columns:
        reason = NO_KEY
    found: list[Slice] = []
    if reason is None:
        found = slices_at_threshold(
            [float(one.decisions[unit]) for unit in units],
            [reference.positive[unit] for unit in units],
            reference.clusters(units),
            0.5,
            columns,
            within="none",
            interval="jackknife",
        )
    return {
        "measure": MEASURE,
        "reason": reason,
        "tested": sum(part.p is not None for part in found),
        "slices": [_row(part) for part in found],
        "skipped": skipped[:MAX_KEYS],
        "skipped_in_all": len(skipped),
    }


def _refusal(reference: Reference, one: Comparison) -> Remark | None:
    reason = NO_PASSES if reference.passing is None else refusal(reference, one)
    return reason or (None if any(reference.evidence.metadata.values()) else NO_METADATA)


def _columns(
    reference: Reference, units: list[tuple[str, str]]
) -> tuple[dict[str, list[Hashable]], list[dict[str, Any]]]:
    """Of each key that is used the value of every unit, None where it has none or one of too few samples."""
    metadata, group_of = reference.evidence.metadata, reference.evidence.group_of
    samples = {sample for sample, _ in units}
    groups: dict[str, dict[Hashable, set[str]]] = defaultdict(lambda: defaultdict(set))
    for sample in sorted(samples):
        for key, value in metadata.get(sample, {}).items():
            groups[key][value].add(group_of(sample))
    counts = {key: Counter({value: len(some) for value, some in of.items()}) for key, of in groups.items()}
    every = len(set(map(group_of, samples)))
    columns: dict[str, list[Hashable]] = {}
    skipped, slices = [], 0
    for key in sorted(counts, key=lambda key: (-counts[key].total(), key)):
        large = {
            value: value
            for value, count in counts[key].items()
            if count >= MIN_CLUSTERS and every - count >= MIN_CLUSTERS
        }
        why = _unfit(len(counts[key]), len(large))
        if why is None and (len(columns) == MAX_KEYS or slices + len(large) > MAX_SLICES):
            why = remark("enough_others")
        if why is not None:
            skipped.append({"key": key, "values": len(counts[key]), "reason": why})
            continue
        slices += len(large)
        columns[key] = [large.get(metadata.get(sample, {}).get(key)) for sample, _ in units]
    return columns, skipped


def _unfit(values: int, large: int) -> Remark | None:
    if values < MIN_VALUES:
        return remark("same_value_everywhere")
    if values > MAX_VALUES:
        return remark("many_values", n=MAX_VALUES)
    return None if large else remark("no_large_value", n=MIN_CLUSTERS)


def _row(part: Slice) -> dict[str, Any]:
    shown = ("kappa", "tpr", "tnr", "accuracy")
    return {
        "key": part.key,
        "value": part.value,
        "n": part.n,
        "samples": part.clusters,
        **{name: None if part.result is None else getattr(part.result, name).value for name in shown},
        "difference": part.kappa.as_dict(),
        "p_adjusted": part.p_adjusted,
        "worse": part.worse,
    }


MAX_WEEKS = 26

NO_DATES = remark("no_dates")


@dataclass(frozen=True, slots=True)
class Labelled:
    """When a unit was last labelled (the ISO week, "2026-W47"; None: unknown), and how many labels it has."""

    week: str | None
    labels: int


def labelled_units(reference: Reference) -> dict[UnitKey, Labelled]:
    """Of each unit with a label, for all judges alike."""
    evidence = reference.evidence
    code, units = encode(evidence.units)
    given: Sequence[str | None] = evidence.days or [None] * len(evidence.units)
    days = sorted(day for day in different(given) if day is not None)
    place: dict[str | None, int] = {None: -1, **{day: at for at, day in enumerate(days)}}
    last = np.full(len(units), -1)
    np.maximum.at(last, code, array_of(given, place.__getitem__, np.int64))
    # The last one is of units without a day.
    weeks = [*map(_week, days), None]
    # One object for the many units that are alike.
    labelled = cache(Labelled)
    rows = zip(cast("tuple[UnitKey, ...]", units), last.tolist(), np.bincount(code).tolist(), strict=True)
    return {unit: labelled(weeks[at], labels) for unit, at, labels in rows}


def judge_weeks(reference: Reference, one: Comparison, labelled: Mapping[UnitKey, Labelled]) -> dict[str, Any]:
    """The share of the judge's decisions that people contradict, by the ISO week in which the unit was last labelled.

    The decisions on dev; where nothing passes or fails, the labels of a judge that answers with them. Of more than 26
    weeks the latest are listed. `undated` counts decided units without a date.
    """
    wrong = _wrong(reference, one)
    by_week: dict[str, list[UnitKey]] = {}
    for unit in wrong:
        if unit in labelled and (week := labelled[unit].week) is not None:
            by_week.setdefault(week, []).append(unit)
    dated = [unit for units in by_week.values() for unit in units]
    reason = refusal(reference, one) or (None if dated else NO_DATES)
    weeks = sorted(by_week)
    return {
        "reason": reason,
        "error": _rate(reference, dated, wrong).as_dict(),
        "weeks": [
            {
                "week": week,
                "monday": _monday(week),
                "units": len(by_week[week]),
                "labels": sum(labelled[unit].labels for unit in by_week[week]),
                "wrong": sum(wrong[unit] for unit in by_week[week]),
                "error": _rate(reference, by_week[week], wrong).as_dict(),
            }
            for week in weeks[-MAX_WEEKS:]
        ],
        "left_out": max(0, len(weeks) - MAX_WEEKS),
        "undated": len(wrong) - len(dated),
    }


def _wrong(reference: Reference, one: Comparison) -> dict[UnitKey, bool]:
    """Of each unit that judge and people decided whether they differ."""
    if reference.passing is not None:
        return {unit: passes is not reference.positive[unit] for unit, passes in one.decisions.items()}
    human = reference.labels()
    return {unit: value != human[unit] for unit, value in one.labels.items() if unit in human}


def _week(day: str) -> str:
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04}-W{week:02}"


def _monday(week: str) -> str:
    year, _, number = week.partition("-W")
    return date.fromisocalendar(int(year), int(number), 1).isoformat()


def _rate(reference: Reference, units: list[UnitKey], wrong: dict[UnitKey, bool]) -> Estimate:
    plan = Plan("jackknife", None, 0.95)
    hit, samples = np.array([wrong[unit] for unit in units]), np.array(reference.clusters(units))
    return share_of_trials(hit, samples, plan, name="error rate", undefined=NO_UNITS)
