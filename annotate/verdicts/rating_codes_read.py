"""The labels of a criterion that count, read as numbers, for millions of them: by code for agreement (`ratings_of`), by
name for evidence (`rating_columns`). The one reader of both.

PostgreSQL packs the columns of some thousand samples into one value each, so that nothing is made for a single row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, cast

import numpy as np
from django.db import connection
from psycopg import Cursor

import alignment
from alignment.base.arrays import Array, Ints, renumbered, run_starts
from alignment.base.coded import Coded
from alignment.base.ratings import encode, encode_values
from annotate.core.blindness import STILL_TO_LABEL, SYSTEM, GeneralReader, Reader, parameters
from annotate.core.rows import fetch_all, snapshot
from annotate.core.scales import Value
from annotate.core.units import LISTED_KINDS, no_abstention
from annotate.labels.anchored_read import anchored_samples
from annotate.labels.read import SECONDS_PER_CHOICE, VOTE
from annotate.models import Criterion, Rater
from annotate.models.project import UnitKind
from annotate.samples.read import groups_of
from annotate.verdicts.ratings_read import UnitKey, unit_key

_SAMPLES_AT_ONCE = 10_000

# What is read afterwards is of these samples: a caller's transaction may see others that were labelled meanwhile.
_IN_ORDER = """
    SELECT string_agg(int8send(id), '' ORDER BY external_id COLLATE "C") FROM annotate_sample
     WHERE id IN (SELECT sample_id FROM annotate_label WHERE criterion_id = %(criterion)s)
"""
_NAMES = """
    SELECT s.external_id FROM unnest(%(samples)s::bigint[]) WITH ORDINALITY AS of (id, place)
      JOIN annotate_sample s ON s.id = of.id ORDER BY of.place
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
    index: of the unit within its sample. rater: place among `raters`. value: place among `values`. at: microseconds
    since 2000. replaced: keys.
    """

    samples: Ints
    place: Ints
    unit: Ints
    index: Ints
    rater: Ints
    raters: tuple[str, ...]
    value: Ints
    values: list[Value]
    at: Ints
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
        names = _names(found.samples)
    first = run_starts(found.unit)
    of_kind = f"{criterion.unit}:{{}}" if criterion.unit in LISTED_KINDS else criterion.unit
    addresses = zip(found.place[first].tolist(), found.index[first].tolist(), strict=True)
    units = [unit_key(names[place], of_kind.format(index)) for place, index in addresses]
    days, day = renumbered(found.at // _DAY)
    spelled: list[str | None] = [*((_EPOCH + timedelta(days=number)).isoformat() for number in days.tolist()), None]
    return RatingColumns(
        units=Coded(units, found.unit),
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
    packed, measured = _packed(_SECONDS, {"criterion": criterion.pk})
    keys, seconds = _unpacked(packed, ">i8"), _unpacked(measured, ">f8")
    order = np.argsort(keys)
    lengths, length = renumbered(seconds[order])
    # One more, which no label has.
    keys, length = np.append(keys[order], -1), np.append(length, lengths.size)
    place = np.searchsorted(keys[:-1], labels)
    return Coded([*lengths.tolist(), None], np.where(keys[place] == labels, length[place], lengths.size))


def _labels(criterion: Criterion, reader: Reader) -> _Labels:
    in_order = _unpacked(_packed(_IN_ORDER, {"criterion": criterion.pk})[0], ">i8")
    columns, spellings = _columns(criterion, np.sort(in_order), reader)
    (sample, index, rater, at, key, task, value), replaced = _latest(columns)
    by_key = np.argsort(in_order)
    place = by_key[np.searchsorted(in_order, sample, sorter=by_key)]
    # As Python orders the addresses of a kind: "claim:10" comes before "claim:2".
    texts = sorted(range(int(index.max(initial=0)) + 1), key=str)
    _, unit = renumbered(place * len(texts) + np.argsort(texts)[index])
    people, code = renumbered(rater)
    names = dict(Rater.objects.filter(project=criterion.project_id).values_list("pk", "name"))
    called = [names[pk] for pk in people.tolist()]
    by_name = sorted(range(len(called)), key=called.__getitem__)
    rater = np.argsort(by_name)[code]
    used, value = renumbered(value)
    order = np.lexsort((rater, unit))
    return _Labels(
        samples=in_order,
        place=place[order],
        unit=unit[order],
        index=index[order],
        rater=rater[order],
        raters=tuple(called[place] for place in by_name),
        value=value[order],
        values=[json.loads(spellings[code]) for code in used.tolist()],
        at=at[order],
        key=key[order],
        task=task[order],
        replaced=replaced,
    )


def _columns(criterion: Criterion, keys: Ints, reader: Reader) -> tuple[list[Array], list[str]]:
    """Sample, index of the unit, rater, time, key, task and value of each label that counts, and how the values are
    spelled. keys: of the samples, in order."""
    statement = _PACKED.format(
        elsewhere=ELSEWHERE,
        abstention=no_abstention("l") if criterion.unit == UnitKind.CLAIM else "true",
        rule="true" if isinstance(reader, GeneralReader) else f"NOT {STILL_TO_LABEL.format(sample='l.sample_id')}",
    )
    given = {"criterion": criterion.pk, "anchored": list(anchored_samples(criterion)), **parameters(reader)}
    spellings: dict[str, int] = {}
    parts = [[np.empty(0, kind)] for kind in (*_KINDS, ">i8")]
    for start in range(0, keys.size, _SAMPLES_AT_ONCE):
        some = keys[start : start + _SAMPLES_AT_ONCE]
        *packed, values = _packed(statement, {**given, "first": int(some[0]), "last": int(some[-1])})
        said = [] if values is None else values.split("\n")
        found = [_unpacked(column, kind) for column, kind in zip(packed, _KINDS, strict=True)]
        found.append(np.array([spellings.setdefault(text, len(spellings)) for text in said], np.int64))
        of_these = some[np.searchsorted(some, found[0])] == found[0]
        for part, column in zip(parts, found, strict=True):
            part.append(column[of_these])
    return [np.concatenate(part) for part in parts], list(spellings)


def _packed(statement: str, given: dict[str, Any]) -> tuple[Any, ...]:
    connection.ensure_connection()
    # As bytes; the usual cursor would have them spelled out, and without prepared statements knows nothing else.
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        (row,) = cursor.execute(statement, given, binary=True).fetchall()
        return row


def _unpacked(packed: bytes | None, kind: str) -> Array:
    return np.frombuffer(packed or b"", kind).astype(kind[1:])


def _latest(columns: list[Array]) -> tuple[list[Array], Ints]:
    """Without the labels that a later one of the same person on the same unit replaced; and the keys of these."""
    sample, index, rater, at, key, *_ = columns
    order = np.lexsort((key, at, rater, index, sample))
    sample, index, rater = sample[order], index[order], rater[order]
    is_last = np.ones(order.size, dtype=np.bool_)
    is_last[:-1] = (sample[1:] != sample[:-1]) | (index[1:] != index[:-1]) | (rater[1:] != rater[:-1])
    kept = order[is_last]
    return [column[kept] for column in columns], key[order[~is_last]]


def _names(samples: Ints) -> list[str]:
    names = [name for (name,) in fetch_all(_NAMES, {"samples": samples.tolist()})]
    assert len(names) == samples.size, "a sample was deleted while its labels were read"
    return names


def _clusters(criterion: Criterion, labels: _Labels) -> Ints:
    groups, place = groups_of(criterion.project), labels.place
    if not groups:
        return renumbered(place)[1]
    group_at = encode([groups.get(name, name) for name in _names(labels.samples)])[0]
    # Numbered by the first of their samples that has a label.
    present, first, code = np.unique(group_at[place], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(place[first]))[code] if present.size else code
