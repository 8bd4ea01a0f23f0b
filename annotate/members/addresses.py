"""The address of an account: where its mail goes and, once it is confirmed, what tells whose the account is
(docs/decisions/0068-password-by-mail.md)."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from annotate.core.trail import note
from annotate.models import User
from annotate.projects.accounts import lock_as_read
from annotate.tasks.mail import address_changed


def change_email(*, user: User, email: str) -> None:
    """`user` as it was when the caller checked the password. The trail says that, and not which addresses, as nothing
    is taken out of it when the account is deleted. Raises Conflict."""
    with transaction.atomic():
        before = lock_as_read(user)
        if before.email == email:
            return
        User.objects.filter(pk=user.pk).update(email=email)
        note(actor=user, action="account.email_changed", subject=user.username)
        if before.has_confirmed_email:
            address_changed(before)


def mark_confirmed(*, user: User, **details: Any) -> None:
    """The account's owner reads the mail to its address. Repeating it changes nothing, nor does it when the account has
    another address by now."""
    mine = User.objects.filter(pk=user.pk, email=user.email).exclude(confirmed_email=user.email)
    with transaction.atomic():
        if mine.update(confirmed_email=user.email):
            note(actor=user, action="account.email_confirmed", subject=user.username, **details)
