"""The ratings of a criterion: who gave which value to which unit, as the alignment module reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Collate

from annotate.models import Criterion, Label, Verdict
from annotate.models.verdict import VerdictState
from annotate.scales import Value
from annotate.selectors.counting import counting_labels, latest_per_rater

# A unit as every table of figures names it: the sample's own id, and the address within it.
UnitKey = tuple[str, str]
# Python's order of texts, so that figures that hang on the order of rows are the same in every installation.
_BY_UNIT = (Collate("sample__external_id", "C"), Collate("unit", "C"))


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """One row per rating, in the order of sample, unit, rater."""

    units: list[UnitKey]
    raters: list[str]
    values: list[Value]


def rating_columns(criterion: Criterion) -> RatingColumns:
    """The labels that count, the latest per rater and unit, in one query that holds no model instances."""
    latest = cast("QuerySet[Label]", latest_per_rater(counting_labels().filter(criterion=criterion)))
    rows = (
        Label.objects.filter(pk__in=latest.values("pk"))
        .order_by(*_BY_UNIT, Collate("rater__name", "C"))
        .values_list("sample__external_id", "unit", "rater__name", Cast("value", TextField()))
    )
    # A million labels have a handful of different values: each spelling is parsed once.
    parsed: dict[str, Value] = {}
    columns = RatingColumns([], [], [])
    for sample, unit, rater, text in rows.iterator(chunk_size=20_000):
        if text not in parsed:
            parsed[text] = json.loads(text)
        columns.units.append((sample, unit))
        columns.raters.append(rater)
        columns.values.append(parsed[text])
    return columns


def verdict_values(criterion: Criterion) -> dict[UnitKey, Value]:
    """The verdicts that hold, in the order of sample and unit; a reopened one stands until a reviewer looks again."""
    rows = (
        Verdict.objects.filter(criterion=criterion)
        .exclude(state=VerdictState.DISPUTED)
        .order_by(*_BY_UNIT)
        .values_list("sample__external_id", "unit", "value")
    )
    return {(sample, unit): cast("Value", value) for sample, unit, value in rows}
