"""How a session begins, whichever way in a person took."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from annotate.models import User


def ways_in() -> dict[str, Any]:
    """What pages offer. provider: its name; "" for none."""
    return {
        "provider": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "by_password": settings.PASSWORD_LOGIN,
        "reset_by_mail": settings.PASSWORD_RESET_BY_MAIL,
    }


def begin_session(request: HttpRequest, user: User, to: str) -> HttpResponse:
    """Leads on to that address. From here on this browser shows the language that the person chose, wherever that
    was."""
    login(request, user)
    reply = HttpResponseRedirect(to)
    if user.language in dict(settings.LANGUAGES):
        reply.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            user.language,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            path=settings.LANGUAGE_COOKIE_PATH,
            domain=settings.LANGUAGE_COOKIE_DOMAIN,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
            samesite="Lax",
        )
    return reply
