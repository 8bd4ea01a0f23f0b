"""Who still has a sample to label doesn't see what others said about it, whatever their role. That rule's one home."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from annotate.models import Sample, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES

# Of a sample's id and a user: the rule for statements by hand. `{sample}` names the column.
STILL_TO_LABEL = """
    EXISTS (SELECT FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id
             WHERE t.sample_id = {sample} AND t.status = ANY(%(open)s) AND b.status = ANY(%(running)s)
               AND (t.annotator_id = %(user)s
                    OR t.annotator_id IS NULL
                   AND EXISTS (SELECT FROM annotate_batch_annotators a WHERE a.batch_id = b.id AND a.user_id = %(user)s)
                   AND NOT EXISTS (SELECT FROM annotate_task own WHERE own.batch_id = b.id
                                      AND own.sample_id = t.sample_id AND own.annotator_id = %(user)s)))
"""


def still_to_label(user: User, sample: Sample) -> bool:
    """Whether the user has the sample in hand, or could take it from a queue."""
    own = Task.objects.filter(batch=OuterRef("batch"), sample=sample, annotator=user)
    waiting = Q(annotator__isnull=True, batch__annotators=user) & ~Q(Exists(own))
    tasks = sample.tasks.filter(status__in=OPEN_TASK_STATUSES, batch__status__in=RUNNING_BATCH_STATUSES)
    return tasks.filter(Q(annotator=user) | waiting).exists()


def samples_still_to_label(user: User, sample_ids: Collection[int]) -> set[int]:
    """Those of the samples that `still_to_label` is true of. One query."""
    if not sample_ids:
        return set()
    given: dict[str, Any] = {
        "samples": list(sample_ids),
        "user": user.pk,
        "open": [status.value for status in OPEN_TASK_STATUSES],
        "running": [status.value for status in RUNNING_BATCH_STATUSES],
    }
    rule = STILL_TO_LABEL.format(sample="s.id")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT s.id FROM unnest(%(samples)s::bigint[]) AS s (id) WHERE {rule}", given)
        return {pk for (pk,) in cursor.fetchall()}


def why_held_back() -> str:
    return _("You still have this sample to label. What others said about it is shown once you have submitted it.")
