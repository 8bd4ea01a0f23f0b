from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.http import Http404

from annotate.core.errors import Conflict, Invalid
from annotate.core.permissions import role_of
from annotate.members.write import change_tags, deactivate_account, deactivate_member, reactivate_member
from annotate.models import AuditEntry, Label, User
from annotate.projects.write import change_project, set_member
from tests.annotate.factories import World, finish, make_samples


def test_tags_are_kept_clean(world: World) -> None:
    change_tags(actor=world.alice, project=world.project, user=world.ann, tags=[" law", "tax ", "law", ""])
    assert world.project.memberships.get(user=world.ann).tags == ["law", "tax"]
    entry = AuditEntry.objects.get(action="member.tags_changed")
    assert (entry.actor, entry.subject, entry.details) == (world.alice, "ann", {"before": [], "after": ["law", "tax"]})
    change_tags(actor=world.alice, project=world.project, user=world.ann, tags=["law", "tax"])
    assert AuditEntry.objects.filter(action="member.tags_changed").count() == 1


@pytest.mark.parametrize("tags", ["law", [1], ["x" * 81], [f"t{n}" for n in range(31)], ["a\x00"], None])
def test_tags_that_are_none(world: World, tags: Any) -> None:
    with pytest.raises(Invalid):
        change_tags(actor=world.alice, project=world.project, user=world.ann, tags=tags)


def test_a_stranger_has_no_tags(world: World) -> None:
    for act in (change_tags, deactivate_member, reactivate_member):
        more = {"tags": []} if act is change_tags else {}
        with pytest.raises(Http404):
            act(actor=world.alice, project=world.project, user=world.charlie, **more)  # type: ignore[operator]


def test_deactivating_hands_the_open_tasks_on_and_keeps_what_was_said(world: World) -> None:
    make_samples(world.project, 6)
    batch = world.batch(overlap=1)
    mine = list(batch.tasks.filter(annotator=world.ann).order_by("position"))
    finish(mine[0])
    moved = deactivate_member(actor=world.alice, project=world.project, user=world.ann)
    assert moved == len(mine) - 1
    assert role_of(world.ann, world.project) is None
    assert not batch.tasks.filter(annotator=world.ann, status__in=["pending", "in_progress", "returned"]).exists()
    assert batch.tasks.filter(status="pending").count() + batch.tasks.filter(status="submitted").count() == 6
    assert {label.rater.name for label in Label.objects.all()} == {"ann"}
    entry = AuditEntry.objects.get(action="member.deactivated")
    assert (entry.actor, entry.subject, entry.details) == (world.alice, "ann", {"tasks": moved})
    assert deactivate_member(actor=world.alice, project=world.project, user=world.ann) == 0


def test_to_named_people_only(world: World) -> None:
    make_samples(world.project, 6)
    batch = world.batch(overlap=1)
    before = batch.tasks.filter(annotator=world.ben).count()
    moved = deactivate_member(actor=world.alice, project=world.project, user=world.ann, hand_on_to=[world.rita])
    assert batch.tasks.filter(annotator=world.rita).count() == moved == 2
    assert batch.tasks.filter(annotator=world.ben).count() == before


def test_refused_whole_when_they_can_not_take_them(world: World) -> None:
    make_samples(world.project, 2)
    batch = world.batch(annotators=[world.ann, world.ben], overlap=2)
    with pytest.raises(Conflict):
        deactivate_member(actor=world.alice, project=world.project, user=world.ann, hand_on_to=[world.ben])
    assert world.project.memberships.get(user=world.ann).is_active
    assert batch.tasks.filter(annotator=world.ann, status="pending").count() == 2


def test_the_last_admin_stays(world: World) -> None:
    with pytest.raises(Conflict, match="at least one admin"):
        deactivate_member(actor=world.alice, project=world.project, user=world.alice)
    set_member(project=world.project, user=world.rita, role="admin")
    deactivate_member(actor=world.rita, project=world.project, user=world.alice)
    # Who is inactive is no admin.
    with pytest.raises(Conflict, match="at least one admin"):
        deactivate_member(actor=world.rita, project=world.project, user=world.rita)


def test_coming_back(world: World) -> None:
    change_tags(actor=world.alice, project=world.project, user=world.rita, tags=["law"])
    deactivate_member(actor=world.alice, project=world.project, user=world.rita)
    member = reactivate_member(actor=world.alice, project=world.project, user=world.rita)
    assert (member.role, member.tags) == ("reviewer", ["law"])
    assert role_of(world.rita, world.project) == "reviewer"
    assert AuditEntry.objects.filter(action="member.reactivated").count() == 1


def test_closing_an_account_ends_it_everywhere(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    set_member(project=world.other, user=world.ann, role="annotator")
    make_samples(world.project, 3)
    batch = world.batch(overlap=1)
    call_command("deactivate_account", "ann")
    said = capsys.readouterr().out
    assert "ann deactivated." in said
    assert "desk: membership ended, 1 open tasks reassigned." in said
    assert not User.objects.get(username="ann").is_active
    assert not world.ann.memberships.filter(is_active=True).exists()
    assert not batch.tasks.filter(annotator=world.ann, status="pending").exists()
    with pytest.raises(CommandError, match="Account “nobody” not found"):
        call_command("deactivate_account", "nobody")


def test_closing_the_last_admins_account_closes_nothing(world: World) -> None:
    set_member(project=world.other, user=world.alice, role="annotator")
    with pytest.raises(Conflict):
        deactivate_account(user=world.alice)
    world.alice.refresh_from_db()
    assert world.alice.is_active
    assert world.alice.memberships.filter(is_active=True).count() == 2


def test_what_people_get_to_see_is_a_projects_option(world: World) -> None:
    same = {"name": world.project.name, "guidelines": world.project.guidelines}
    changed = change_project(actor=world.alice, project=world.project, **same, show_judges=True, teach=False)
    assert (changed.show_names, changed.show_judges, changed.teach) == (False, True, False)
    entry = AuditEntry.objects.get(action="project.changed")
    assert entry.details == {"fields": ["show_judges", "teach"], "show_judges": True, "teach": False}
    change_project(actor=world.alice, project=world.project, **same)
    assert AuditEntry.objects.filter(action="project.changed").count() == 1
    with pytest.raises(Invalid, match="teach"):
        change_project(actor=world.alice, project=world.project, **same, teach="yes")  # type: ignore[arg-type]
