"""The page for those who tried a password or a link too often."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotate.core.attempts import TooManyAttempts


class LimitsShown:
    """Middleware. The API answers for itself (annotate.api.base)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, TooManyAttempts):
            return None
        reply = render(request, "429.html", {"seconds": error.retry_after}, status=error.status)
        reply["Retry-After"], reply["Cache-Control"] = str(error.retry_after), "no-store"
        return reply
