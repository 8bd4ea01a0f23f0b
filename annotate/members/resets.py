"""Links by which members who forgot their password choose a new one. Who may make one: annotate.core.permissions."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.permissions import may, resettable, role_of
from annotate.core.rows import first_or_raise
from annotate.core.secret_links import digest, new_token
from annotate.core.trail import note
from annotate.models import Membership, PasswordReset, Project, User

LASTS = timedelta(hours=24)


def create_reset(*, actor: User, project: Project, user: User) -> tuple[PasswordReset, str]:
    """The link's row and its token, which is shown only now. A link that was made before no longer works. Raises
    Conflict. Until the link is used, the account stays as it is."""
    is_member = Membership.objects.filter(project=project, user=user, is_active=True).exists()
    if not is_member or user.pk not in resettable(actor, [user]):
        raise Conflict(
            "not_resettable",
            _("You can’t reset the password of %(name)s. Ask the person who runs this server.") % {"name": user.name},
        )
    token, token_digest = new_token()
    with transaction.atomic():
        made = {
            "token_digest": token_digest,
            "project": project,
            "created_by": actor,
            "expires_at": timezone.now() + LASTS,
        }
        reset, _made = PasswordReset.objects.update_or_create(user=user, defaults=made)
        note(actor=actor, action="member.reset_created", subject=user.username, project=project)
    return reset, token


def find_reset(token: str) -> PasswordReset:
    """Raises Http404, always in the same words, for a link that can't be used."""
    resets = PasswordReset.objects.filter(token_digest=digest(token)).select_related("user", "project", "created_by")
    reset = first_or_raise(resets, _gone())
    if not _is_usable(reset):
        raise _gone()
    return reset


def _is_usable(reset: PasswordReset) -> bool:
    """It ends with its maker's right to make it, and with the account's being one that may be reset."""
    maker, user = reset.created_by, reset.user
    return (
        reset.expires_at > timezone.now()
        and reset.project.deleting_at is None
        and maker.is_active
        and may(role_of(maker, reset.project), "members.change")
        and user.pk in resettable(maker, [user])
    )


def _gone() -> Http404:
    """Used, expired, replaced or never made: from outside it is all the same."""
    return Http404(_("This link can’t be used any more."))


def use_reset(*, token: str, password: str) -> User:
    """Sets the password, which ends all sessions, all API tokens and the link itself (User.save)."""
    with transaction.atomic():
        found = find_reset(token)
        # Of two who use it at once, one finds it gone.
        user = User.objects.select_for_update(no_key=True).get(pk=found.user_id)
        reset = find_reset(token)
        user.set_password(password)
        user.save(update_fields=["password"])
        note(actor=user, action="member.reset_used", subject=user.username, project=reset.project)
    return user
