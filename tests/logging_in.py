"""Logs a test client in with the statements of one session; Django saves one, and then another in its place."""

from __future__ import annotations

from importlib import import_module

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest
from django.test import Client

from annotate.models import User


def log_in(client: Client, user: User, backend: str | None = None) -> None:
    """In place of `django.test.Client._login`."""
    cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(cookie.value if cookie else None)
    login(request, user, backend)
    request.session.save()
    client._set_login_cookies(request)
