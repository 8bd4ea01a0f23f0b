"""Who still has a sample to label doesn't see what others said about it, whatever their role. That rule's one home.

What reads what people or judges said takes the `reader` and applies the rule itself, so that no caller can forget it.
Where the reader is no particular user, the caller says so, by a name that shows in a code review.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.models import Sample, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES

Row = TypeVar("Row", bound=Model)


class GeneralReader(Enum):
    """Readers that are no particular user: they have nothing to label, so nothing is held back from them."""

    # Rules, the worker, the command line, and figures over many units: what is read is not shown as it is.
    SYSTEM = "system"
    # What all who may open it see alike, and what leaves as a file: a frozen report, a release.
    EVERYONE = "everyone"


SYSTEM, EVERYONE = GeneralReader.SYSTEM, GeneralReader.EVERYONE
Reader = User | GeneralReader

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


def parameters(reader: Reader) -> dict[str, Any]:
    """Those of STILL_TO_LABEL."""
    return {
        "user": None if isinstance(reader, GeneralReader) else reader.pk,
        "open": [status.value for status in OPEN_TASK_STATUSES],
        "running": [status.value for status in RUNNING_BATCH_STATUSES],
    }


def still_to_label(reader: Reader, sample: Sample) -> bool:
    """Whether the reader has the sample in hand, or could take it from a queue."""
    return not isinstance(reader, GeneralReader) and _tasks_ahead(reader).filter(sample=sample).exists()


def samples_still_to_label(reader: Reader, sample_ids: Collection[int]) -> set[int]:
    """Those of the samples that `still_to_label` is true of. One query."""
    if not sample_ids or isinstance(reader, GeneralReader):
        return set()
    rule = STILL_TO_LABEL.format(sample="s.id")
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT s.id FROM unnest(%(samples)s::bigint[]) AS s (id) WHERE {rule}",
            {"samples": list(sample_ids), **parameters(reader)},
        )
        return {pk for (pk,) in cursor.fetchall()}


def require_unblind(reader: Reader, sample: Sample) -> None:
    """Raises Conflict."""
    if still_to_label(reader, sample):
        raise Conflict("still_to_label", why_held_back())


def without_held_back(rows: QuerySet[Row], *, reader: Reader) -> QuerySet[Row]:
    """Rows about samples (`sample`), without those about samples that the reader still has to label."""
    if isinstance(reader, GeneralReader):
        return rows
    return rows.exclude(sample__in=_tasks_ahead(reader).values("sample"))


def _tasks_ahead(user: User) -> QuerySet[Task]:
    own = Task.objects.filter(batch=OuterRef("batch"), sample=OuterRef("sample"), annotator=user)
    waiting = Q(annotator__isnull=True, batch__annotators=user) & ~Q(Exists(own))
    tasks = Task.objects.filter(status__in=OPEN_TASK_STATUSES, batch__status__in=RUNNING_BATCH_STATUSES)
    return tasks.filter(Q(annotator=user) | waiting)


def why_held_back() -> str:
    return _("You still have this sample to label. What others said about it is shown once you have submitted it.")
