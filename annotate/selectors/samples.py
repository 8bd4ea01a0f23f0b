"""Many samples at once, each list in one array: PostgreSQL takes at most 65,535 parameters."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from django.db.models import Model, QuerySet

from annotate.models import Project, Sample

Row = TypeVar("Row", bound=Model)


def samples_named(project: Project, names: Collection[str]) -> QuerySet[Sample]:
    """Those with these ids of their own; of an id that the project doesn't have, none."""
    return Sample.objects.filter(project=project).extra(where=["external_id = ANY(%s)"], params=[sorted(names)])


def samples_keyed(keys: Collection[int]) -> QuerySet[Sample]:
    """Those with these primary keys."""
    return Sample.objects.extra(where=["annotate_sample.id = ANY(%s)"], params=[list(keys)])


def of_samples(rows: QuerySet[Row], keys: Collection[int]) -> QuerySet[Row]:
    """The rows that belong to samples with these primary keys. rows: not within another query.

    Named by their own column: over a table that is just being filled, and whose statistics are old, PostgreSQL would
    join the samples with all of its rows.
    """
    named = f'"{rows.model._meta.db_table}".sample_id = ANY(%s)'
    return rows.extra(where=[named], params=[list(keys)])  # noqa: S610 - a table of ours
