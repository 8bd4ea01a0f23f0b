"""Session authentication that answers 401 to the logged out, so that a page can tell them from the forbidden."""

from rest_framework import authentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request


class SessionAuthentication(authentication.SessionAuthentication):
    def authenticate_header(self, request: Request) -> str:
        return "Session"

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise PermissionDenied("The request carries no valid CSRF token; reload the page.", code="csrf") from error
