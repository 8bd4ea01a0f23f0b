"""What groups at an OpenID Connect provider give the person who signs in, and what the next sign-in takes back."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.permissions import resettable
from annotate.members.write import deactivate_member, reactivate_member
from annotate.models import AuditEntry, Identity, Project, User
from annotate.projects.write import set_member
from tests.frontend.account.test_single_sign_on import NOOR, sign_in
from tests.oidc_provider import Provider


@pytest.fixture
def groups(provider: Provider, settings: Any) -> Any:
    """`groups("qa", "leads")`: signs Noor in, who is in these groups now; and her account as it is then."""
    settings.OIDC_CREATE_ACCOUNTS = True
    settings.OIDC_ADMIN_GROUPS = ["ops"]
    settings.OIDC_ROLES = [
        ("qa", "help", "annotator"), ("leads", "help", "reviewer"), ("heads", "help", "admin"),
        ("qa", "no-such", "admin"),
    ]  # fmt: skip

    def now(*names: str) -> User:
        provider.know("n-6", **NOOR, groups=list(names))
        assert sign_in(provider, "n-6").url == "/"
        return User.objects.get(username="noor")

    return now


def role(user: User) -> str | None:
    return user.memberships.filter(is_active=True).values_list("role", flat=True).first()


def test_a_group_makes_an_admin_and_takes_it_back(groups: Any) -> None:
    user = groups("ops")
    assert (user.is_superuser, user.is_staff) == (True, True)
    assert groups("ops").is_superuser
    user = groups("qa")
    assert (user.is_superuser, user.is_staff) == (False, False)
    changes = AuditEntry.objects.filter(action="account.admin_changed").order_by("pk")
    assert [entry.details["is_admin"] for entry in changes] == [True, False]


def test_who_was_made_an_admin_by_hand_stays_one(groups: Any) -> None:
    User.objects.filter(pk=groups().pk).update(is_staff=True)
    assert groups("ops").is_superuser
    user = groups()
    assert (user.is_superuser, user.is_staff) == (False, True)


def test_roles_come_and_go_with_groups(groups: Any, project: Project) -> None:
    assert role(groups("other")) is None
    assert role(groups("qa")) == "annotator"
    assert role(groups("qa", "leads")) == "reviewer"
    assert role(groups("qa")) == "annotator"
    assert role(groups()) is None
    assert role(groups("leads")) == "reviewer"
    assert role(groups()) is None


def test_a_role_given_by_hand_stays(groups: Any, project: Project, alice: User) -> None:
    user = groups()
    set_member(project=project, user=user, role="annotator", actor=alice)
    assert role(groups("leads")) == "reviewer"
    assert role(groups()) == "annotator"
    set_member(project=project, user=user, role="admin", actor=alice)
    assert role(groups("leads")) == "admin"
    assert role(groups()) == "admin"


def test_a_role_that_is_changed_by_hand_is_the_groups_again(groups: Any, project: Project, alice: User) -> None:
    set_member(project=project, user=groups("leads"), role="annotator", actor=alice)
    assert role(groups("leads")) == "reviewer"
    assert role(groups()) == "annotator"


def test_whom_an_admin_deactivates_stays_out_of_the_project(groups: Any, project: Project, alice: User) -> None:
    user = groups("qa")
    deactivate_member(actor=alice, project=project, user=user)
    assert role(groups("qa")) is None
    assert role(groups()) is None
    assert role(groups("leads")) is None
    reactivate_member(actor=alice, project=project, user=user)
    assert role(groups("leads")) == "reviewer"


def test_the_last_admin_loses_the_role_with_the_group(groups: Any, project: Project, alice: User) -> None:
    assert role(groups("heads")) == "admin"
    deactivate_member(actor=alice, project=project, user=alice)
    assert role(groups("qa")) == "annotator"
    assert role(groups()) is None


def test_a_project_that_is_being_deleted_gets_nobody(groups: Any, project: Project) -> None:
    user = groups("qa")
    Project.objects.filter(pk=project.pk).update(deleting_at="2026-01-01T00:00Z")
    assert role(groups("leads")) == "annotator"
    assert Identity.objects.get(user=user).roles == {}


@pytest.mark.parametrize("said", [None, "ops", 7, ["ops", 7, None], {"ops": True}])
def test_groups_that_are_no_list(provider: Provider, settings: Any, said: Any) -> None:
    settings.OIDC_CREATE_ACCOUNTS, settings.OIDC_ADMIN_GROUPS = True, ["ops"]
    provider.know("n-7", **NOOR, groups=said)
    sign_in(provider, "n-7")
    assert User.objects.get(username="noor").is_superuser == (said in ("ops", ["ops", 7, None]))


def test_groups_that_are_told_elsewhere_change_nothing(
    provider: Provider, groups: Any, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    user = groups("ops", "leads")
    before = Identity.objects.values().get()
    elsewhere = {"groups": "src1"}, {"src1": {"endpoint": "https://graph.example/v1.0/me/getMemberObjects"}}
    provider.know("n-6", **NOOR, _claim_names=elsewhere[0], _claim_sources=elsewhere[1])
    assert sign_in(provider, "n-6").url == "/"
    user.refresh_from_db()
    assert (user.is_superuser, user.is_staff, role(user)) == (True, True, "reviewer")
    assert Identity.objects.values().get() == before
    (said,) = [record for record in caplog.records if record.name == "annotate.members.single_sign_on"]
    assert (said.levelname, f"account {user.pk}" in said.getMessage()) == ("WARNING", True)
    assert not [one for one in ("n-6", *NOOR.values()) if str(one) in said.getMessage()]
    # Of other claims that are elsewhere nothing follows.
    provider.know("n-6", **NOOR, _claim_names={"address": "src1"})
    sign_in(provider, "n-6")
    user.refresh_from_db()
    assert (user.is_superuser, role(user)) == (False, None)


def test_an_account_of_the_provider_gets_no_password(provider: Provider, groups: Any, project: Project) -> None:
    alice = User.objects.get(username="alice")
    user = groups("qa")
    assert resettable(alice, [user]) == set()
