"""The ratings of a criterion as numbers, for millions of them: the labels of `rating_columns`, without their names.

PostgreSQL packs the columns of some thousand samples into one value each, so that nothing is made for a single row.
"""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
from django.db import connection

import alignment
from alignment.base.arrays import Array, Ints, renumbered
from alignment.base.ratings import encode
from annotate.core.rows import snapshot
from annotate.core.units import no_abstention
from annotate.labels.anchored_read import anchored_samples
from annotate.labels.read import VOTE
from annotate.models import Criterion, Rater
from annotate.models.project import UnitKind
from annotate.samples.read import groups_of

_SAMPLES_AT_ONCE = 10_000

_IN_ORDER = """
    SELECT string_agg(int8send(id), '' ORDER BY external_id COLLATE "C")
      FROM annotate_sample WHERE project_id = %(project)s
"""
_NAMES = """
    SELECT external_id FROM annotate_sample WHERE project_id = %(project)s ORDER BY external_id COLLATE "C"
"""
# One pass over the labels, whatever their order; `value` as its place among the levels, from 1.
_PACKED = f"""
    SELECT string_agg(int8send(l.sample_id), ''),
           string_agg(int4send(coalesce(nullif(split_part(l.unit, ':', 2), '')::int, 0)), ''),
           string_agg(int8send(l.rater_id), ''),
           string_agg({{value}}, ''),
           string_agg(timestamptz_send(l.updated_at), ''),
           string_agg(int8send(l.id), '')
      FROM annotate_label l LEFT JOIN annotate_task t ON t.id = l.task_id
     WHERE l.criterion_id = %(criterion)s AND l.sample_id BETWEEN %(first)s AND %(last)s
       AND {VOTE} AND {{abstention}} AND NOT l.sample_id = ANY(%(anchored)s)
"""
_AS_LEVEL = "int4send(coalesce(array_position(%(levels)s::jsonb[], l.value), 0))"
_AS_NUMBER = "float8send((l.value)::float8)"


def ratings_of(criterion: Criterion) -> alignment.Ratings:
    """The labels that count, the latest per rater and unit, as `Evidence.ratings` has them, with the samples' groups as
    clusters; units have no names."""
    with snapshot():
        return _ratings_of(criterion)


def _ratings_of(criterion: Criterion) -> alignment.Ratings:
    levels = [option["value"] for option in criterion.options]
    in_order = _samples_in_order(criterion)
    sample, index, rater, value = _latest(_columns(criterion, in_order, levels))
    by_key = np.argsort(in_order)
    place = by_key[np.searchsorted(in_order, sample, sorter=by_key)]
    # As Python orders the addresses of a kind: "claim:10" comes before "claim:2".
    texts = sorted(range(int(index.max(initial=0)) + 1), key=str)
    _, unit = renumbered(place * len(texts) + np.argsort(texts)[index])
    people, code = renumbered(rater)
    names = dict(Rater.objects.filter(project=criterion.project_id).values_list("pk", "name"))
    called = [names[pk] for pk in people.tolist()]
    by_name = sorted(range(len(called)), key=called.__getitem__)
    return alignment.Ratings(
        unit=unit,
        rater=np.argsort(by_name)[code],
        value=value,
        cluster=_clusters(criterion, place),
        levels=tuple(levels) or None,
        scale=cast("alignment.Scale", criterion.scale),
        raters=tuple(called[place] for place in by_name),
    )


def _samples_in_order(criterion: Criterion) -> Ints:
    """The primary keys of the project's samples, in the order of their own ids."""
    (packed,) = _packed(_IN_ORDER, {"project": criterion.project_id})
    return _unpacked(packed, ">i8")


def _columns(criterion: Criterion, samples: Ints, levels: list[object]) -> list[Array]:
    """Sample, index of the unit, rater, value, time and key of each label that counts."""
    kinds = (">i8", ">i4", ">i8", ">i4" if levels else ">f8", ">i8", ">i8")
    abstention = no_abstention("l") if criterion.unit == UnitKind.CLAIM else "true"
    statement = _PACKED.format(value=_AS_LEVEL if levels else _AS_NUMBER, abstention=abstention)
    given = {
        "criterion": criterion.pk,
        "levels": [json.dumps(level) for level in levels],
        "anchored": list(anchored_samples(criterion)),
    }
    keys = np.sort(samples)
    parts = [[np.empty(0, kind)] for kind in kinds]
    for start in range(0, keys.size, _SAMPLES_AT_ONCE):
        some = keys[start : start + _SAMPLES_AT_ONCE]
        packed = _packed(statement, {**given, "first": int(some[0]), "last": int(some[-1])})
        for part, column, kind in zip(parts, packed, kinds, strict=True):
            part.append(_unpacked(column, kind))
    found = [np.concatenate(part) for part in parts]
    return [*found[:3], found[3] - 1 if levels else found[3], *found[4:]]


def _packed(statement: str, given: dict[str, Any]) -> tuple[bytes | None, ...]:
    connection.ensure_connection()
    # As bytes; the usual cursor would have them spelled out.
    with connection.wrap_database_errors, connection.connection.cursor(binary=True) as cursor:
        row: tuple[bytes | None, ...] = cursor.execute(statement, given).fetchone()
        return row


def _unpacked(packed: bytes | None, kind: str) -> Array:
    return np.frombuffer(packed or b"", kind).astype(kind[1:])


def _latest(columns: list[Array]) -> list[Array]:
    """Without the labels that a later one of the same person on the same unit replaced."""
    sample, index, rater, value, at, key = columns
    order = np.lexsort((key, at, rater, index, sample))
    sample, index, rater = sample[order], index[order], rater[order]
    is_last = np.ones(order.size, dtype=np.bool_)
    is_last[:-1] = (sample[1:] != sample[:-1]) | (index[1:] != index[:-1]) | (rater[1:] != rater[:-1])
    return [sample[is_last], index[is_last], rater[is_last], value[order][is_last]]


def _clusters(criterion: Criterion, place: Ints) -> Ints:
    groups = groups_of(criterion.project)
    if not groups:
        return renumbered(place)[1]
    with connection.cursor() as cursor:
        cursor.execute(_NAMES, {"project": criterion.project_id})
        group_at = encode([groups.get(name, name) for (name,) in cursor.fetchall()])[0]
    # Numbered by the first of their samples that has a label.
    present, first, code = np.unique(group_at[place], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(place[first]))[code] if present.size else code
