"""NUL in the path of an address, or in a cookie: PostgreSQL keeps none, so nothing that we have is called so.

Forms, queries and JSON are checked field by field (annotate.core.texts). Halves of surrogate pairs come in JSON only:
everything else is read as UTF-8 (config/requests.py).
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from config.errors import no_such_route

_NUL = "\x00"


class NoNul:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if _NUL in request.path_info:
            if request.path_info.startswith("/api/"):
                return no_such_route(request)
            raise Http404
        # It may spell characters as octal numbers. No session and no choice of anybody is one with NUL.
        for name in [name for name, value in request.COOKIES.items() if _NUL in value]:
            del request.COOKIES[name]
        return self._get_response(request)
