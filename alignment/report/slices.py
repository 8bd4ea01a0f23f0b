"""One judge on parts of the data, told apart by the samples' metadata, and week by week."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from alignment.base.arrays import Ints, renumbered
from alignment.base.coded import Coded, array_of, different
from alignment.base.estimate import NO_UNITS, Estimate, Remark, remark
from alignment.base.interval import Plan, share_of_trials
from alignment.base.ratings import encode
from alignment.judging.slices import MIN_CLUSTERS, Slice, slices_at_threshold
from alignment.report.comparison import Comparison
from alignment.report.evidence import Value
from alignment.report.people import refusal
from alignment.report.reference import NO_PASSES, Reference
from alignment.report.units import ByUnit

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
    places = one.decisions.places
    columns, skipped = slice_columns(reference, places) if reason is None else ({}, [])
    if reason is None and not columns:
        reason = NO_KEY
    found: list[Slice] = []
    if reason is None:
        found = slices_at_threshold(
            one.decisions.column.astype(np.float64),
            reference.positive.values_at[places],
            reference.group[places],
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


def slice_columns(reference: Reference, places: Ints) -> tuple[dict[str, Sequence[Hashable]], list[dict[str, Any]]]:
    """Of each metadata key that is used the value of every unit, None where it has none or one of too few samples."""
    metadata, group_of = reference.evidence.metadata, reference.evidence.group_of
    present, sample_at = renumbered(reference.units.sample[places])
    samples = [reference.units.samples[place] for place in present.tolist()]
    groups: dict[str, dict[Hashable, set[str]]] = defaultdict(lambda: defaultdict(set))
    for sample in samples:
        for key, value in metadata.get(sample, {}).items():
            groups[key][value].add(group_of(sample))
    counts = {key: Counter({value: len(some) for value, some in of.items()}) for key, of in groups.items()}
    every = len(set(map(group_of, samples)))
    columns: dict[str, Sequence[Hashable]] = {}
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
        code, values = encode([large.get(metadata.get(sample, {}).get(key)) for sample in samples])
        columns[key] = Coded(values, code[sample_at])
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


class Labelled(NamedTuple):
    """When units were labelled: of each unit of the reference, by its place among ``weeks``, the ISO week
    ("2026-W47", None: unknown) in which it was last labelled, and how many labels it has."""

    weeks: Sequence[str | None]
    week: Ints
    labels: Ints


def labelled_units(reference: Reference) -> Labelled:
    """For all judges alike."""
    evidence, size = reference.evidence, len(reference.units)
    place = reference.units.places(evidence.units)
    given: Sequence[str | None] = evidence.days or [None] * len(evidence.units)
    days = sorted(day for day in different(given) if day is not None)
    week_of = {day: _week(day) for day in days}
    weeks = sorted(set(week_of.values()))
    number: dict[str | None, int] = {None: -1, **{day: weeks.index(week) for day, week in week_of.items()}}
    last = np.full(size, -1)
    np.maximum.at(last, place, array_of(given, number.__getitem__, np.int64))
    # The last one is of units without a day.
    return Labelled([*weeks, None], last, np.bincount(place, minlength=size))


def judge_weeks(reference: Reference, one: Comparison, labelled: Labelled) -> dict[str, Any]:
    """The share of the judge's decisions that people contradict, by the ISO week in which the unit was last labelled.

    The decisions on dev; where nothing passes or fails, the labels of a judge that answers with them. Of more than 26
    weeks the latest are listed. `undated` counts decided units without a date.
    """
    wrong = _wrong(reference, one)
    week = labelled.week[wrong.places]
    dated = wrong.places[week >= 0]
    reason = refusal(reference, one) or (None if dated.size else NO_DATES)
    present = np.unique(week[week >= 0])
    own = [wrong.places[week == number] for number in present[-MAX_WEEKS:].tolist()]
    return {
        "reason": reason,
        "error": _rate(reference, dated, wrong).as_dict(),
        "weeks": [
            {
                "week": labelled.weeks[number],
                "monday": _monday(labelled.weeks[number]),
                "units": places.size,
                "labels": int(labelled.labels[places].sum()),
                "wrong": int(wrong.values_at[places].sum()),
                "error": _rate(reference, places, wrong).as_dict(),
            }
            for number, places in zip(present[-MAX_WEEKS:].tolist(), own, strict=True)
        ],
        "left_out": max(0, present.size - MAX_WEEKS),
        "undated": len(wrong) - dated.size,
    }


def _wrong(reference: Reference, one: Comparison) -> ByUnit[bool]:
    """Of each unit that judge and people decided whether they differ."""
    if reference.passing is not None:
        return ByUnit(reference.units, one.decisions.known, one.decisions.values_at != reference.positive.values_at)
    said, human = ByUnit[Value].of(reference.units, one.labels, object), reference.labels()
    places = np.flatnonzero(said.known & human.known)
    pairs = zip(said.values_at[places], human.values_at[places], strict=True)
    return ByUnit.at(reference.units, places, np.array([label != value for label, value in pairs], dtype=np.bool_))


def _week(day: str) -> str:
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04}-W{week:02}"


def _monday(week: str | None) -> str:
    assert week is not None
    year, _, number = week.partition("-W")
    return date.fromisocalendar(int(year), int(number), 1).isoformat()


def _rate(reference: Reference, places: Ints, wrong: ByUnit[bool]) -> Estimate:
    plan = Plan("jackknife", None, 0.95)
    hit, samples = wrong.values_at[places], reference.group[places]
    return share_of_trials(hit, samples, plan, name="error rate", undefined=NO_UNITS)
