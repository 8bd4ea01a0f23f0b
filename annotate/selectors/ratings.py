"""The ratings of a criterion: who gave which value to which unit, as the alignment module reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from annotate.models import Criterion, Verdict
from annotate.models.verdict import VerdictState
from annotate.scales import Value
from annotate.selectors.counting import counting_labels, latest_per_rater

if TYPE_CHECKING:
    from alignment import Ratings
    from alignment.ratings import Scale

# A unit as every table of figures names it: primary key of the sample, and the address within it.
UnitKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """One row per rating, in the order of sample, unit, rater. The cluster is the sample."""

    units: list[UnitKey]
    raters: list[str]
    values: list[Value]
    clusters: list[int]


def rating_columns(criterion: Criterion) -> RatingColumns:
    """The labels that count, the latest per rater and unit, in one query that holds no model instances."""
    labels = cast("QuerySet", latest_per_rater(counting_labels().filter(criterion=criterion)))
    rows = labels.values_list("sample_id", "unit", "rater__name", Cast("value", TextField()))
    # A million labels have a handful of different values: each spelling is parsed once.
    parsed: dict[str, Value] = {}
    columns = RatingColumns([], [], [], [])
    for sample, unit, rater, text in rows.iterator(chunk_size=20_000):
        if text not in parsed:
            parsed[text] = json.loads(text)
        columns.units.append((sample, unit))
        columns.raters.append(rater)
        columns.values.append(parsed[text])
        columns.clusters.append(sample)
    return columns


def ratings_from(criterion: Criterion, columns: RatingColumns) -> Ratings:
    """The columns as the alignment module's table, on the criterion's own scale."""
    # Here, not above: it takes a second to load, and most processes never count anything.
    from alignment import Ratings

    return Ratings.from_columns(
        columns.units,
        columns.raters,
        columns.values,
        columns.clusters,
        scale=cast("Scale", criterion.scale),
        levels=criterion.levels or None,
    )


def verdict_values(criterion: Criterion) -> dict[UnitKey, Value]:
    """The verdicts that hold, in the order of sample and unit; a reopened one stands until a reviewer looks again."""
    rows = (
        Verdict.objects.filter(criterion=criterion)
        .exclude(state=VerdictState.DISPUTED)
        .order_by("sample_id", "unit")
        .values_list("sample_id", "unit", "value")
    )
    return {(sample, unit): cast("Value", value) for sample, unit, value in rows}
