"""The Content-Security-Policy header, built once: django-csp builds it twice for every response, with a nonce and
changes by view that none of ours asks for."""

from typing import Any

from csp.constants import HEADER
from csp.middleware import CSPMiddleware as BaseMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase


class CSPMiddleware(BaseMiddleware):
    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        self._policy = build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """A response that a view made an exception for, or that carries a nonce, is django-csp's; so are error pages of
        DEBUG, which have scripts and styles in them."""
        if settings.DEBUG or hasattr(request, "_csp_nonce") or any(name.startswith("_csp") for name in vars(response)):
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, self._policy)
        return response
