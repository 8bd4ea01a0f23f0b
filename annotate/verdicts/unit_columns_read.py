"""What was said of very many units, in columns: PostgreSQL packs those of some thousand samples at a time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from alignment.base.arrays import renumbered
from alignment.base.coded import Coded
from alignment.report.units import UnitKey, Units
from annotate.core.packed import Kind, columns_of
from annotate.core.rows import Row, snapshot
from annotate.models import Project
from annotate.samples.read import names_of


def unit_columns(
    project: Project, rows: QuerySet[Row], samples: Collection[int] | None = None, **columns: Kind
) -> tuple[Coded[UnitKey], list[Any]]:
    """Of rows about units of the project (`sample`, `unit`), in any order: their units, and these columns. samples: as
    `columns_of`."""
    with snapshot():
        sample_key, address, *found = columns_of(project, rows, samples, unit="json", **columns)
        keys, sample = renumbered(sample_key)
        names = names_of(keys.tolist())
    return Units.coded(names, sample, address.items, address.codes), found
