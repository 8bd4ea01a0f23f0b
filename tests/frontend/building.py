"""What the fixtures and some tests build with."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from annotate.core.units import units_of
from annotate.models import Project, Sample, Task, User
from annotate.tasks.label_changes import LabelInput
from annotate.tasks.labelling import save_label, submit_task

WhoMay = Callable[..., dict[str, int]]
# What pages answer to each role: see the fixture `who_may`.
REVIEWERS_READ = {"anonymous": 302, "admin": 200, "reviewer": 200, "annotator": 403, "stranger": 404}
ADMINS_READ = {**REVIEWERS_READ, "reviewer": 403}
ADMINS_POST = {**ADMINS_READ, "admin": 302}


def make_user(name: str, **more: Any) -> User:
    return User.objects.create_user(name.lower(), password="a long password", display_name=name, **more)


def make_samples(project: Project, count: int) -> list[Sample]:
    first = project.samples.count()
    return Sample.objects.bulk_create(
        Sample(
            project=project,
            external_id=f"s{n}",
            question=f"Question {n}?",
            answer="Paris is old. It lies in France.",
            contexts=[{"id": f"doc{n}", "text": f"Paris, context {n}.", "score": 0.5}],
            claims=[
                {"text": "Paris is old.", "start": 0, "end": 13},
                {"text": "It lies in France.", "start": 14, "end": 32},
            ],
            key_facts=[],
            entities=[],
            metadata={"tier": "gold" if n % 2 else "silver", "row": n},
            content_hash=b"x",
        )
        for n in range(first, first + count)
    )


def label_task(task: Task, values: dict[str, Any], comment: str = "") -> None:
    """Labels all of a task, one value per criterion, and submits it."""
    for criterion in task.batch.criteria.all():
        for unit in units_of(task.sample, criterion.unit):
            save_label(
                actor=task.annotator,
                task_id=task.pk,
                said=LabelInput(unit, criterion.key, values[criterion.key], comment),
                expected_revision=0,
                idempotency_key=uuid.uuid4(),
            )
    submit_task(actor=task.annotator, task_id=task.pk)
