from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.http import Http404
from django.utils import timezone

from annotate.core.errors import Conflict, Invalid
from annotate.members.write import accept_invite, create_invite, deactivate_member, find_invite, revoke_invite
from annotate.models import AuditEntry, Invite, Membership, User
from annotate.projects.read import open_invites
from annotate.projects.write import set_member
from annotate.tasks.mail import send_invitation
from tests.annotate.factories import World


def invite(world: World, **more: Any) -> tuple[Invite, str]:
    return create_invite(**{"actor": world.alice, "project": world.project, "role": "annotator", **more})


def test_only_a_digest_is_kept(world: World) -> None:
    made, token = invite(
        world, role="reviewer", tags=[" law ", "law", "tax"], max_uses=3, days=7, email="x@example.org"
    )
    assert made.token_digest == hashlib.sha256(token.encode()).hexdigest()
    assert token not in str(Invite.objects.values()) + str(AuditEntry.objects.values())
    assert (made.role, made.tags, made.max_uses, made.email) == ("reviewer", ["law", "tax"], 3, "x@example.org")
    assert timedelta(days=6) < made.expires_at - timezone.now() <= timedelta(days=7)
    assert AuditEntry.objects.get(action="invite.created").actor == world.alice


def test_the_defaults_are_one_person_and_two_weeks(world: World) -> None:
    made, _ = invite(world)
    assert made.max_uses == 1
    assert timedelta(days=13) < made.expires_at - timezone.now() <= timedelta(days=14)


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "king"},
        {"role": None},
        {"max_uses": 0},
        {"max_uses": True},
        {"max_uses": 1001},
        {"days": 0},
        {"days": 91},
        {"days": "7"},
        {"email": "nobody"},
        {"email": 3},
        {"tags": "law"},
        {"tags": ["x" * 81]},
        {"tags": [1]},
    ],
)
def test_what_can_not_be_made(world: World, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        invite(world, **wrong)
    assert not Invite.objects.exists()


def test_accepting_makes_a_member_with_role_and_tags_and_a_rater(world: World) -> None:
    made, token = invite(world, tags=["law"])
    accept_invite(user=world.charlie, token=token)
    member = world.project.memberships.get(user=world.charlie)
    assert (member.role, member.tags, member.is_active) == ("annotator", ["law"], True)
    assert world.project.raters.filter(user=world.charlie).exists()
    made.refresh_from_db()
    assert made.uses == 1
    assert AuditEntry.objects.get(action="invite.accepted").details["user"] == "charlie"


def test_who_is_a_member_stays_what_they_are_and_uses_nothing_up(world: World) -> None:
    made, token = invite(world, role="admin", tags=["law"])
    assert accept_invite(user=world.ann, token=token).role == "annotator"
    made.refresh_from_db()
    assert made.uses == 0
    assert world.project.memberships.get(user=world.ann).tags == []


def test_who_was_deactivated_does_not_come_back_by_a_link(world: World) -> None:
    _, token = invite(world, max_uses=5)
    deactivate_member(actor=world.alice, project=world.project, user=world.ann)
    with pytest.raises(Conflict, match="were deactivated"):
        accept_invite(user=world.ann, token=token)
    assert not world.project.memberships.get(user=world.ann).is_active


def test_used_up_expired_revoked_and_unknown_are_all_the_same(world: World) -> None:
    used, used_token = invite(world)
    accept_invite(user=world.charlie, token=used_token)
    old, old_token = invite(world)
    Invite.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    gone, gone_token = invite(world)
    for _ in range(2):
        revoke_invite(actor=world.alice, project=world.project, invite_id=gone.pk)
    said = set()
    for token in (used_token, old_token, gone_token, "no-such-token", "\udc80"):
        for ask in (
            lambda token=token: find_invite(token),
            lambda token=token: accept_invite(user=world.dora, token=token),
        ):
            with pytest.raises(Http404) as refused:
                ask()
            said.add(str(refused.value))
    assert len(said) == 1
    assert not Membership.objects.filter(project=world.project, user=world.dora).exists()
    assert AuditEntry.objects.filter(action="invite.revoked").count() == 1
    assert list(open_invites(world.project)) == []
    assert used.pk


def test_only_ones_own_projects_invites_can_be_revoked(world: World) -> None:
    made, _ = create_invite(actor=world.dora, project=world.other, role="annotator")
    with pytest.raises(Http404):
        revoke_invite(actor=world.alice, project=world.project, invite_id=made.pk)
    assert open_invites(world.other).get() == made


def test_the_mail_has_the_link_and_speaks_the_inviters_language(world: World, settings: Any) -> None:
    settings.PUBLIC_URL = "https://touch.example.org"
    made, token = invite(world, email="new@example.org")
    assert send_invitation(invite=made, token=token)
    (sent,) = mail.outbox
    assert sent.to == ["new@example.org"]
    assert f"https://touch.example.org/invite/{token}/" in sent.body
    assert "Support desk" in sent.subject


def test_a_line_break_in_a_name_is_none_in_the_subject(world: World) -> None:
    User.objects.filter(pk=world.alice.pk).update(display_name="Alice\nBcc: all@example.org")
    world.alice.refresh_from_db()
    made, token = invite(world, email="new@example.org")
    assert send_invitation(invite=made, token=token)
    assert mail.outbox[0].recipients() == ["new@example.org"]
    assert "\n" not in mail.outbox[0].subject


def test_a_mail_that_can_not_be_sent_breaks_nothing(world: World, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    made, token = invite(world, email="new@example.org")
    assert not send_invitation(invite=made, token=token)
    assert find_invite(token) == made


def test_a_name_that_others_labels_use_is_refused_whole(world: World) -> None:
    made, token = invite(world)
    world.project.raters.create(name="charlie", user=world.dora)
    with pytest.raises(Conflict):
        accept_invite(user=world.charlie, token=token)
    made.refresh_from_db()
    assert made.uses == 0
    set_member(project=world.project, user=world.rita, role="reviewer")
