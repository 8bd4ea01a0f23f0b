"""Deleting an account: the person's data go, and what they said stays under a pseudonym
(docs/decisions/0067-personal-data.md)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import execute
from annotate.core.trail import note
from annotate.members.personal_data import end_sessions
from annotate.members.write import deactivate_member
from annotate.models import (
    AuditEntry,
    DeletedAccount,
    Identity,
    Invite,
    Label,
    LessonRead,
    Membership,
    PasswordReset,
    Project,
    Rater,
    SavedView,
    SecondFactor,
    Task,
    ThreadMessage,
    User,
    Verdict,
)
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES
from annotate.models.project import Role


@dataclass(frozen=True)
class Consequences:
    """What stays under the pseudonym, as counts; open_tasks are handed on."""

    labels: int
    decisions: int
    messages: int
    entries: int
    open_tasks: int


def consequences(user: User) -> Consequences:
    open_tasks = Task.objects.filter(
        annotator=user, status__in=OPEN_TASK_STATUSES, batch__status__in=RUNNING_BATCH_STATUSES
    )
    return Consequences(
        labels=Label.objects.filter(rater__user=user).count(),
        decisions=Verdict.objects.filter(Q(decided_by=user) | Q(approved_by=user)).count(),
        messages=ThreadMessage.objects.filter(author=user).count(),
        entries=AuditEntry.objects.filter(actor=user).count(),
        open_tasks=open_tasks.count(),
    )


def require_deletable(user: User) -> None:
    """Raises Conflict for an account that is deleted already, for the last superuser, and for the only admin of a
    project."""
    if DeletedAccount.objects.filter(user=user).exists():
        raise Conflict("deleted_already", _("This account is deleted already."))
    others = User.objects.filter(is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not others.filter(is_superuser=True).exists():
        raise Conflict("last_superuser", _("This is the last superuser. Make another account superuser first."))
    mine = Project.objects.filter(
        memberships__user=user, memberships__is_active=True, memberships__role=Role.ADMIN, deleting_at=None
    )
    theirs = Membership.objects.filter(user__in=others, is_active=True, role=Role.ADMIN)
    left_alone = mine.exclude(pk__in=theirs.values("project")).order_by("slug")
    if user.is_active and left_alone:
        named = ", ".join(project.name for project in left_alone)
        raise Conflict("last_admin", _("Make another member admin first in: %(projects)s.") % {"projects": named})


def delete_account(*, actor: User | None, user: User, confirm: str) -> str:
    """The pseudonym. confirm: the account's user name, typed. All or nothing, and there is no way back.

    Raises Invalid for another name, and as `require_deletable`.
    """
    if confirm != user.username:
        raise Invalid("not_confirmed", _("Type the user name of the account to confirm."))
    with transaction.atomic():
        # Of two superusers who delete each other, one stays.
        list(User.objects.select_for_update(no_key=True).filter(is_superuser=True).order_by("pk"))
        user = User.objects.get(pk=user.pk)
        require_deletable(user)
        name, email, pseudonym = user.username, user.email, _new_pseudonym()
        # The account's row comes last, as others lock it last; what is noted on the way has the pseudonym already.
        user.username = pseudonym
        for member in Membership.objects.filter(user=user, is_active=True).order_by("project__slug"):
            deactivate_member(actor=actor, project=member.project, user=user)
        Membership.objects.filter(user=user).update(tags=[], guidelines_seen=None)
        _rename_votes(user, pseudonym)
        _delete_own(user, email)
        _empty(user)
        DeletedAccount.objects.create(
            user=user, former=sorted({DeletedAccount.digest(text) for text in (name, email, email.lower()) if text})
        )
        execute(_RENAME_MISSED, {"name": name, "pseudonym": pseudonym})
        note(actor=actor, action="account.deleted", subject=pseudonym)
    return pseudonym


def _new_pseudonym() -> str:
    while True:
        pseudonym = f"deleted-{secrets.token_hex(3)}"
        is_taken = User.objects.filter(username=pseudonym) or Rater.objects.filter(name=pseudonym)
        if not is_taken:
            return pseudonym


def _empty(user: User) -> None:
    """Sessions end with the password, and so do tokens (User.save)."""
    user.display_name = user.first_name = user.last_name = user.language = ""
    user.email = user.confirmed_email = ""
    user.preferences, user.notices_seen_at, user.last_login, user.date_joined = {}, None, None, timezone.now()
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
    user.groups.clear()
    user.user_permissions.clear()


def _delete_own(user: User, email: str) -> None:
    """What tells of the person and of no work: nothing that others see rests on it."""
    Identity.objects.filter(user=user).delete()
    SecondFactor.objects.filter(user=user).delete()
    PasswordReset.objects.filter(Q(user=user) | Q(created_by=user)).delete()
    LessonRead.objects.filter(user=user).delete()
    SavedView.objects.filter(owner=user, is_shared=False).delete()
    if email:
        Invite.objects.filter(email__iexact=email).update(email="")
    end_sessions(user)


def _rename_votes(user: User, pseudonym: str) -> None:
    """The rater of each project, and who voted in its verdicts and their events. A vote is the same vote: no revision,
    no time and no event of it changes (migration 0038)."""
    # As submissions do: nobody settles by the name of before meanwhile.
    execute(_LOCK_SAMPLES, [user.pk])
    for rater in Rater.objects.filter(user=user).order_by("pk"):
        given = {"project": rater.project_id, "name": rater.name, "pseudonym": pseudonym}
        for column in ("votes", "decided_votes"):
            execute(_RENAME.format(column=column, table="annotate_verdict", of="v.id"), given)
        execute(_RENAME.format(column="votes", table="annotate_verdictevent", of="v.verdict_id"), given)
        rater.name = pseudonym
        rater.save(update_fields=["name"])


_LOCK_SAMPLES = """
SELECT FROM annotate_sample
 WHERE id IN (SELECT l.sample_id FROM annotate_label l JOIN annotate_rater r ON r.id = l.rater_id WHERE r.user_id = %s)
 ORDER BY id FOR NO KEY UPDATE
"""
_RENAME = """
UPDATE {table} v
   SET {column} = (SELECT jsonb_agg(CASE WHEN vote ->> 'rater' = %(name)s
                                         THEN jsonb_set(vote, '{{rater}}', to_jsonb(%(pseudonym)s::text))
                                         ELSE vote END ORDER BY n)
                     FROM jsonb_array_elements(v.{column}) WITH ORDINALITY AS votes (vote, n))
 WHERE v.{column} @> jsonb_build_array(jsonb_build_object('rater', %(name)s::text))
   AND EXISTS (SELECT FROM annotate_verdict of JOIN annotate_sample s ON s.id = of.sample_id
                WHERE of.id = {of} AND s.project_id = %(project)s)
"""
# Whom an audit schedule could not ask.
_RENAME_MISSED = """
UPDATE annotate_scheduledaudit SET without = array_replace(without, %(name)s, %(pseudonym)s)
 WHERE %(name)s = ANY(without)
"""
