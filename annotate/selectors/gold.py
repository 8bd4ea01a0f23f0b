"""Samples with known answers, and how the annotators answered them."""

from __future__ import annotations

import random
from collections.abc import Collection

from django.db.models import Exists, OuterRef

from annotate.models import Batch, BatchCriterion, GoldAnswer, Sample, Task
from annotate.selectors.expertise import sample_tags


def gold_samples(batch: Batch) -> list[int]:
    """Samples of the project that have a known answer to at least one criterion that the batch asks."""
    asked = BatchCriterion.objects.filter(batch=batch).values("criterion")
    known = GoldAnswer.objects.filter(sample=OuterRef("pk"), criterion__in=asked)
    samples = Sample.objects.filter(Exists(known), project_id=batch.project_id)
    return list(samples.order_by("id").values_list("id", flat=True))


def gold_for(
    batch: Batch, annotator_id: int, *, tags: Collection[str], besides: Collection[int], rng: random.Random
) -> list[tuple[int, str]]:
    """(sample, tag) that the person could get as gold, in random order, those they never met first.

    A sample that they have, or are about to have (`besides`), in this batch is not among them, nor one that needs an
    expertise that isn't among their `tags`.
    """
    samples = gold_samples(batch)
    tag_of = sample_tags(batch.tag_key, samples)
    met = Task.objects.filter(annotator=annotator_id, sample__in=samples)
    here = set(met.filter(batch=batch).values_list("sample", flat=True))
    seen = set(met.values_list("sample", flat=True))
    free = [pk for pk in samples if pk not in here and pk not in besides and tag_of.get(pk, "") in {"", *tags}]
    rng.shuffle(free)
    free.sort(key=seen.__contains__)
    return [(pk, tag_of.get(pk, "")) for pk in free]
