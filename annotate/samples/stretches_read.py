"""Stretches of a project's samples in import order, which long lists are gone through by (annotate.core.walking)."""

from __future__ import annotations

from annotate.core import walking
from annotate.models import Project, Sample

MOST_DIGITS, MOST_KEY = 18, 2**63 - 1


def stretch_end(project: Project, start: int | None, *, descends: bool = False, size: int | None = None) -> int | None:
    """The primary key of the sample with which a stretch that follows this one ends; None: it is the last. size: where
    more is looked at of each sample, fewer are one stretch."""
    samples = Sample.objects.filter(project=project)
    if start is not None:
        samples = samples.filter(pk__lt=start) if descends else samples.filter(pk__gt=start)
    keys = samples.order_by("-pk" if descends else "pk").values_list("pk", flat=True)
    size = size or walking.STRETCH
    last_and_next = list(keys[size - 1 : size + 1])
    return last_and_next[0] if len(last_and_next) == 2 else None


def stretch_within(start: int | None, end: int | None, *, descends: bool = False) -> tuple[int, int]:
    """After which primary key, and up to which one, the samples of a stretch are: without that of its start."""
    low, high = (end, start) if descends else (start, end)
    return (0 if low is None else low - descends, MOST_KEY if high is None else high - descends)
