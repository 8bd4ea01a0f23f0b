"""A new password by mail: for accounts with a confirmed address, on installations that send mail (decision 68).

Links are Django's, signed and stored nowhere. One that resets serves once: another password makes it another link.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.db.models import F
from django.http import Http404, HttpRequest
from django.utils.http import base36_to_int, int_to_base36
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from annotate.core.attempts import ADDRESS, Limit, address_of, count
from annotate.core.background import hand_over
from annotate.core.errors import Conflict, Unavailable
from annotate.core.permissions import with_own_password
from annotate.core.trail import note
from annotate.members.addresses import mark_confirmed
from annotate.models import User
from annotate.tasks.mail import send_confirmation, send_password_reset

# Mails to one address: so many at once, and one more after each of these seconds.
TO_ADDRESS = Limit(5, 600)
# Before the signed part stands whose link it is, so long that logs know the secret by its length (config.logs).
_NUMBER_LETTERS = 8


class _Confirmations(PasswordResetTokenGenerator):
    """Of this account and address. Logging in meanwhile ends none."""

    key_salt = "annotate.members.mail_resets.confirm"

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        return f"{user.pk} {timestamp} {user.email}"


_RESETS, _CONFIRMATIONS = PasswordResetTokenGenerator(), _Confirmations()


def confirm_by_mail(*, user: User) -> None:
    """Sends the link that confirms the account's address. Raises Conflict without one, TooManyAttempts, and Unavailable
    when it can't be sent."""
    if not user.email:
        raise Conflict("no_email", _("Enter an email address first."))
    count({f"mail to {user.email.lower()}": TO_ADDRESS})
    if not send_confirmation(user=user, token=_link_of(user, _CONFIRMATIONS)):
        raise _not_sent()


def find_confirmation(token: str) -> User:
    """Whose address the link confirms. Raises Http404 for one that can't be used."""
    return _whose(token, _CONFIRMATIONS)


def confirm(*, token: str) -> User:
    """Repeating it changes nothing. Raises Http404."""
    user = find_confirmation(token)
    mark_confirmed(user=user)
    return user


def ask_for_reset(*, request: HttpRequest, email: str) -> None:
    """The same for every address: whose it is the worker finds out, after the reply. Raises TooManyAttempts, and
    Unavailable when no worker can be told."""
    limits = {f"mail to {email.lower()}": TO_ADDRESS}
    if address := address_of(request):
        limits[f"mails for {address}"] = ADDRESS
    count(limits)
    try:
        hand_over("annotate.tasks.mail_password_reset", email)
    except OperationalError as error:
        raise _not_sent() from error


def mail_resets(email: str) -> bool:
    """To each account that confirmed the address, a link of its own. False: a mail failed."""
    found = _resettable(User.objects.filter(confirmed_email__iexact=email, email=F("confirmed_email")).order_by("pk"))
    sent = [send_password_reset(user=user, token=_link_of(user, _RESETS)) for user in found]
    return all(sent)


def find_reset_by_mail(token: str) -> User:
    """Raises Http404, always in the same words, for a link that can't be used."""
    user = _whose(token, _RESETS)
    if not user.has_confirmed_email or not _resettable([user]):
        raise _gone()
    return user


def use_reset_by_mail(*, token: str, password: str) -> User:
    """Sets the password, which ends all sessions, all API tokens and the link itself. Raises Http404."""
    with transaction.atomic():
        found = find_reset_by_mail(token)
        # Of two who use it at once, one finds it gone.
        User.objects.select_for_update(no_key=True).get(pk=found.pk)
        user = find_reset_by_mail(token)
        user.set_password(password)
        user.save(update_fields=["password"])
        note(actor=user, action="account.password_reset", subject=user.username)
    return user


def _resettable(users: Iterable[User]) -> list[User]:
    return [user for user in with_own_password(users) if user.has_usable_password()]


def _link_of(user: User, kind: PasswordResetTokenGenerator) -> str:
    return f"{int_to_base36(user.pk).rjust(_NUMBER_LETTERS, '0')}-{kind.make_token(user)}"


def _whose(token: str, kind: PasswordResetTokenGenerator) -> User:
    number, _dash, signed = token.partition("-")
    try:
        user = User.objects.filter(pk=base36_to_int(number[:_NUMBER_LETTERS]), is_active=True).first()
    except ValueError:
        raise _gone() from None
    if user is None or not user.email or not kind.check_token(user, signed):
        raise _gone()
    return user


def _gone() -> Http404:
    """Used, expired, altered or never made: from outside it is all the same."""
    return Http404(_("This link can’t be used any more."))


def _not_sent() -> Unavailable:
    return Unavailable("mail_not_sent", _("The email could not be sent. Try again later."))
