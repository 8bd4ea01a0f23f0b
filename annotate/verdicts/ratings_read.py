"""What people said of a criterion's units besides the labels that count (annotate.verdicts.rating_codes_read):
verdicts, labels that were replaced, votes; without samples that were labelled with a judge's proposals, but for
`votes_of`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from sys import intern
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, TextField
from django.db.models.functions import Cast, Collate

from annotate.core.blindness import STILL_TO_LABEL, GeneralReader, Reader, parameters, without_held_back
from annotate.core.rows import fetch_all
from annotate.core.scales import Value
from annotate.core.units import without_abstentions
from annotate.labels.anchored_read import without_anchored
from annotate.labels.read import COUNTING, LATEST_FIRST, counting_labels, latest_per_rater, was_after_answer
from annotate.labels.settled_read import HOLDING, STANDING, Standing
from annotate.models import Criterion, Label, Verdict
from annotate.models.batch import Purpose, TaskStatus

if TYPE_CHECKING:
    from alignment.report.units import ByUnit

# Python's order of texts, so that figures that hang on the order of rows are the same in every installation.
_BY_UNIT = (Collate("sample__external_id", "C"), Collate("unit", "C"))
_VALUE_TEXT = Cast("value", TextField())

# A unit as every table of figures names it: the sample's own id, and the address within it.
UnitKey = tuple[str, str]


def unit_key(sample: str, unit: str) -> UnitKey:
    """Of what a row says, which brings texts of its own: one object for what many rows say, or a million of them take
    gigabytes."""
    return intern(sample), intern(unit)


def compared_after_answer(criterion: Criterion) -> int:
    """Of the labels that are compared with another person's: how many were given after a reviewer's answer."""
    latest = latest_per_rater(counting_labels().filter(criterion=criterion))
    same_unit = counting_labels().filter(
        criterion=OuterRef("criterion"), sample=OuterRef("sample"), unit=OuterRef("unit")
    )
    others = same_unit.exclude(rater=OuterRef("rater"))
    compared = Label.objects.filter(was_after_answer(), Exists(others), pk__in=latest.values("pk"))
    return without_anchored(compared, criterion).count()


_VOTES = f"""
    SELECT DISTINCT ON (l.criterion_id, l.sample_id, l.unit, l.rater_id) l.sample_id, l.unit, r.name, l.value::text
      FROM annotate_label l
      JOIN annotate_rater r ON r.id = l.rater_id
      LEFT JOIN annotate_task t ON t.id = l.task_id
     WHERE l.criterion_id = %(criterion)s AND {COUNTING} {{rule}}
     ORDER BY {LATEST_FIRST}
"""


def votes_of(criterion: Criterion, *, reader: Reader) -> list[tuple[int, str, str, Value]]:
    """The labels that count, as sample's key, unit, rater and value, in that order;
    those made with a proposal too, as they are votes."""
    parse = _parser()
    rule = "" if isinstance(reader, GeneralReader) else f"AND NOT {STILL_TO_LABEL.format(sample='l.sample_id')}"
    rows = fetch_all(_VOTES.format(rule=rule), {"criterion": criterion.pk, **parameters(reader)})
    return [(sample, unit, rater, parse(text)) for sample, unit, rater, text in rows]


def labels_before(
    criterion: Criterion, replaced: Collection[int], *, reader: Reader
) -> list[tuple[UnitKey, str, Value]]:
    """What a rater said of a unit besides the label that counts: unit, rater, value. Labels that gave way to a later
    one, and second readings, which were asked for to see how steady the rater is. replaced: keys of the former."""
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
    keys = {*replaced, *again.values_list("pk", flat=True)}
    if not keys:
        return []
    # Again with a value: one that gave way may have become none since its key was read.
    found = Label.objects.filter(value__isnull=False).extra(where=["annotate_label.id = ANY(%s)"], params=[list(keys)])
    evident = without_anchored(found, criterion)
    rows = (
        without_abstentions(without_held_back(evident, reader=reader))
        .order_by(*_BY_UNIT, Collate("rater__name", "C"), "updated_at", "pk")
        .values_list("sample__external_id", "unit", "rater__name", _VALUE_TEXT)
    )
    parse = _parser()
    return [(unit_key(sample, unit), intern(rater), parse(text)) for sample, unit, rater, text in rows]


def _parser() -> Callable[[str], Value]:
    # A million labels have a handful of different values: each spelling is parsed once.
    return cache(json.loads)


@dataclass(frozen=True, slots=True)
class VerdictColumns:
    """values: the verdicts that settle their unit, in the order of sample and unit. standings: of every unit with a
    verdict what it rests on (annotate.labels.settled_read). declared: how many rest on one label by an admin's word,
    per batch; None: made elsewhere."""

    values: ByUnit[Value]
    standings: ByUnit[str]
    declared: dict[int | None, int]


def verdict_columns(criterion: Criterion, *, reader: Reader) -> VerdictColumns:
    """A reopened verdict stands until a reviewer looks again."""
    import numpy as np

    from alignment.base.coded import array_of
    from alignment.report.units import ByUnit, Units
    from annotate.verdicts.unit_columns_read import unit_columns

    evident = without_anchored(Verdict.objects.filter(criterion=criterion), criterion)
    rows = without_abstentions(without_held_back(evident, reader=reader)).annotate(standing=STANDING)
    units, (value, standing, batch) = unit_columns(
        criterion.project, rows, value="json", standing="json", batch="whole"
    )
    names = Units.of(units)
    place, holds = names.places(units), array_of(standing, HOLDING.__contains__, np.bool_)
    declared = Counter(batch[array_of(standing, Standing.DECLARED.__eq__, np.bool_)].tolist())
    return VerdictColumns(
        values=ByUnit.at(names, place[holds], value[holds]),
        standings=ByUnit.at(names, place, standing),
        declared={pk or None: count for pk, count in declared.items()},
    )
