"""Mails to users: plain text, in their own language, through Django's backend.

What a mail is about is stored first, and the mail then handed to the worker: no request waits for it. A mail that can't
be sent is logged and stops nothing. Users without an address get none.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import partial
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils import formats, timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from kombu.exceptions import OperationalError

from annotate.core.background import hand_over
from annotate.models import Batch, Invite, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, TaskStatus
from annotate.tasks.read import samples_to_take

_log = logging.getLogger(__name__)

# A message of the worker's may come twice; the mail should not.
_ONCE_SECONDS = 3600
_DAY_SECONDS = 24 * 3600
Writing = Callable[[], tuple[str, str]]


def public_url(name: str, *args: object) -> str:
    """The address of a page as it stands in a mail. Pages are the frontend's; their names are those of its URLconf."""
    return settings.PUBLIC_URL + reverse(name, args=list(args))


def send_invitation(*, invite: Invite, token: str) -> bool:
    """Sent at once, since only this process knows the token. In the language of the user who invites."""

    def write() -> tuple[str, str]:
        who, project = invite.created_by.name, invite.project.name
        subject = _("%(who)s invited you to “%(project)s”") % {"who": who, "project": project}
        text = _(
            "%(who)s invited you to join “%(project)s” on Touchstone as %(role)s.\n\n"
            "Open this link to join:\n"
            "%(link)s\n\n"
            "Link expires %(date)s. If you weren’t expecting this email, ignore it."
        )
        values = {
            "who": who,
            "project": project,
            "role": invite.get_role_display().lower(),
            "link": public_url("invite", token),
            "date": _day(timezone.localdate(invite.expires_at)),
        }
        return subject, text % values

    return _send(invite.email, invite.created_by.language, write)


def send_confirmation(*, user: User, token: str) -> bool:
    """Sent at once: who waits for it is told whether it could be."""

    def write() -> tuple[str, str]:
        text = _(
            "Open this link to confirm that %(address)s is the email address of the account “%(name)s” on Touchstone:\n"
            "%(link)s\n\n"
            "The link works for one hour. If you don’t know this account, ignore this email."
        )
        values = {"address": user.email, "name": user.username, "link": public_url("email-confirm", token)}
        return _("Confirm your email address"), text % values

    return _send(user.email, user.language, write)


def send_password_reset(*, user: User, token: str) -> bool:
    def write() -> tuple[str, str]:
        text = _(
            "Open this link to choose a new password for the account “%(name)s” on Touchstone:\n"
            "%(link)s\n\n"
            "The link works once, for one hour. If you didn’t ask for it, ignore this email: your password "
            "stays as it is."
        )
        return _("Choose a new password"), text % {"name": user.username, "link": public_url("reset-by-mail", token)}

    return _send(user.confirmed_email, user.language, write)


def send_address_changed(user_id: int, before: str) -> bool:
    """To the address of before: whoever changed it may have been somebody else."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None:
        return True

    def write() -> tuple[str, str]:
        text = _(
            "The email address of the account “%(name)s” on Touchstone was changed. Emails about it no longer come "
            "here.\n\n"
            "If this wasn’t you, tell the person who runs the server."
        )
        return _("Your email address was changed"), text % {"name": user.username}

    return _send(before, user.language, write)


def send_batch_opened(batch_id: int, user_ids: Iterable[int] | None = None) -> bool:
    """To every annotator who has something to label in the batch, or to these of them. False: a mail failed."""
    batch = Batch.objects.select_related("project").filter(pk=batch_id, status=BatchStatus.OPEN).first()
    if batch is None:
        return True
    wanted = None if user_ids is None else set(user_ids)
    sent = [
        _send_once(f"opened:{batch.pk}:{user.pk}", user, partial(_opened, batch, count), seconds=_ONCE_SECONDS)
        for user, count in _waiting(batch).items()
        if wanted is None or user.pk in wanted
    ]
    return all(sent)


def _opened(batch: Batch, count: int) -> tuple[str, str]:
    subject = _("New tasks in “%(batch)s”") % {"batch": batch.name}
    waiting = ngettext(
        "You have %(count)d new task in “%(batch)s” (%(project)s).",
        "You have %(count)d new tasks in “%(batch)s” (%(project)s).",
        count,
    )
    return subject, _text(batch, waiting % {"count": count, **_names(batch)})


def send_task_returned(task_id: int) -> bool:
    task = (
        Task.objects.select_related("batch__project", "annotator", "returned_by")
        .filter(pk=task_id, status=TaskStatus.RETURNED)
        .first()
    )
    if task is None or task.annotator is None or not _reachable(task.batch).filter(pk=task.annotator.pk).exists():
        return True

    def write() -> tuple[str, str]:
        subject = _("A task in “%(batch)s” was sent back to you") % {"batch": task.batch.name}
        # As the workspace says it (annotate.tasks.read): who asks has a name where the project shows names.
        by = task.returned_by if task.batch.project.show_names else None
        who = by.name if by else _("A reviewer")
        said = _("%(who)s asks you to revise a task in “%(batch)s” (%(project)s):\n\n%(message)s")
        values = {"who": who, "message": task.return_message, **_names(task.batch)}
        return subject, _text(task.batch, said % values)

    # Another message is another mail.
    once = f"returned:{task.pk}:{zlib.crc32(task.return_message.encode())}"
    return _send_once(once, task.annotator, write, seconds=_ONCE_SECONDS)


def send_reminders(today: date | None = None) -> int:
    """To every annotator who has tasks left in a batch that is due tomorrow. Returns how many mails went out."""
    tomorrow = (today or timezone.localdate()) + timedelta(days=1)
    batches = Batch.objects.select_related("project").filter(status=BatchStatus.OPEN, due_date=tomorrow)
    return sum(
        _send_once(f"due:{tomorrow}:{batch.pk}:{user.pk}", user, partial(_due, batch, count), seconds=_DAY_SECONDS)
        for batch in batches
        for user, count in _waiting(batch).items()
    )


def _due(batch: Batch, count: int) -> tuple[str, str]:
    subject = _("“%(batch)s” is due tomorrow") % {"batch": batch.name}
    left = ngettext(
        "You have %(count)d task left in “%(batch)s” (%(project)s), due tomorrow.",
        "You have %(count)d tasks left in “%(batch)s” (%(project)s), due tomorrow.",
        count,
    )
    return subject, _text(batch, left % {"count": count, **_names(batch)}, with_date=False)


def _reachable(batch: Batch) -> QuerySet[User]:
    """Active members with an address."""
    return User.objects.filter(
        is_active=True, memberships__project_id=batch.project_id, memberships__is_active=True
    ).exclude(email="")


def _waiting(batch: Batch) -> dict[User, int]:
    """How many tasks each user has to do in the batch: their own, and what they could still take from its queue."""
    held = batch.tasks.filter(status__in=OPEN_TASK_STATUSES, annotator__isnull=False)
    own = dict(held.values_list("annotator_id").annotate(n=Count("id")))
    queued = samples_to_take(batch)
    people = _reachable(batch).filter(pk__in=own.keys() | queued.keys()).order_by("pk")
    return {user: own.get(user.pk, 0) + queued.get(user.pk, 0) for user in people}


def _names(batch: Batch) -> dict[str, str]:
    return {"batch": batch.name, "project": batch.project.name}


def _text(batch: Batch, first: str, *, with_date: bool = True) -> str:
    parts = [first]
    if with_date and batch.due_date:
        parts.append(_("Due on %(date)s.") % {"date": _day(batch.due_date)})
    parts.append(_("Continue labelling:") + "\n" + public_url("label", batch.project.slug))
    return "\n\n".join(parts)


def _day(day: date) -> str:
    return str(formats.date_format(day, "DATE_FORMAT"))


def _send_once(key: str, user: User, write: Writing, *, seconds: int) -> bool:
    """Marked before it is sent: a worker that is killed in between costs a mail, and never sends two."""
    if not cache.add(f"mail:{key}", 1, seconds):
        return True
    sent = _send(user.email, user.language, write)
    if not sent:
        cache.delete(f"mail:{key}")
    return sent


def _send(address: str, language: str, write: Writing) -> bool:
    with translation.override(language or settings.LANGUAGE_CODE):
        subject, text = write()
    try:
        # A name may hold a line break; a subject may not.
        EmailMessage(" ".join(subject.split()), text + "\n", to=[address]).send()
    except (SMTPException, OSError) as error:
        _log.error("A mail could not be sent: %s", error)
        return False
    return True


def batch_opened(batch: Batch, people: Iterable[User] | None = None) -> None:
    """Tasks wait for its annotators, or for these people who came later."""
    if _reachable(batch).exists():
        ids = None if people is None else [user.pk for user in people]
        _tell("annotate.tasks.mail_batch_opened", batch.pk, ids)


def task_returned(task: Task) -> None:
    if task.annotator is not None and task.annotator.email:
        _tell("annotate.tasks.mail_task_returned", task.pk)


def address_changed(before: User) -> None:
    """before: the account with the address that it had."""
    _tell("annotate.tasks.mail_address_changed", before.pk, before.email)


def _tell(name: str, *arguments: Any) -> None:
    def enqueue() -> None:
        try:
            hand_over(name, *arguments)
        except OperationalError as error:
            _log.error("The broker is unreachable, nobody gets mail (%s): %s", name, error)

    transaction.on_commit(enqueue)
