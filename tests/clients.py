"""Clients that are logged in: of pages, and of the API."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest
from django.test import Client
from rest_framework.test import APIClient

from annotate.models import User


def log_in(client: Client, user: User, backend: str | None = None) -> None:
    """In place of `django.test.Client._login`, with the statements of one session; Django saves one, and then another
    in its place."""
    cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(cookie.value if cookie else None)
    login(request, user, backend)
    request.session.save()
    client._set_login_cookies(request)


Client._login = log_in


def as_user(user: User) -> Client:
    """A browser in which this user is logged in. It checks CSRF tokens only where a test asks for it."""
    client = Client()
    client.force_login(user)
    return client


def client_of(user: User | None, **options: Any) -> APIClient:
    """A client of the API, logged in if a user is given."""
    client = APIClient(**options)
    if user is not None:
        client.force_login(user)
    return client
