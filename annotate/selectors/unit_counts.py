"""How many units of a criterion's kind its samples have."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models.functions import Collate

from annotate.models import Criterion
from annotate.selectors.samples import samples_named
from annotate.unit_sql import UnitCount
from annotate.units import LISTED_KINDS


def unit_counts(criterion: Criterion, samples: Collection[str]) -> dict[str, int]:
    """Of each of these samples, by its own id; nothing for a kind of unit that a sample has once."""
    if criterion.unit not in LISTED_KINDS:
        return {}
    rows = (
        samples_named(criterion.project, samples)
        .annotate(units=UnitCount(criterion.unit))
        .order_by(Collate("external_id", "C"))
    )
    return dict(rows.values_list("external_id", "units"))
