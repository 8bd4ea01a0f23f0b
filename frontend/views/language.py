"""The language of the interface: the browser's, until somebody chooses one."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST
from django.views.i18n import set_language


@require_POST
def choose(request: HttpRequest) -> HttpResponseBase:
    """Remembers the language in a cookie and leads back to the page."""
    return set_language(request)
