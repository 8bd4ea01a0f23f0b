"""How well annotators did: against known answers, and against themselves."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django.db import connection

from annotate.models import Batch, Project, User

if TYPE_CHECKING:
    from alignment import Estimate
    from alignment.base.ratings import Scale
    from annotate.models import Criterion


@dataclass(frozen=True, slots=True)
class GoldAccuracy:
    """One annotator's answers to units with a known one. `cant_tell` are no answers, and not among them."""

    username: str
    name: str
    right: int
    answered: int
    cant_tell: int
    # right / answered.
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class Steadiness:
    """One annotator's second readings against their first, on one criterion."""

    username: str
    name: str
    criterion: str
    agreement: Estimate
    kappa: Estimate


_GOLD = """
    SELECT t.annotator_id, l.sample_id, l.value = g.value, l.value IS NULL
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id
      JOIN annotate_label l ON l.task_id = t.id AND (l.value IS NOT NULL OR l.cant_tell <> '')
      JOIN annotate_goldanswer g ON g.sample_id = l.sample_id AND g.unit = l.unit AND g.criterion_id = l.criterion_id
     WHERE t.purpose = 'gold' AND t.status = 'submitted' AND {scope}
     ORDER BY t.annotator_id, l.sample_id, l.id
"""


def gold_accuracy(of: Batch | Project) -> list[GoldAccuracy]:
    """Per annotator who submitted a gold task, by name."""
    # Here, not above: the statistics take a second to load.
    import numpy as np

    from alignment.base.interval import Plan, proportion

    scope = "t.batch_id = %s" if isinstance(of, Batch) else "b.project_id = %s"
    rows: dict[int, list[tuple[int, bool | None, bool]]] = defaultdict(list)
    for annotator, *row in _rows(_GOLD.format(scope=scope), [of.pk]):
        rows[annotator].append(tuple(row))
    found = []
    for user in User.objects.filter(pk__in=rows).order_by("username"):
        hits: dict[int, list[bool]] = defaultdict(list)
        for sample, right, cant_tell in rows[user.pk]:
            if not cant_tell:
                hits[sample].append(bool(right))
        answered = sum(map(len, hits.values()))
        accuracy = proportion(
            np.array([sum(each) for each in hits.values()], dtype=np.float64),
            np.array([len(each) for each in hits.values()], dtype=np.float64),
            Plan("influence", None, 0.95),
            name="accuracy on known answers",
            undefined="no answer to a unit with a known one",
        )
        right_ones = sum(map(sum, hits.values()))
        cant_tells = len(rows[user.pk]) - answered
        found.append(GoldAccuracy(user.username, user.name, right_ones, answered, cant_tells, accuracy))
    return found


_READ_TWICE = """
    SELECT t.annotator_id, l.criterion_id, l.sample_id, l.unit, f.value, l.value
      FROM annotate_task t
      JOIN annotate_label l ON l.task_id = t.id AND l.value IS NOT NULL
      JOIN annotate_task o ON o.batch_id = t.batch_id AND o.sample_id = t.sample_id
                          AND o.annotator_id = t.annotator_id AND o.purpose = 'label' AND o.status = 'submitted'
      JOIN annotate_label f ON f.task_id = o.id AND f.unit = l.unit AND f.criterion_id = l.criterion_id
                           AND f.value IS NOT NULL
     WHERE t.purpose = 'repeat' AND t.status = 'submitted' AND t.batch_id = %s
     ORDER BY t.annotator_id, l.criterion_id, l.sample_id, l.unit
"""


def self_consistency(batch: Batch) -> list[Steadiness]:
    """Per annotator who read something twice, and criterion: agreement and kappa of the two readings."""
    rows: dict[tuple[int, int], list[tuple[int, str, Any, Any]]] = defaultdict(list)
    for annotator, criterion, sample, unit, first, second in _rows(_READ_TWICE, [batch.pk]):
        rows[annotator, criterion].append((sample, unit, json.loads(first), json.loads(second)))
    people = {user.pk: user for user in User.objects.filter(pk__in={annotator for annotator, _ in rows})}
    order = {criterion.pk: (place, criterion) for place, criterion in enumerate(batch.asked_criteria())}
    keys = sorted((key for key in rows if key[1] in order), key=lambda key: (people[key[0]].username, order[key[1]][0]))
    return [_steadiness(people[person], order[key][1], rows[person, key], batch.seed) for person, key in keys]


def _steadiness(user: User, criterion: Criterion, rows: list[tuple[int, str, Any, Any]], seed: int) -> Steadiness:
    import numpy as np

    from alignment import Ratings, cohen_kappa, self_consistency

    units = [(sample, unit) for sample, unit, _first, _second in rows] * 2
    clusters = [sample for sample, *_rest in rows] * 2
    values = [first for _s, _u, first, _second in rows] + [second for *_rest, second in rows]
    both = ["first"] * len(rows) + ["second"] * len(rows)
    rng = np.random.default_rng(seed)
    scale = cast("Scale", criterion.scale)
    ratings = Ratings.from_columns(
        units,
        both,
        values,
        clusters,
        scale=scale,
        levels=criterion.levels or None,
    )
    agreement = self_consistency(units, [user.username] * len(units), values, clusters, rng=rng).pooled.agreement
    kappa = cohen_kappa(ratings, "first", "second", rng=rng)
    return Steadiness(user.username, user.name, criterion.key, agreement, kappa)


def _rows(sql: str, given: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return cursor.fetchall()
