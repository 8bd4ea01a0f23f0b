"""Middleware that refuses the body of a request that is larger than its route takes, before anything keeps it.

It stands before the check of CSRF, which reads forms. Django reads as many bytes as Content-Length says and no more, so
a length that is within the limit bounds what is read, whatever is sent; without one nothing would be read, hence 411.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase

from annotate.core.bodies import MOST_ESCAPES, USUAL, limit_of
from config.errors import length_required, other_charset, packed, too_large
from config.requests import throw_away_body

_URL_ENCODED = "application/x-www-form-urlencoded"
_FORMS = (_URL_ENCODED, "multipart/form-data")
# ASCII is a part of UTF-8.
_CHARSETS = ("utf-8", "utf8", "us-ascii", "ascii")


class BodyLimits:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Any, *rest: Any) -> HttpResponse | None:
        stated = request.META.get("CONTENT_LENGTH") or ""
        if "Transfer-Encoding" in request.headers and not stated:
            return length_required(request)
        length, most = int(stated) if stated.isdecimal() else 0, limit_of(view)
        if length > USUAL and most > USUAL and not hasattr(view, "cls") and not request.user.is_authenticated:
            most = USUAL  # a form is read before it is asked who sends it; the API asks first
        if length > most:
            throw_away_body(request)
            return too_large(request, most)
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            return packed(request)
        charset = (request.content_params or {}).get("charset", "utf-8").lower()
        if request.content_type in _FORMS and charset not in _CHARSETS:
            return other_charset(request)
        if request.content_type == _URL_ENCODED and _escapes(request) > MOST_ESCAPES:
            return too_large(request, 3 * MOST_ESCAPES)
        return None


def _escapes(request: HttpRequest) -> int:
    """Whoever asks for a field has the whole form read, as the check of CSRF does below /api/, too."""
    try:
        return request.body.count(b"%")
    except UnreadablePostError:
        return 0  # who sent it is gone
