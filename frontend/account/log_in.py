"""Logging in: by a password, or by the OpenID Connect provider."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from annotate.core.browsers import remember_browser
from annotate.models import User


def ways_in() -> dict[str, Any]:
    """What pages offer. provider: its name; "" for none."""
    return {"provider": settings.OIDC_NAME if settings.OIDC_ISSUER else "", "by_password": settings.PASSWORD_LOGIN}


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


class LogIn(LoginView):
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(ways=ways_in(), **kwargs)

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """Not to this page itself: who is logged in would be sent round in circles."""
        url = super().get_redirect_url()
        return "" if urlsplit(url).path == self.request.path else url

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        reply = begin_session(self.request, user, self.get_success_url())
        remember_browser(self.request, reply, user)
        return reply
