"""Which form a reply takes. REST framework weighs every part of `Accept` at every request; here there is mostly one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class Negotiation(DefaultContentNegotiation):
    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Whoever accepts just what a route's only renderer makes, or anything, gets that."""
        renderers = list(renderers)
        if len(renderers) == 1 and not format_suffix:
            only = renderers[0]
            if request.META.get("HTTP_ACCEPT", "*/*") in ("*/*", only.media_type):
                return only, only.media_type
        return super().select_renderer(request, renderers, format_suffix)
