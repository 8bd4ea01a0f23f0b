"""An upgrade: from the first release's tables with rows in them, while processes of that release still write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

FIRST = ("annotate", "0003_batch_sample_chances")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def empty() -> Iterator[None]:
    """A database without a table: to migrate as far as a release is quicker than to take back all that came after."""
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("CREATE SCHEMA public")
    yield
    call_command("migrate", verbosity=0)


@pytest.fixture
def old(empty: None) -> Any:
    """The models as they were, over tables as they were."""
    executor = MigrationExecutor(connection)
    executor.migrate([FIRST])
    return executor.loader.project_state([FIRST]).apps


def rows(old: Any, number: int) -> Any:
    """What a process of that release writes: a sample, a batch with it, a task, a label with its event, a verdict."""
    project, _ = old.get_model("annotate", "Project").objects.get_or_create(slug="p", defaults={"name": "P"})
    user, _ = old.get_model("annotate", "User").objects.get_or_create(username="ann")
    criterion, _ = old.get_model("annotate", "Criterion").objects.get_or_create(
        project=project,
        key="grade",
        defaults={"name": "Grade", "unit": "answer", "scale": "interval", "prompt": "?"},
    )
    rater, _ = old.get_model("annotate", "Rater").objects.get_or_create(project=project, name="ann", user=user)
    sample = old.get_model("annotate", "Sample").objects.create(
        project=project, external_id=f"s{number}", question="Q?", answer="A.", content_hash=b"x"
    )
    batch = old.get_model("annotate", "Batch").objects.create(
        project=project, number=number, name="B", overlap=3, seed=1, status="open"
    )
    old.get_model("annotate", "BatchSample").objects.create(batch=batch, sample=sample, position=0)
    task = old.get_model("annotate", "Task").objects.create(batch=batch, sample=sample, annotator=user, position=0)
    label = old.get_model("annotate", "Label").objects.create(
        task=task, rater=rater, sample=sample, unit="answer", criterion=criterion, value=number
    )
    old.get_model("annotate", "LabelEvent").objects.create(label=label, revision=1, value=number, actor=user)
    return old.get_model("annotate", "Verdict").objects.create(
        sample=sample, unit="answer", criterion=criterion, batch=batch, state="settled", value=number,
        method="unanimous", votes=[{"rater": "ann", "value": number, "revision": 1, "label": label.pk}],
    )  # fmt: skip


def test_rows_of_the_first_release_are_kept_and_its_processes_still_write(old: Any) -> None:
    from annotate.models import Batch, BatchSample, Task, Verdict

    rows(old, 1)
    call_command("migrate", verbosity=0)
    rows(old, 2)
    # The first was there before: its overlap was the batch's. The second came later, and says nothing of it.
    assert list(BatchSample.objects.order_by("id").values_list("overlap", "tag")) == [(3, ""), (1, "")]
    assert list(Task.objects.order_by("id").values_list("purpose", "tag", "return_message")) == [("label", "", "")] * 2
    assert set(
        Batch.objects.values_list(
            "strategy", "tag_key", "overlap_share", "gold_share", "repeat_share", "gold_feedback", "lease_minutes",
            "consensus",
        )
    ) == {("balanced", "", 1, 0, 0, False, 30, "majority")}  # fmt: skip
    assert [verdict.events.count() for verdict in Verdict.objects.order_by("id")] == [1, 1]
    assert Verdict.objects.order_by("id")[0].agreement == 1


def test_the_indexes_of_the_trail_are_made_while_others_write(empty: None) -> None:
    """Over ones that a cut-off build left behind, and without waiting for who writes, or making them wait."""
    executor = MigrationExecutor(connection)
    executor.migrate([("annotate", "0061_events_of_old_verdicts")])
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX label_event_by_time ON annotate_labelevent (id)")
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan([("annotate", "0062_trail_indexes")])
    assert [migration.atomic for migration, _ in plan] == [False]
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexname IN"
            " ('label_event_by_time', 'verdict_event_by_time', 'audit_by_project_and_time', 'audit_by_project')"
            " ORDER BY indexname"
        )
        made = [text.split(" USING ")[1] for (text,) in cursor.fetchall()]
    by_time = "btree (created_at DESC, id DESC)"
    assert made == ["btree (project_id, created_at DESC, id DESC)", by_time, by_time]
