"""Samples with known answers, who could get them, and what an annotator learns from them."""

from __future__ import annotations

import json
import random
from collections.abc import Collection
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from annotate.models import Batch, BatchCriterion, GoldAnswer, Project, Sample, Task, User
from annotate.models.batch import Strategy
from annotate.selectors.expertise import sample_tags


def gold_samples(batch: Batch) -> list[int]:
    """Samples of the project that have a known answer to at least one criterion that the batch asks."""
    asked = BatchCriterion.objects.filter(batch=batch).values("criterion")
    known = GoldAnswer.objects.filter(sample=OuterRef("pk"), criterion__in=asked)
    samples = Sample.objects.filter(Exists(known), project_id=batch.project_id)
    if batch.strategy == Strategy.PULL:
        # Whoever had one of the batch's own samples as gold could never take its copy, which might wait for ever.
        samples = samples.exclude(pk__in=batch.batch_samples.values("sample"))
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


def known_answers(project: Project) -> QuerySet[GoldAnswer]:
    """In import order of their samples."""
    answers = GoldAnswer.objects.filter(sample__project=project).select_related("sample", "criterion")
    return answers.order_by("sample_id", "criterion__position", "unit", "id")


def answer_as_dict(answer: GoldAnswer) -> dict[str, Any]:
    return {
        "id": answer.pk,
        "sample_id": answer.sample.external_id,
        "unit": answer.unit,
        "criterion": answer.criterion.key,
        "value": answer.value,
        "reason": answer.reason,
    }


_WRONG = """
    SELECT g.unit, c.key, l.value, g.value, g.reason
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id AND b.gold_feedback
      JOIN annotate_label l ON l.task_id = t.id AND (l.value IS NOT NULL OR l.cant_tell <> '')
      JOIN annotate_goldanswer g ON g.sample_id = t.sample_id AND g.unit = l.unit AND g.criterion_id = l.criterion_id
      JOIN annotate_criterion c ON c.id = g.criterion_id
     WHERE t.id = %s AND t.annotator_id = %s AND t.purpose = 'gold' AND t.status = 'submitted'
       AND l.value IS DISTINCT FROM g.value
     ORDER BY l.id
"""


def feedback_after(*, user: User, task_id: int) -> list[dict[str, Any]]:
    """What the annotator answered otherwise than is known: of their own submitted gold task, where the batch shows it.

    `yours` None: they could not tell.
    """
    with connection.cursor() as cursor:
        cursor.execute(_WRONG, [task_id, user.pk])
        rows = cursor.fetchall()
    return [
        {
            "unit": unit,
            "criterion": key,
            "yours": None if yours is None else json.loads(yours),
            "answer": json.loads(answer),
            "reason": reason,
        }
        for unit, key, yours, answer, reason in rows
    ]
