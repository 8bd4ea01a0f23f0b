"""Who is behind a password, as often as it may be guessed; and who is behind a session: asked at every request, so it
is one statement by hand."""

from __future__ import annotations

import unicodedata
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.db import connection
from django.http import HttpRequest

from annotate.core.attempts import (
    ACCOUNT,
    ADDRESS,
    ADDRESS_AND_ACCOUNT,
    KNOWN_BROWSER,
    Limit,
    address_of,
    count,
    take_back,
)
from annotate.core.browsers import known_browser
from annotate.models import User

_FIELDS = [field.attname for field in User._meta.concrete_fields]
_COLUMNS = ", ".join(f'"{field.column}"' for field in User._meta.concrete_fields)
# JSON comes as text from a statement by hand; the field knows how to read it.
_READ = [getattr(field, "from_db_value", None) for field in User._meta.concrete_fields]
_SELECT = f'SELECT {_COLUMNS} FROM "{User._meta.db_table}" WHERE id = %s'


class AccountBackend(ModelBackend):
    """Django's own, with limits on wrong passwords, and another look-up by id: building that query anew each time costs
    more than running it."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        """None where no password lets anybody in. Raises TooManyAttempts. Names that no account has are counted like
        others, so that a limit tells nothing."""
        if username is None or password is None or not settings.PASSWORD_LOGIN:
            return None
        limits = _limits(request, unicodedata.normalize("NFKC", username))
        count(limits)
        user = super().authenticate(request, username, password, **kwargs)
        if user is not None:
            take_back(limits)
        return user

    def get_user(self, user_id: Any) -> User | None:
        with connection.cursor() as cursor:
            cursor.execute(_SELECT, [user_id])
            row = cursor.fetchone()
        if row is None:
            return None
        values = [
            value if read is None else read(value, None, connection) for value, read in zip(row, _READ, strict=True)
        ]
        user = User.from_db(connection.alias, _FIELDS, values)
        return user if self.user_can_authenticate(user) else None


def _limits(request: HttpRequest | None, username: str) -> dict[str, Limit]:
    if request is not None and (browser := known_browser(request, username)):
        return {f"browser {browser} at {username}": KNOWN_BROWSER}
    limits = {f"account {username}": ACCOUNT}
    if request is not None and (address := address_of(request)):
        limits |= {f"address {address}": ADDRESS, f"address {address} at {username}": ADDRESS_AND_ACCOUNT}
    return limits
