"""Browsers in which somebody has logged in before, by a cookie: a stranger's guesses do not slow them down
(annotate.core.attempts). The cookie lets nobody in."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac

from annotate.models import User

_SALT = "annotate.browsers"
_AGE = 180 * 24 * 3600
# Accounts that one browser remembers, the latest: several people may share a computer.
_MOST = 20


def known_browser(request: HttpRequest, username: str) -> str | None:
    """The browser's number, if this account was logged in here before, with the password that it has now."""
    number, accounts = _read(request)
    user = User.objects.filter(username=username).first() if accounts else None
    return number if user is not None and _account(user) in accounts else None


def remember_browser(request: HttpRequest, reply: HttpResponseBase, user: User) -> None:
    number, accounts = _read(request)
    account = _account(user)
    kept = [account, *(one for one in accounts if one != account)][:_MOST]
    reply.set_cookie(
        settings.BROWSER_COOKIE_NAME,
        signing.dumps([number, kept], salt=_SALT),
        max_age=_AGE,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> tuple[str, list[str]]:
    try:
        number, accounts = signing.loads(
            request.COOKIES.get(settings.BROWSER_COOKIE_NAME, ""), salt=_SALT, max_age=_AGE
        )
        return number, accounts
    except signing.BadSignature:
        return secrets.token_urlsafe(12), []


def _account(user: User) -> str:
    """Who else uses this browser reads no names in its cookie. With the password's hash: who knew a password, and
    logged in with it in a thousand browsers, has none of them once it is changed."""
    return salted_hmac(_SALT, f"{user.username} {user.password}", algorithm="sha256").hexdigest()[:24]
