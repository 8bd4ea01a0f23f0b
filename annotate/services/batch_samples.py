"""The samples of a batch: how many people label each, and which expertise each needs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from django.db.models import Max
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Batch, BatchSample
from annotate.selectors.expertise import sample_tags


def add_samples(
    batch: Batch, chosen: Sequence[int], *, chances: Mapping[int, tuple[float, int]] | None = None
) -> list[BatchSample]:
    """Appends them, in this order. Inside the caller's transaction."""
    last = batch.batch_samples.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    several = _drawn_for_overlap(batch, len(chosen), first)
    tags = _tags(batch, chosen, is_new=last is None)
    chances = chances or {}
    return BatchSample.objects.bulk_create(
        (
            BatchSample(
                batch=batch,
                sample_id=pk,
                position=first + index,
                overlap=batch.overlap if index in several else 1,
                tag=tags.get(pk, ""),
                probability=probability,
                stratum=stratum,
            )
            for index, pk in enumerate(chosen)
            for probability, stratum in [chances.get(pk, (None, None))]
        ),
        batch_size=5000,
    )


def _drawn_for_overlap(batch: Batch, count: int, first: int) -> set[int]:
    """Which of them several people label: the batch's share of them, the same for the same seed."""
    if batch.overlap_share >= 1:
        return set(range(count))
    return set(random.Random(f"overlap {batch.seed} {first}").sample(range(count), round(count * batch.overlap_share)))


def _tags(batch: Batch, samples: Sequence[int], *, is_new: bool) -> dict[int, str]:
    tags = sample_tags(batch.tag_key, samples)
    if batch.tag_key and is_new and not tags:
        said = _("None of these samples has “%(key)s” in its metadata.")
        raise Invalid("no_tagged_sample", said % {"key": batch.tag_key})
    return tags
