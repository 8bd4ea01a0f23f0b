"""Scheduled audits: what the worker makes of a schedule whose date has come. Days are given, far ahead of today."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.http import Http404
from django.utils import translation

from annotate.batches.audits_make import look_for_audits, make_audit
from annotate.batches.audits_read import eligible_samples, is_audited, one_schedule, stuck_schedules
from annotate.batches.audits_write import (
    change_schedule,
    create_schedule,
    end_schedule,
    pause_schedule,
    resume_schedule,
)
from annotate.batches.edit import edit_batch
from annotate.batches.steps import close_batch, delete_batch
from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, AuditSchedule, Batch, Membership, Project, Sample, ScheduledAudit, Task
from annotate.models.batch import BatchStatus
from annotate.projects.deletion import delete_waiting
from tests.annotate.factories import World, finish, make_sample, make_samples

# A Monday.
MONDAY = date(2999, 1, 7)
WEEK = timedelta(weeks=1)


def set_up(world: World, **more: Any) -> AuditSchedule:
    given: dict[str, Any] = {
        "name": "Weekly audit", "criteria": world.criteria("support", "grade"), "annotators": [world.ann, world.ben],
        "samples": 3, "weekday": MONDAY.weekday(), **more,
    }  # fmt: skip
    return create_schedule(project=world.project, actor=world.alice, today=MONDAY - WEEK, **given)


def made(schedule: AuditSchedule, today: date = MONDAY) -> ScheduledAudit:
    found = make_audit(schedule.pk, today=today)
    assert found is not None
    return found


def entries(action: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action=action).order_by("pk"))


def test_monday_is_one() -> None:
    assert MONDAY.weekday() == 0


def test_a_batch_is_drawn_at_random_and_opened(world: World) -> None:
    make_samples(world.project, 8)
    schedule = set_up(world)
    assert schedule.next_on == MONDAY
    assert make_audit(schedule.pk, today=MONDAY - timedelta(days=1)) is None, "it is not due yet"

    audit = made(schedule)
    batch = audit.batch
    assert batch is not None
    assert (batch.name, batch.status, batch.overlap) == ("Weekly audit 2999-01-07", BatchStatus.OPEN, 2)
    assert batch.due_date == MONDAY + WEEK
    assert (audit.drawn, audit.eligible, audit.wanted, audit.missed) == (3, 8, 3, 0)
    assert batch.tasks.count() == 6
    assert [criterion.key for criterion in batch.asked_criteria()] == ["support", "grade"]
    assert batch.selection["seed"] == batch.seed == audit.seed

    schedule.refresh_from_db()
    assert schedule.next_on == MONDAY + WEEK
    said = [*entries("batch.created"), *entries("batch.opened")]
    assert [(entry.actor, entry.details["schedule"]) for entry in said] == [(None, "Weekly audit")] * 2


def test_the_draw_claims_no_chance_for_others(world: World) -> None:
    make_samples(world.project, 8)
    batch = made(set_up(world)).batch
    assert batch is not None
    assert (batch.selection["method"], batch.selection["came"]) == ("random", "audit")
    assert not batch.batch_samples.filter(probability__isnull=False).exists()


def test_nor_where_it_takes_all_there_are(world: World) -> None:
    make_samples(world.project, 2)
    batch = made(set_up(world)).batch
    assert batch is not None
    assert not batch.batch_samples.filter(probability__isnull=False).exists()


def test_the_same_seed_draws_the_same(world: World) -> None:
    make_samples(world.project, 30)
    schedule = set_up(world)
    with transaction.atomic():
        first = made(schedule)
        drawn = set(first.batch.samples.values_list("pk", flat=True)) if first.batch else set()
        # As if the worker had been killed before it was done.
        transaction.set_rollback(True)
    assert not Batch.objects.exists()
    again = made(schedule)
    assert again.batch is not None
    assert again.seed == first.seed
    assert set(again.batch.samples.values_list("pk", flat=True)) == drawn


def test_each_date_has_a_seed_of_its_own(world: World) -> None:
    make_samples(world.project, 3)
    schedule = set_up(world)
    first = made(schedule)
    assert first.seed != made(schedule, MONDAY + WEEK).seed


def test_only_what_came_since_the_last_one_is_drawn_from(world: World) -> None:
    make_samples(world.project, 5)
    schedule = set_up(world)
    made(schedule)
    new = [make_sample(world.project, number) for number in (6, 7)]
    audit = made(schedule, MONDAY + WEEK)
    assert audit.batch is not None
    assert (audit.drawn, audit.eligible) == (2, 2)
    assert set(audit.batch.samples.all()) == set(new)


def test_labelled_samples_and_those_of_running_batches_are_left_out(world: World) -> None:
    labelled, running, closed, other, free = make_samples(world.project, 5)
    batch = world.batch(annotators=[world.ann], overlap=1, samples=["s1"])
    finish(batch.tasks.get())
    world.batch(annotators=[world.ann], overlap=1, samples=["s2"], opened=False)
    close_batch(batch=world.batch(annotators=[world.ann], overlap=1, samples=["s3"]))
    world.batch(annotators=[world.ann], overlap=1, samples=["s4"], criteria=["relevance"])
    found = eligible_samples(world.project, world.criteria("support", "grade"), {}, after=0)
    # One of a closed batch that nobody labelled is free, and one that is asked something else.
    assert set(found) == {closed, other, free}
    assert labelled not in found
    assert running not in found


def test_a_filter_holds(world: World) -> None:
    make_sample(world.project, 1, metadata={"channel": "mail"})
    phone = make_sample(world.project, 2, metadata={"channel": "phone"})
    audit = made(set_up(world, conditions={"channel": "phone"}))
    assert audit.batch is not None
    assert list(audit.batch.samples.all()) == [phone]
    assert audit.batch.selection["filter"] == {"channel": "phone"}


def test_without_new_samples_there_is_no_batch_and_it_is_said(world: World) -> None:
    schedule = set_up(world)
    audit = made(schedule)
    assert (audit.batch, audit.drawn, audit.eligible) == (None, 0, 0)
    assert not Batch.objects.exists()
    schedule.refresh_from_db()
    assert schedule.next_on == MONDAY + WEEK
    assert len(entries("schedule.empty")) == 1


def test_missed_dates_make_one_batch(world: World) -> None:
    make_samples(world.project, 4)
    schedule = set_up(world)
    audit = made(schedule, MONDAY + 3 * WEEK + timedelta(days=2))
    assert (audit.due_on, audit.missed) == (MONDAY + 3 * WEEK, 3)
    schedule.refresh_from_db()
    assert schedule.next_on == MONDAY + 4 * WEEK
    assert make_audit(schedule.pk, today=MONDAY + 3 * WEEK + timedelta(days=2)) is None
    assert Batch.objects.count() == 1


def test_a_draft_stays_one(world: World) -> None:
    make_samples(world.project, 2)
    batch = made(set_up(world, opens=False)).batch
    assert batch is not None
    assert batch.status == BatchStatus.DRAFT
    assert not Task.objects.exists()


def test_a_draft_that_is_edited_by_hand_no_longer_came_by_the_draw(world: World) -> None:
    drawn, *others = [sample.external_id for sample in make_samples(world.project, 4)]
    batch = made(set_up(world, opens=False)).batch
    assert batch is not None
    assert batch.selection["came"] == "audit"
    there = set(batch.samples.values_list("external_id", flat=True))
    other = next(name for name in (drawn, *others) if name not in there)
    edited = edit_batch(actor=world.alice, batch=batch, name="Another name")
    assert edited.selection["came"] == "audit"
    edited = edit_batch(actor=world.alice, batch=edited, add=[other])
    assert (edited.selection["came"], edited.selection["extensions"][0]["n"]) == ("by_hand", 1)
    edited = edit_batch(actor=world.alice, batch=edited, remove=[other])
    assert (edited.selection["came"], edited.selection["method"]) == ("by_hand", "list")


def test_whatever_refuses_the_batch_is_kept_as_a_code(world: World) -> None:
    make_samples(world.project, 2)
    schedule = set_up(world)
    # What no form and no request stores.
    AuditSchedule.objects.filter(pk=schedule.pk).update(conditions={"tier": ["gold"]})
    with translation.override("zh-hans"):
        assert make_audit(schedule.pk, today=MONDAY) is None
    schedule.refresh_from_db()
    assert schedule.problem == {"code": "bad_filter"}


def test_too_few_annotators_make_nothing_until_that_is_mended(world: World) -> None:
    make_samples(world.project, 2)
    schedule = set_up(world)
    Membership.objects.filter(user=world.ben).update(is_active=False)
    for _ in range(2):
        assert make_audit(schedule.pk, today=MONDAY) is None
    schedule.refresh_from_db()
    assert schedule.problem == {"code": "too_few_annotators", "there": 1, "needed": 2, "gone": ["ben"]}
    assert schedule.next_on == MONDAY
    assert not Batch.objects.exists()
    assert not ScheduledAudit.objects.exists()
    assert len(entries("schedule.stuck")) == 1, "said once, not at every look"
    assert stuck_schedules(world.project) == 1

    change_schedule(actor=world.alice, schedule=schedule, today=MONDAY, annotators=[world.ann, world.chen])
    assert made(schedule).batch is not None
    schedule.refresh_from_db()
    assert schedule.problem is None


def test_who_is_gone_is_left_out_where_the_others_are_enough(world: World) -> None:
    make_samples(world.project, 2)
    schedule = set_up(world, annotators=world.annotators)
    Membership.objects.filter(user=world.chen).delete()
    audit = made(schedule)
    assert audit.batch is not None
    assert audit.without == ["chen"]
    assert set(audit.batch.annotators.all()) == {world.ann, world.ben}


@pytest.mark.parametrize("opens", [True, False])
def test_a_criterion_without_anything_to_ask_is_left_out(world: World, opens: bool) -> None:
    make_samples(world.project, 2, claims=[])
    audit = made(set_up(world, opens=opens))
    assert audit.batch is not None
    assert [criterion.key for criterion in audit.batch.asked_criteria()] == ["grade"]
    assert audit.unasked == ["support"]
    assert audit.batch.tasks.count() == (4 if opens else 0)


def test_a_criterion_that_is_gone_is_in_the_way(world: World) -> None:
    make_samples(world.project, 2)
    schedule = set_up(world)
    world.project.criteria.filter(key="grade").update(is_current=False)
    assert make_audit(schedule.pk, today=MONDAY) is None
    schedule.refresh_from_db()
    assert schedule.problem == {"code": "no_criterion", "criteria": ["grade"]}


def test_paused_ended_and_archived_ones_make_none(world: World) -> None:
    make_samples(world.project, 2)
    paused, ended = set_up(world, name="Paused"), set_up(world, name="Ended")
    pause_schedule(actor=world.alice, schedule=paused, today=MONDAY)
    end_schedule(actor=world.alice, schedule=ended, today=MONDAY)
    set_up(world, name="Archived")
    Project.objects.update(archived_at="2026-01-01T00:00Z")
    look_for_audits(today=MONDAY)
    Project.objects.filter(pk=world.project.pk).update(archived_at=None, deleting_at="2026-01-01T00:00Z")
    look_for_audits(today=MONDAY)
    assert not Batch.objects.exists()
    Project.objects.filter(pk=world.project.pk).update(deleting_at=None)
    look_for_audits(today=MONDAY)
    assert [batch.name for batch in Batch.objects.all()] == ["Archived 2999-01-07"]


def test_a_pause_is_not_made_up_for(world: World) -> None:
    make_samples(world.project, 2)
    schedule = set_up(world)
    pause_schedule(actor=world.alice, schedule=schedule, today=MONDAY)
    resume_schedule(actor=world.alice, schedule=schedule, today=MONDAY + 2 * WEEK)
    schedule.refresh_from_db()
    assert schedule.next_on == MONDAY + 3 * WEEK


def test_what_is_wrong_with_a_schedule_is_said(world: World) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("bad_name", {"name": " "}),
        ("bad_name", {"name": "a\x00"}),
        ("bad_name", {"name": "x" * 181}),
        ("no_criteria", {"criteria": []}),
        ("too_few_annotators", {"overlap": 3}),
        ("not_a_member", {"annotators": [world.ann, world.charlie]}),
        ("bad_weeks", {"weeks": 3}),
        ("bad_number", {"weekday": 7}),
        ("bad_number", {"samples": 0}),
        ("bad_number", {"days": True}),
        ("bad_number", {"overlap": 0}),
        ("bad_filter", {"conditions": {"channel": ["mail"]}}),
        ("bad_flag", {"opens": "yes"}),
    ]
    for code, given in wrong:
        with pytest.raises(Invalid) as refused:
            set_up(world, **given)
        assert refused.value.code == code, given
    assert not AuditSchedule.objects.exists()


def test_changes_are_noted_and_the_rhythm_counts_from_the_last_batch(world: World) -> None:
    make_samples(world.project, 2)
    schedule = set_up(world)
    made(schedule)
    change_schedule(actor=world.alice, schedule=schedule, today=MONDAY, weeks=2, weekday=2, samples=3, name="Audit")
    schedule.refresh_from_db()
    assert schedule.next_on == MONDAY + 2 * WEEK + timedelta(days=2)
    (entry,) = entries("schedule.changed")
    assert (entry.actor, entry.details["fields"]) == (world.alice, ["name", "weekday", "weeks"])
    change_schedule(actor=world.alice, schedule=schedule, today=MONDAY, weeks=2)
    assert len(entries("schedule.changed")) == 1, "nothing changed, nothing noted"


def test_what_has_ended_stays_ended(world: World) -> None:
    schedule = set_up(world)
    assert is_audited(world.project, "support")
    end_schedule(actor=world.alice, schedule=schedule, today=MONDAY)
    assert not is_audited(world.project, "support")
    for act in (change_schedule, pause_schedule, resume_schedule):
        with pytest.raises(Conflict, match="has ended"):
            act(actor=world.alice, schedule=schedule, today=MONDAY)


def test_a_schedule_of_another_project_is_not_found(world: World) -> None:
    with pytest.raises(Http404):
        one_schedule(world.other, set_up(world).pk)


def test_a_deleted_batch_leaves_its_line(world: World) -> None:
    make_samples(world.project, 2)
    audit = made(set_up(world, opens=False))
    assert audit.batch is not None
    delete_batch(batch=audit.batch, actor=world.alice)
    audit.refresh_from_db()
    assert (audit.batch, audit.drawn) == (None, 2)


def test_schedules_go_with_their_project(world: World) -> None:
    make_samples(world.project, 2)
    made(set_up(world))
    Project.objects.filter(pk=world.project.pk).update(deleting_at="2026-01-01T00:00Z")
    assert delete_waiting(world.project.pk)
    assert not AuditSchedule.objects.exists()
    assert not ScheduledAudit.objects.exists()
    assert not Sample.objects.filter(project=world.project).exists()
