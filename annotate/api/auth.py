"""Who asks, and which form a reply takes.

A session that is not logged in is answered 401, so that a page can tell it from the forbidden. REST framework weighs
every part of `Accept` at every request; here there is mostly one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import knox.auth
from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from rest_framework import authentication
from rest_framework.authentication import get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from annotate.core.attempts import count_wrong_secret
from annotate.models import ApiToken, User
from annotate.projects.accounts import note_use, token_of


def _of_deactivated_account(request: Request) -> bool:
    """Who was at work when it happened is told so: logging in, as after a session that ran out, won't help."""
    user_id = request._request.session.get(SESSION_KEY)  # noqa: SLF001
    return user_id is not None and User.objects.filter(pk=user_id, is_active=False).exists()


def foreign_origin(request: HttpRequest | Request, reason: str) -> str:
    """Where a request comes from, if that is Django's reason to refuse it, and not its token."""
    if "checking failed" not in reason:
        return ""
    return (request.headers.get("Origin") or request.headers.get("Referer") or "unknown")[:80]


class SessionAuthentication(authentication.SessionAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """None, so 401, also when the page that asks was opened by another user: after Ben logged in, Ana's open tab
        must keep her choices for her instead of sending them as his."""
        found = super().authenticate(request)
        if found is None and _of_deactivated_account(request):
            raise AuthenticationFailed(_("Your account was deactivated."), code="account_deactivated")
        expected = request.headers.get("X-Expected-User")
        if found is not None and expected is not None and expected != str(found[0].pk):
            return None
        return found

    def authenticate_header(self, request: Request) -> str:
        """The scheme a client without a browser can use."""
        return "Token"

    def enforce_csrf(self, request: Request) -> None:
        try:
            # Django's request: looking for a form field in REST framework's would parse the body before we know that it
            # may be read at all, and answer for its errors instead of for the missing token.
            super().enforce_csrf(request._request)  # type: ignore[arg-type]  # noqa: SLF001
        except PermissionDenied as error:
            message = "The request carries no valid CSRF token; reload the page."
            if origin := foreign_origin(request, str(error.detail)):
                message = f"The request comes from another origin, “{origin}”. CSRF_TRUSTED_ORIGINS says which may."
            raise PermissionDenied(message, code="csrf") from error


class TokenAuthentication(knox.auth.TokenAuthentication):
    """knox's header and digests. One that has run out is not deleted here: a GET changes no row but when the token was
    last used, and they go when the next one is made (annotate.projects.accounts)."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        """A token that there never was, or no longer, is a guess (annotate.core.attempts)."""
        found = get_authorization_header(request).split()
        if not found or found[0].lower() != self.authenticate_header(request).lower().encode():
            return None
        token = token_of(found[1]) if len(found) == 2 else None
        if token is None:
            count_wrong_secret(request._request)  # noqa: SLF001
            raise AuthenticationFailed(_("Token not found."))
        if token.expiry is not None and token.expiry < timezone.now():
            raise AuthenticationFailed(_("This token has expired."))
        user, _token = self.validate_user(token)
        note_use(token)
        return user, token


class TokenScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    """The API's description says the same of it as of knox's own."""

    target_class = TokenAuthentication  # type: ignore[assignment]


class Negotiation(DefaultContentNegotiation):
    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """A request that accepts just what a route's only renderer makes, or anything, gets that."""
        renderers = list(renderers)
        if len(renderers) == 1 and not format_suffix:
            only = renderers[0]
            if request.META.get("HTTP_ACCEPT", "*/*") in ("*/*", only.media_type):
                return only, only.media_type
        return super().select_renderer(request, renderers, format_suffix)
