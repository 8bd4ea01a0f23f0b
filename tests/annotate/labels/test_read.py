"""Which labels count: the rule for Django's queries and the one for statements by hand are the same rule."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotate.core.blindness import SYSTEM
from annotate.labels.read import COUNTING, LATEST_FIRST, counting_labels, latest_per_rater
from annotate.models import Criterion, Label, Rater, Sample, Task, User
from annotate.models.batch import Purpose, TaskStatus
from annotate.verdicts.rating_codes_read import rating_columns
from annotate.verdicts.ratings_read import votes_of
from tests.annotate.factories import make_sample, make_world

pytestmark = pytest.mark.django_db

_BY_HAND = f"""
    SELECT DISTINCT ON (l.criterion_id, l.sample_id, l.unit, l.rater_id) l.id
      FROM annotate_label l LEFT JOIN annotate_task t ON t.id = l.task_id
     WHERE {COUNTING} ORDER BY {LATEST_FIRST}
"""


def test_both_spellings_choose_the_same_labels() -> None:
    world = make_world()
    for number in range(len(TaskStatus)):
        make_sample(world.project, number)
    (grade,) = world.criteria("grade")
    now = timezone.now()
    # Three batches on the same samples by the same person, of which each has every status once.
    for first in range(3):
        batch = world.batch(annotators=[world.ann], overlap=1)
        for place, task in enumerate(batch.tasks.order_by("sample_id")):
            status = list(TaskStatus)[(place + first) % len(TaskStatus)]
            Task.objects.filter(pk=task.pk).update(
                status=status,
                purpose=list(Purpose)[(place + first) % 2 if first else 0],
                skip_reason="unclear",
                return_message="again, please",
                submitted_at=now,
            )
            _label(world.ann, task.sample, grade, 1 + first, now - timedelta(days=first % 2), task)
    _label(world.ann, task.sample, grade, 5, now - timedelta(days=9))
    _label(world.ben, task.sample, grade, 4, now)
    _label(world.chen, task.sample, grade, None, now)

    with connection.cursor() as cursor:
        cursor.execute(_BY_HAND)
        by_hand = [row[0] for row in cursor.fetchall()]
    assert by_hand == [label.pk for label in latest_per_rater(counting_labels())]
    assert 1 < len(by_hand) < Label.objects.count()

    votes = votes_of(grade, reader=SYSTEM)
    assert len(votes) == len(by_hand)
    columns = rating_columns(grade, reader=SYSTEM)
    names = dict(Sample.objects.values_list("pk", "external_id"))
    assert sorted(((names[pk], unit), rater, value) for pk, unit, rater, value in votes) == sorted(
        zip(columns.units, columns.raters, columns.values, strict=True)
    )
    (other,) = world.criteria("support")
    assert votes_of(other, reader=SYSTEM) == []


def _label(
    user: User, sample: Sample, criterion: Criterion, value: int | None, moment: datetime, task: Task | None = None
) -> None:
    rater, _ = Rater.objects.get_or_create(project=sample.project, user=user, defaults={"name": user.username})
    label = Label.objects.create(task=task, rater=rater, sample=sample, unit="answer", criterion=criterion, value=value)
    Label.objects.filter(pk=label.pk).update(updated_at=moment)
