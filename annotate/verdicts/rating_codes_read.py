"""The labels of a criterion that count, read as numbers, for millions of them: by code for agreement (`ratings_of`), by
name for evidence (`rating_columns`). The one reader of both.

PostgreSQL packs the columns of some thousand samples into one value each, so that nothing is made for a single row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, timedelta
from typing import cast

import numpy as np

import alignment
from alignment.base.arrays import Array, Ints, renumbered
from alignment.base.coded import Coded
from alignment.base.ratings import encode, encode_values
from alignment.report.units import Units
from annotate.core.blindness import STILL_TO_LABEL, SYSTEM, GeneralReader, Reader, parameters
from annotate.core.packed import Spellings, packed_row, unpacked
from annotate.core.rows import snapshot
from annotate.core.scales import Value
from annotate.core.units import LISTED_KINDS, no_abstention
from annotate.labels.anchored_read import anchored_samples
from annotate.labels.read import SECONDS_PER_CHOICE, VOTE
from annotate.models import Criterion, Rater
from annotate.models.project import UnitKind
from annotate.samples.read import groups_of, names_of
from annotate.verdicts.ratings_read import UnitKey

_SAMPLES_AT_ONCE = 10_000

# What is read afterwards is of these samples: a caller's transaction may see others that were labelled meanwhile.
_IN_ORDER = """
    SELECT string_agg(int8send(id), '' ORDER BY external_id COLLATE "C") FROM annotate_sample
     WHERE id IN (SELECT sample_id FROM annotate_label WHERE criterion_id = %(criterion)s)
"""
# One pass over the labels, whatever their order. JSON as PostgreSQL spells it has no line break.
_PACKED = f"""
    SELECT string_agg(int8send(l.sample_id), ''),
           string_agg(int4send(coalesce(nullif(split_part(l.unit, ':', 2), '')::int, 0)), ''),
           string_agg(int8send(l.rater_id), ''),
           string_agg(timestamptz_send(l.updated_at), ''),
           string_agg(int8send(l.id), ''),
           string_agg(int8send(coalesce(l.task_id, {{elsewhere}})), ''),
           string_agg(l.value::text, E'\\n')
      FROM annotate_label l LEFT JOIN annotate_task t ON t.id = l.task_id
     WHERE l.criterion_id = %(criterion)s AND l.sample_id BETWEEN %(first)s AND %(last)s
       AND {VOTE} AND {{abstention}} AND NOT l.sample_id = ANY(%(anchored)s) AND {{rule}}
"""
_SECONDS = f"""
    SELECT string_agg(int8send(id), ''), string_agg(float8send(seconds), '') FROM ({SECONDS_PER_CHOICE}) AS found
"""
_KINDS = (">i8", ">i4", ">i8", ">i8", ">i8", ">i8")
# What is kept of each label, in as few bytes as will do.
_COLUMNS = {"place": "i4", "index": "i4", "rater": "i8", "day": "i4", "key": "i8", "task": "i8", "value": "i4"}
# The task of labels made elsewhere.
ELSEWHERE = 0
# As PostgreSQL sends times.
_EPOCH, _DAY = date(2000, 1, 1), 86_400_000_000


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """One row per rating, in the order of sample, unit, rater.

    days: when it was given, "2026-11-21" in UTC, None for labels made elsewhere, whose task is ELSEWHERE. labels,
    tasks: keys. replaced: of the labels that gave way to a later one of the same person on the same unit.
    """

    units: Coded[UnitKey]
    raters: Coded[str]
    values: Coded[Value]
    days: Coded[str | None]
    labels: Ints
    tasks: Ints
    replaced: Ints


@dataclass(frozen=True, slots=True)
class _Labels:
    """One row per rating, in the order of sample, unit, rater.

    samples: keys of those labelled, by their own ids. place: of the sample among them. unit: numbered in this order.
    index: of the unit within its sample. rater: place among `raters`. value: place among `values`. day: since 2000.
    replaced: keys.
    """

    samples: Ints
    place: Ints
    unit: Ints
    index: Ints
    rater: Ints
    raters: tuple[str, ...]
    value: Ints
    values: list[Value]
    day: Ints
    key: Ints
    task: Ints
    replaced: Ints


def ratings_of(criterion: Criterion) -> alignment.Ratings:
    """As `Evidence.ratings` has them, with the samples' groups as clusters; units have no names."""
    with snapshot():
        found = _labels(criterion, SYSTEM)
        cluster = _clusters(criterion, found)
    levels = tuple(option["value"] for option in criterion.options) or None
    return alignment.Ratings(
        unit=found.unit,
        rater=found.rater,
        value=encode_values(found.values, levels, "value")[found.value],
        cluster=cluster,
        levels=levels,
        scale=cast("alignment.Scale", criterion.scale),
        raters=found.raters,
    )


def rating_columns(criterion: Criterion, *, reader: Reader) -> RatingColumns:
    """The same by name, and when and where each was given; without samples that the reader still has to label."""
    with snapshot():
        found = _labels(criterion, reader)
        names = names_of(found.samples.tolist())
    of_kind = f"{criterion.unit}:{{}}" if criterion.unit in LISTED_KINDS else criterion.unit
    addresses = [of_kind.format(index) for index in range(int(found.index.max(initial=0)) + 1)]
    days, day = renumbered(found.day)
    spelled: list[str | None] = [*((_EPOCH + timedelta(days=number)).isoformat() for number in days.tolist()), None]
    return RatingColumns(
        units=Units.coded(names, found.place, addresses, found.index),
        raters=Coded(found.raters, found.rater),
        values=Coded(found.values, found.value),
        days=Coded(spelled, np.where(found.task == ELSEWHERE, len(days), day)),
        labels=found.key,
        tasks=found.task,
        replaced=found.replaced,
    )


def seconds_of(criterion: Criterion, labels: Ints) -> Coded[float | None]:
    """How long the choice of each of these labels took (annotate.labels.read.SECONDS_PER_CHOICE); None where it is not
    known. labels: keys."""
    keys, seconds = map(unpacked, packed_row(_SECONDS, {"criterion": criterion.pk}), (">i8", ">f8"))
    lengths, length = renumbered(seconds)
    order = np.argsort(keys)
    # One more, which no label has.
    keys, length = np.append(keys[order], -1), np.append(length[order].astype(np.int32), lengths.size)
    place = np.searchsorted(keys[:-1], labels)
    return Coded([*lengths.tolist(), None], np.where(keys[place] == labels, length[place], lengths.size))


def _labels(criterion: Criterion, reader: Reader) -> _Labels:
    in_order = unpacked(packed_row(_IN_ORDER, {"criterion": criterion.pk})[0], ">i8")
    by_key = np.argsort(in_order)
    # One column after the other is replaced: two of each would be a gigabyte more with ten million labels.
    columns, spellings, replaced = _columns(criterion, in_order[by_key], reader)
    columns["place"] = by_key.astype(np.int32)[columns["place"]]
    # As Python orders the addresses of a kind: "claim:10" comes before "claim:2".
    texts = sorted(range(int(columns["index"].max(initial=0)) + 1), key=str)
    units = columns["place"].astype(np.int64) * len(texts) + np.argsort(texts)[columns["index"]]
    columns["unit"] = renumbered(units)[1].astype(np.int32)
    people, rater = renumbered(columns["rater"])
    names = dict(Rater.objects.filter(project=criterion.project_id).values_list("pk", "name"))
    called = [names[pk] for pk in people.tolist()]
    by_name = sorted(range(len(called)), key=called.__getitem__)
    columns["rater"] = np.argsort(by_name).astype(np.int32)[rater]
    used, value = renumbered(columns["value"])
    columns["value"] = value.astype(np.int32)
    del units, rater, value
    order = np.lexsort((columns["rater"], columns["unit"]))
    for name in columns:
        columns[name] = columns[name][order]
    return _Labels(
        samples=in_order,
        raters=tuple(called[place] for place in by_name),
        values=[json.loads(spellings[code]) for code in used.tolist()],
        replaced=replaced,
        **columns,
    )


def _columns(criterion: Criterion, keys: Ints, reader: Reader) -> tuple[dict[str, Array], list[str], Ints]:
    """Of each label that counts: place of its sample among the keys, index of the unit, rater, day since 2000, key,
    task, value. How values are spelled. And keys of the labels that gave way to a later one of the same person on
    the same unit. keys: of the samples, in order."""
    statement = _PACKED.format(
        elsewhere=ELSEWHERE,
        abstention=no_abstention("l") if criterion.unit == UnitKind.CLAIM else "true",
        rule="true" if isinstance(reader, GeneralReader) else f"NOT {STILL_TO_LABEL.format(sample='l.sample_id')}",
    )
    given = {"criterion": criterion.pk, "anchored": list(anchored_samples(criterion)), **parameters(reader)}
    spellings = Spellings()
    parts: dict[str, list[Array]] = {name: [np.empty(0, kind)] for name, kind in _COLUMNS.items()}
    gone = [np.empty(0, np.int64)]
    for start in range(0, keys.size, _SAMPLES_AT_ONCE):
        some = keys[start : start + _SAMPLES_AT_ONCE]
        *packed, values = packed_row(statement, {**given, "first": int(some[0]), "last": int(some[-1])})
        sample, index, rater, at, key, task = map(unpacked, packed, _KINDS)
        place = np.searchsorted(some, sample)
        # By person and unit, the latest last.
        order = np.lexsort((key, at, rater, index, place))
        order = order[some[place[order]] == sample[order]]
        is_last = np.ones(order.size, dtype=np.bool_)
        is_last[:-1] = np.any([np.diff(column[order]) != 0 for column in (place, index, rater)], axis=0)
        last = order[is_last]
        gone.append(key[order[~is_last]])
        found = (start + place, index, rater, at // _DAY, key, task, spellings.codes(values))
        for (name, kind), column in zip(_COLUMNS.items(), found, strict=True):
            parts[name].append(column[last].astype(kind))
    return {name: np.concatenate(parts.pop(name)) for name in _COLUMNS}, list(spellings), np.concatenate(gone)


def _clusters(criterion: Criterion, labels: _Labels) -> Ints:
    groups, place = groups_of(criterion.project), labels.place
    if not groups:
        return renumbered(place)[1]
    group_at = encode([groups.get(name, name) for name in names_of(labels.samples.tolist())])[0]
    # Numbered by the first of their samples that has a label.
    present, first, code = np.unique(group_at[place], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(place[first]))[code] if present.size else code
