from __future__ import annotations

from typing import Any

import pytest

from annotate.core.errors import Conflict, Invalid
from annotate.models import Criterion, Membership, Project, Rater, User
from annotate.projects.write import PROJECT_OPTIONS, change_project, create_project, remove_member, set_member
from tests.annotate.factories import World, finish, make_sample


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("slug", "spec", "code"),
    [
        ("p", [], "bad_project"), ("p", None, "bad_project"), ("p", {"criteria": "support"}, "bad_criteria"),
        ("p", {"criteria": ["support", "nonsense"]}, "unknown_criterion"), ("p", {"members": []}, "unknown_field"),
        ("p", {"criteria": ["support", {"key": "support"}]}, "missing_field"), ("p", {"name": 3}, "bad_name"),
        ("p", {"name": "  "}, "bad_name"), ("p", {"name": "n" * 201}, "bad_name"), ("p", {"name": "n\x00"}, "bad_name"),
        ("p", {"name": "\ud800"}, "bad_name"), ("p", {"guidelines": ["a"]}, "bad_text"),
        ("p", {"guidelines": "\x00"}, "bad_text"),
        *((slug, {"name": "P"}, "bad_slug") for slug in (
            "", "Upper", "a b", "a/b", "../x", "a\n", "-a", "a-", "a--b", "ü", "a" * 61, None, 5, ["a"], "a\x00",
            "x" * 9999)),
    ],
)  # fmt: skip
def test_a_bad_project_leaves_nothing(slug: Any, spec: Any, code: str) -> None:
    user = User.objects.create_user("u")
    with pytest.raises(Invalid) as refused:
        create_project(slug=slug, spec=spec, created_by=user)
    assert refused.value.code == code
    assert len(refused.value.message) < 500
    assert not any(model.objects.exists() for model in (Project, Criterion, Membership, Rater))


def test_a_taken_name_changes_nothing(world: World) -> None:
    before = (Criterion.objects.count(), Membership.objects.count())
    with pytest.raises(Conflict, match="already"):
        create_project(slug="desk", spec={"criteria": ["relevancy"]}, created_by=world.charlie)
    assert (Criterion.objects.count(), Membership.objects.count()) == before


def test_its_creator_is_its_admin_and_a_rater(world: World) -> None:
    assert world.project.memberships.get(user=world.alice).role == "admin"
    assert world.project.raters.get(user=world.alice).name == "alice"


def test_changing_name_and_guidelines(world: World) -> None:
    change_project(project=world.project, name="  New name ", guidelines=" *kept*\n")
    world.project.refresh_from_db()
    assert (world.project.name, world.project.guidelines) == ("New name", " *kept*\n")
    with pytest.raises(Invalid, match="name"):
        change_project(project=world.project, name=" ", guidelines="")
    for option in PROJECT_OPTIONS:
        with pytest.raises(Invalid, match=option):
            change_project(project=world.project, name="N", **{option: 0})


# Members


@pytest.mark.parametrize("role", ["owner", "", None, 3, ["admin"], "Admin"])
def test_a_role_that_is_none(world: World, role: Any) -> None:
    with pytest.raises(Invalid, match="must be one of"):
        set_member(project=world.project, user=world.charlie, role=role)
    assert not world.project.memberships.filter(user=world.charlie).exists()


def test_the_last_admin_stays(world: World) -> None:
    with pytest.raises(Conflict, match="at least one admin"):
        remove_member(project=world.project, user=world.alice)
    with pytest.raises(Conflict, match="at least one admin"):
        set_member(project=world.project, user=world.alice, role="reviewer")
    set_member(project=world.project, user=world.rita, role="admin")
    remove_member(project=world.project, user=world.alice)
    assert list(world.project.memberships.filter(role="admin").values_list("user__username", flat=True)) == ["rita"]


def test_a_disabled_admin_is_none(world: World) -> None:
    set_member(project=world.project, user=world.rita, role="admin")
    User.objects.filter(pk=world.rita.pk).update(is_active=False)
    with pytest.raises(Conflict, match="at least one admin"):
        remove_member(project=world.project, user=world.alice)


def test_a_member_with_open_tasks_stays_until_they_are_done(world: World) -> None:
    make_sample(world.project)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    with pytest.raises(Conflict, match="1 unfinished tasks") as refused:
        remove_member(project=world.project, user=world.ann)
    assert refused.value.details == {"tasks": 1}
    finish(task)
    remove_member(project=world.project, user=world.ann)
    assert not world.project.memberships.filter(user=world.ann).exists()
    assert task.labels.count() == 3
    assert {label.rater.name for label in task.labels.all()} == {"ann"}


def test_coming_back_is_being_the_same_rater(world: World) -> None:
    rater = world.project.raters.get(user=world.ben)
    remove_member(project=world.project, user=world.ben)
    set_member(project=world.project, user=world.ben, role="reviewer")
    assert world.project.raters.get(user=world.ben) == rater


def test_a_name_of_imported_labels_is_taken_over_by_its_account(world: World) -> None:
    rater = Rater.objects.create(project=world.project, name="charlie")
    set_member(project=world.project, user=world.charlie, role="annotator")
    rater.refresh_from_db()
    assert rater.user == world.charlie


def test_a_name_of_another_member_is_not(world: World) -> None:
    User.objects.filter(pk=world.ann.pk).update(username="ann-old")
    newcomer = User.objects.create_user("ann")
    with pytest.raises(Conflict, match="is already used by"):
        set_member(project=world.project, user=newcomer, role="annotator")
    assert not world.project.memberships.filter(user=newcomer).exists()
