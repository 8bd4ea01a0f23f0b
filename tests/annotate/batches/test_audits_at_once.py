"""Two workers, one date: real connections."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import transaction

from annotate.batches.audits_make import look_for_audits, make_audit
from annotate.batches.audits_write import create_schedule, pause_schedule
from annotate.core import advisory
from annotate.models import AuditSchedule, Batch, ScheduledAudit
from tests.annotate.factories import World, concurrently, make_samples, make_world

pytestmark = pytest.mark.django_db(transaction=True)
MONDAY = date(2999, 1, 7)


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def schedule(world: World) -> AuditSchedule:
    make_samples(world.project, 12)
    return create_schedule(
        project=world.project, actor=world.alice, today=MONDAY - timedelta(days=7), name="Weekly audit",
        criteria=world.criteria("grade"), annotators=[world.ann, world.ben], samples=5,
    )  # fmt: skip


def test_of_several_workers_one_makes_the_batch(schedule: AuditSchedule) -> None:
    found = concurrently(*[lambda: make_audit(schedule.pk, today=MONDAY)] * 4)
    assert len([audit for audit in found if audit is not None]) == 1
    look_for_audits(today=MONDAY)
    assert Batch.objects.count() == ScheduledAudit.objects.count() == 1
    assert Batch.objects.get().tasks.count() == 10


def test_a_pause_at_the_same_time_ends_in_one_or_the_other(world: World, schedule: AuditSchedule) -> None:
    concurrently(
        lambda: make_audit(schedule.pk, today=MONDAY),
        lambda: pause_schedule(actor=world.alice, schedule=schedule, today=MONDAY),
    )
    schedule.refresh_from_db()
    assert schedule.status == "paused"
    is_made = Batch.objects.exists()
    assert ScheduledAudit.objects.exists() is is_made
    assert (schedule.next_on > MONDAY) is is_made


def test_while_a_file_is_imported_the_batch_waits(world: World, schedule: AuditSchedule) -> None:
    """What that import writes comes after the newest sample, so that the next draw is from all of it."""
    with transaction.atomic():
        assert advisory.begin_import(world.project.pk, wait=True)
        assert concurrently(lambda: make_audit(schedule.pk, today=MONDAY)) == [None]
    assert make_audit(schedule.pk, today=MONDAY) is not None
