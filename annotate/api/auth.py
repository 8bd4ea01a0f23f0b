"""Session authentication that answers 401 to the logged out, so that a page can tell them from the forbidden."""

from typing import Any

from rest_framework import authentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request


class SessionAuthentication(authentication.SessionAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """None, so 401, also when the page that asks was opened by somebody else: after Ben logged in, Ana's open tab
        must keep her choices for her instead of sending them as his."""
        found = super().authenticate(request)
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
            raise PermissionDenied("The request carries no valid CSRF token; reload the page.", code="csrf") from error
