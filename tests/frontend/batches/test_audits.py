"""The pages of scheduled audits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django.utils.formats import date_format

from annotate.batches.audits_make import make_audit
from annotate.batches.audits_write import create_schedule
from annotate.batches.edit import edit_batch
from annotate.core.trail import note
from annotate.models import AuditSchedule, Batch, Membership, Project, Sample, User
from tests.clients import as_user
from tests.frontend.building import ADMINS_READ, REVIEWERS_READ, WhoMay

AUDITS = "/p/help/batches/audits/"
pytestmark = pytest.mark.usefixtures("samples")


@pytest.fixture
def schedule(project: Project, alice: User, ben: User, bea: User) -> AuditSchedule:
    return create_schedule(
        project=project, actor=alice, today=timezone.localdate(), name="Weekly audit", samples=3,
        criteria=list(project.criteria.filter(is_current=True)), annotators=[ben, bea],
        conditions={"tier": "gold"},
    )  # fmt: skip


def sent(project: Project, *people: User, **more: Any) -> dict[str, Any]:
    support = project.criteria.get(key="support", is_current=True)
    return {
        "name": "Weekly audit", "weeks": "2", "weekday": "4", "samples": "3", "days": "10", "opens": "draft",
        "criteria": [support.pk], "annotators": [user.pk for user in people], "overlap": "2", **more,
    }  # fmt: skip


def text(client: Any, url: str) -> str:
    reply = client.get(url)
    assert reply.status_code == 200
    return str(reply.content.decode())


def test_who_may(schedule: AuditSchedule, who_may: WhoMay) -> None:
    one = f"{AUDITS}{schedule.pk}/"
    for url in (AUDITS, one):
        assert who_may(url) == REVIEWERS_READ
    for url in (f"{AUDITS}new/", f"{one}edit/", f"{one}end/"):
        assert who_may(url) == ADMINS_READ
    for url in (f"{AUDITS}new/preview/", f"{one}edit/preview/"):
        assert who_may(url, "post") == ADMINS_READ
    assert who_may(f"{one}pause/", "post") == {**ADMINS_READ, "admin": 302}
    assert who_may(f"{one}pause/") == {**ADMINS_READ, "admin": 405}
    assert who_may(f"{one}open/", "post") == {**ADMINS_READ, "admin": 404}
    assert who_may(f"{AUDITS}99999/") == {**REVIEWERS_READ, "admin": 404, "reviewer": 404}


def test_an_admin_sets_one_up(project: Project, alice: User, ben: User, bea: User) -> None:
    client = as_user(alice)
    assert "No scheduled audits yet" in text(client, AUDITS)
    reply = client.post(f"{AUDITS}new/", sent(project, ben, bea))
    made = AuditSchedule.objects.get()
    assert reply["Location"] == f"{AUDITS}{made.pk}/"
    assert (made.name, made.weeks, made.weekday, made.samples, made.days) == ("Weekly audit", 2, 4, 3, 10)
    assert (made.criteria, made.opens, made.overlap, made.conditions) == (["support"], False, 2, {})
    assert set(made.annotators.all()) == {ben, bea}
    page = text(client, reply["Location"])
    assert "Every 2 weeks on Friday" in page
    assert "drawn from 4 new samples" in page
    assert "Every 2 weeks on Friday" in text(client, AUDITS)


def test_a_form_that_is_not_complete_says_what_is_missing(project: Project, alice: User, ben: User) -> None:
    client = as_user(alice)
    reply = client.post(f"{AUDITS}new/", sent(project, ben))
    assert reply.status_code == 422
    assert "need at least 2 annotators" in reply.content.decode()
    reply = client.post(f"{AUDITS}new/", sent(project, ben, samples="0", name=""))
    assert {"samples", "name"} == set(reply.context["form"].errors)
    assert not AuditSchedule.objects.exists()


def test_the_preview_says_when_and_how_many(project: Project, alice: User, ben: User, bea: User) -> None:
    client = as_user(alice)
    said = client.post(f"{AUDITS}new/preview/", sent(project, ben, bea, name="")).content.decode()
    assert "Made today, a batch would have 3 samples, drawn from 4 new samples without labels. 6 tasks." in said
    today = timezone.localdate()
    first = today + timedelta(days=(4 - today.weekday() - 1) % 7 + 1)
    assert [date_format(first + timedelta(weeks=2 * n), "DATE_FORMAT") in said for n in range(4)] == [True] * 4
    assert "need at least 2 annotators" in client.post(f"{AUDITS}new/preview/", sent(project, ben)).content.decode()
    assert "Select annotators" in client.post(f"{AUDITS}new/preview/", sent(project)).content.decode()


def test_the_address_of_a_certificate_names_the_criterion(project: Project, alice: User) -> None:
    form = as_user(alice).get(f"{AUDITS}new/?criterion=relevance").context["form"]
    assert form["criteria"].value() == [project.criteria.get(key="relevance").pk]
    assert len(as_user(alice).get(f"{AUDITS}new/?criterion=%00").context["form"]["criteria"].value()) == 2


def test_the_untouched_form_changes_nothing(schedule: AuditSchedule, alice: User) -> None:
    # So that the filter's value is not among the frequent ones any more.
    Sample.objects.update(metadata={})
    client, url = as_user(alice), f"{AUDITS}{schedule.pk}/edit/"
    shown = {field.html_name: field.value() for field in client.get(url).context["form"]}
    before = AuditSchedule.objects.values().get()
    reply = client.post(url, {name: value for name, value in shown.items() if value is not None})
    assert reply.status_code == 302, reply.context["form"].errors
    assert AuditSchedule.objects.values().get() == before
    assert before["conditions"] == {"tier": "gold"}


def test_it_is_paused_resumed_and_ended(schedule: AuditSchedule, alice: User) -> None:
    client, url = as_user(alice), f"{AUDITS}{schedule.pk}/"
    for step, status in (("pause", "paused"), ("resume", "active"), ("end", "ended")):
        client.post(f"{url}{step}/")
        schedule.refresh_from_db()
        assert schedule.status == status
    page = text(client, url)
    assert "Ended" in page
    assert f"{url}edit/" not in page
    reply = client.post(f"{url}resume/", follow=True)
    assert "has ended" in reply.content.decode()


def test_its_history_leads_to_the_batches_and_back(schedule: AuditSchedule, alice: User) -> None:
    audit = make_audit(schedule.pk, today=schedule.next_on + timedelta(days=15))
    assert audit is not None
    client = as_user(alice)
    page = text(client, f"{AUDITS}{schedule.pk}/")
    assert '<a href="/p/help/batches/1/">1</a>' in page
    assert "Only 2 new samples, fewer than the 3 to draw. 2 earlier dates were missed." in page
    batch = text(client, "/p/help/batches/1/")
    assert f"{AUDITS}{schedule.pk}/" in batch
    assert "2 drawn at random from 2 new samples" in batch
    assert "Drawn from new samples only: not counted, but they show drift." in batch
    assert "Audit schedule “Weekly audit”" in text(client, "/p/help/audit/?kind=batch")


def test_what_is_in_the_way_is_said_with_what_to_do(schedule: AuditSchedule, alice: User, bea: User) -> None:
    Membership.objects.filter(user=bea).update(is_active=False)
    make_audit(schedule.pk, today=schedule.next_on)
    client = as_user(alice)
    page = text(client, f"{AUDITS}{schedule.pk}/")
    assert "Each sample needs 2 annotators, but only 1 of this schedule’s annotators is an active member." in page
    assert "No longer active: Bea." in page
    assert "Needs attention" in text(client, AUDITS)
    assert "A scheduled audit could not make its batch." in text(client, "/p/help/batches/")
    assert not Batch.objects.exists()


@pytest.mark.parametrize(
    ("problem", "page", "log"),
    [
        ({"code": "too_few_annotators", "there": 1, "needed": 2, "gone": []}, "Each sample needs 2 annotators",
         "could not make a batch: too few of its annotators are active members."),
        ({"code": "bad_filter"}, "The schedule’s settings can’t be used as they are. Edit the schedule.",
         "could not make a batch: its settings can’t be used as they are."),
        # As it was kept before, in whatever language the worker spoke.
        ({"code": "bad_filter", "said": "筛选"}, "The schedule’s settings can’t be used as they are.",
         "could not make a batch: its settings can’t be used as they are."),
    ],
)  # fmt: skip
def test_what_was_in_the_way_is_worded_for_its_reader(
    problem: dict[str, Any], page: str, log: str, schedule: AuditSchedule, alice: User
) -> None:
    AuditSchedule.objects.filter(pk=schedule.pk).update(problem=problem)
    note(
        actor=None, action="schedule.stuck", subject=schedule.name, project=schedule.project, schedule=schedule.name,
        code=problem["code"],
    )  # fmt: skip
    client = as_user(alice)
    said = text(client, f"{AUDITS}{schedule.pk}/")
    assert page in said
    assert "筛选" not in said
    assert log in text(client, "/p/help/audit/?kind=schedule")


def test_a_draft_that_was_edited_by_hand_says_what_it_is(schedule: AuditSchedule, alice: User) -> None:
    AuditSchedule.objects.filter(pk=schedule.pk).update(opens=False, samples=1)
    audit = make_audit(schedule.pk, today=schedule.next_on)
    assert audit is not None
    assert audit.batch is not None
    (drawn,) = audit.batch.samples.values_list("external_id", flat=True)
    (other,) = schedule.project.samples.exclude(external_id=drawn).values_list("external_id", flat=True)[:1]
    url, client = f"/p/help/batches/{audit.batch.number}/", as_user(alice)
    edit_batch(actor=alice, batch=audit.batch, add=[other])
    page = text(client, url)
    assert "1 drawn at random from 2 new samples" in page
    assert "1 added since" in page
    assert "Drawn from new samples only" not in page
    edit_batch(actor=alice, batch=audit.batch, remove=[drawn])
    page = text(client, url)
    assert "drawn at random" not in page
    assert "1 listed by ID" in page
    assert "the draw was changed by hand" in page


def test_nothing_new_is_said_too(schedule: AuditSchedule, alice: User) -> None:
    make_audit(schedule.pk, today=schedule.next_on)
    make_audit(schedule.pk, today=schedule.next_on + timedelta(days=7))
    assert "No new samples, so no batch." in text(as_user(alice), f"{AUDITS}{schedule.pk}/")
    assert Batch.objects.count() == 1
