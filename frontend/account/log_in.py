"""Logging in by a password: the first of two steps where the account has a second factor."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse

from frontend.account.second_factor import after_password
from frontend.account.sessions import ways_in


class LogIn(LoginView):
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(ways=ways_in(), **kwargs)

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """Not to this page itself: who is logged in would be sent round in circles."""
        url = super().get_redirect_url()
        return "" if urlsplit(url).path == self.request.path else url

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return after_password(self.request, form.get_user(), self.get_success_url())
