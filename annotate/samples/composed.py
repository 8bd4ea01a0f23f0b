"""Samples that were composed for a batch are of no use without it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError

from annotate.models import Sample


def delete_composed(keys: Collection[int]) -> None:
    """Those of these composed samples that no batch has and of which nobody, no judge either, has said anything. Inside
    the caller's transaction."""
    left = set(keys)
    while left:
        try:
            with transaction.atomic():
                Sample.objects.filter(pk__in=left, composed=True).delete()
                return
        except ProtectedError as error:
            rows: Collection[Any] = error.protected_objects
            left -= {row.sample_id for row in rows}
