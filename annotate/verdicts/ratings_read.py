"""The ratings of a criterion: who gave which value to which unit, as the alignment module reads them.

People's side of a criterion's evidence, as the alignment module reads it.

How well people agree with each other on a criterion.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from typing import Any, cast

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast, Collate, TruncDate

from alignment.base.ratings import Scale
from alignment.report import Before, Chance, Evidence, Option, agreement_figures
from alignment.report import Criterion as Asked
from annotate.batches.draws_read import chances_of
from annotate.core.scales import Value
from annotate.labels.counting import COUNTING, LATEST_FIRST, counting_labels, latest_per_rater, seconds_per_choice
from annotate.models import Criterion, Label, Verdict
from annotate.models.batch import Purpose, TaskStatus
from annotate.models.verdict import VerdictState
from annotate.samples.read import metadata_of, unit_counts

# A unit as every table of figures names it: the sample's own id, and the address within it.
UnitKey = tuple[str, str]
# Python's order of texts, so that figures that hang on the order of rows are the same in every installation.
_BY_UNIT = (Collate("sample__external_id", "C"), Collate("unit", "C"))
_VALUE_TEXT = Cast("value", TextField())
_DAY = TruncDate("updated_at", tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """One row per rating, in the order of sample, unit, rater.

    days: when it was given, "2026-11-21" in UTC, None for labels made elsewhere. seconds: since the rater's choice
    before it in the same task; None for the first one and after a pause (annotate.labels.counting).
    """

    units: list[UnitKey]
    raters: list[str]
    values: list[Value]
    days: list[str | None]
    seconds: list[float | None]


def rating_columns(criterion: Criterion) -> RatingColumns:
    """The labels that count, the latest per rater and unit, in one query that holds no model instances."""
    latest = cast("QuerySet[Label]", latest_per_rater(counting_labels().filter(criterion=criterion)))
    rows = (
        Label.objects.filter(pk__in=latest.values("pk"))
        .order_by(*_BY_UNIT, Collate("rater__name", "C"))
        .values_list("pk", "sample__external_id", "unit", "rater__name", _VALUE_TEXT, "task_id", _DAY)
    )
    seconds = seconds_per_choice(criterion)
    parse = _parser()
    columns = RatingColumns([], [], [], [], [])
    for pk, sample, unit, rater, text, task, day in rows.iterator(chunk_size=20_000):
        columns.units.append((sample, unit))
        columns.raters.append(rater)
        columns.values.append(parse(text))
        columns.days.append(None if task is None else day.isoformat())
        columns.seconds.append(seconds.get(pk))
    return columns


_VOTES = f"""
    SELECT DISTINCT ON (l.criterion_id, l.sample_id, l.unit, l.rater_id) l.sample_id, l.unit, r.name, l.value::text
      FROM annotate_label l
      JOIN annotate_rater r ON r.id = l.rater_id
      LEFT JOIN annotate_task t ON t.id = l.task_id
     WHERE l.criterion_id = %s AND {COUNTING}
     ORDER BY {LATEST_FIRST}
"""


def votes_of(criterion: Criterion) -> list[tuple[int, str, str, Value]]:
    """The same labels as `rating_columns`, as sample's key, unit, rater and value, in that order: for whoever waits for
    the answer to a request, since it costs a tenth."""
    parse = _parser()
    with connection.cursor() as cursor:
        cursor.execute(_VOTES, [criterion.pk])
        return [(sample, unit, rater, parse(text)) for sample, unit, rater, text in cursor.fetchall()]


def labels_before(criterion: Criterion) -> list[tuple[UnitKey, str, Value]]:
    """What a rater said of a unit besides the label that counts: unit, rater, value. Labels that gave way to a later
    one, and second readings, which were asked for to see how steady the rater is."""
    latest = cast("QuerySet[Label]", latest_per_rater(counting_labels().filter(criterion=criterion)))
    before = counting_labels().filter(criterion=criterion).exclude(pk__in=latest.values("pk"))
    first = counting_labels().filter(
        criterion=criterion, rater=OuterRef("rater"), sample=OuterRef("sample"), unit=OuterRef("unit")
    )
    again = Label.objects.filter(
        Exists(first),
        criterion=criterion,
        task__purpose=Purpose.REPEAT,
        task__status=TaskStatus.SUBMITTED,
        value__isnull=False,
    )
    rows = (
        Label.objects.filter(Q(pk__in=before.values("pk")) | Q(pk__in=again.values("pk")), criterion=criterion)
        .order_by(*_BY_UNIT, Collate("rater__name", "C"), "updated_at", "pk")
        .values_list("sample__external_id", "unit", "rater__name", _VALUE_TEXT)
    )
    parse = _parser()
    return [((sample, unit), rater, parse(text)) for sample, unit, rater, text in rows]


def _parser() -> Callable[[str], Value]:
    # A million labels have a handful of different values: each spelling is parsed once.
    return cache(json.loads)


def verdict_values(criterion: Criterion) -> dict[UnitKey, Value]:
    """The verdicts that hold, in the order of sample and unit; a reopened one stands until a reviewer looks again."""
    rows = (
        Verdict.objects.filter(criterion=criterion)
        .exclude(state=VerdictState.DISPUTED)
        .order_by(*_BY_UNIT)
        .values_list("sample__external_id", "unit", "value")
    )
    return {(sample, unit): cast("Value", value) for sample, unit, value in rows}


def evidence_of(criterion: Criterion) -> Evidence:
    """What people said: labels that count, and verdicts that hold. Judges and the split are for those who have them."""
    columns = rating_columns(criterion)
    verdicts = verdict_values(criterion)
    samples = {sample for sample, _ in (*columns.units, *verdicts)}
    return Evidence(
        criterion=asked(criterion),
        seed=criterion.project.seed,
        units=columns.units,
        raters=columns.raters,
        values=columns.values,
        verdicts=verdicts,
        days=columns.days,
        seconds=columns.seconds,
        before=[Before(*row) for row in labels_before(criterion)],
        metadata=metadata_of(criterion.project, samples),
        chances={name: Chance(*chance) for name, chance in chances_of(criterion).items()},
        sizes=unit_counts(criterion, samples),
    )


def asked(criterion: Criterion) -> Asked:
    """What was asked, without Django."""
    return Asked(
        key=criterion.key,
        version=criterion.version,
        name=criterion.name,
        unit=criterion.unit,
        scale=cast("Scale", criterion.scale),
        prompt=criterion.prompt,
        options=tuple(
            Option(option["value"], option.get("label") or str(option["value"])) for option in criterion.options
        ),
        passes=tuple(criterion.passes),
    )


def agreement(criterion: Criterion) -> dict[str, Any]:
    """Every agreement statistic of the criterion as plain JSON (docs/statistics.md)."""
    figures = agreement_figures(criterion.key, evidence_of(criterion).ratings(), criterion.project.seed)
    return {**figures, "version": criterion.version}
