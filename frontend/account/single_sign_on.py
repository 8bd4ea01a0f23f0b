"""Signing in by the OpenID Connect provider that the operator named (docs/decisions/0063-sign-in.md).

What comes back is checked by frontend.account.provider; whose account it is: annotate.members.single_sign_on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.core.errors import Refusal, Unavailable
from annotate.members.single_sign_on import sign_in
from annotate.members.write import find_invite
from frontend.account.sessions import begin_session

if TYPE_CHECKING:
    from frontend.account.provider import Provider

T = TypeVar("T")
_log = logging.getLogger(__name__)

_NEXT = "sign-in-next"


@never_cache
@require_safe
def go(request: HttpRequest) -> HttpResponse:
    """To the provider's page. A link, not a form: our CSP lets no form lead to another site."""
    _only_where_there_is_one()
    if request.user.is_authenticated:
        return redirect(_safe(request, request.GET.get("next", "")))
    request.session[_NEXT] = request.GET.get("next", "")
    try:
        back = request.build_absolute_uri(reverse("sign-in-back"))
        return redirect(_asking(lambda provider: provider.address_for(request, back)))
    except Unavailable as refusal:
        return _refused(request, refusal, request.session[_NEXT])


@never_cache
@require_safe
def back(request: HttpRequest) -> HttpResponse:
    """Where the provider sends people. The one GET that changes rows: OpenID Connect asks for a GET, and its code and
    state serve once."""
    _only_where_there_is_one()
    to = _safe(request, request.session.pop(_NEXT, ""))
    try:
        claims = _asking(lambda provider: provider.claims(request))
        user = sign_in(claims, may_create=settings.OIDC_CREATE_ACCOUNTS or _is_invited(to))
    except Refusal as refusal:
        return _refused(request, refusal, to)
    return begin_session(request, user, to)


def _refused(request: HttpRequest, refusal: Refusal, to: str) -> HttpResponse:
    messages.error(request, refusal.message)
    return redirect(f"{reverse('login')}?{urlencode({'next': to})}")


def _only_where_there_is_one() -> None:
    if not settings.OIDC_ISSUER:
        raise Http404


def _is_invited(to: str) -> bool:
    """Whether the person came from an invitation, with which an account may be made."""
    try:
        found = resolve(to.partition("?")[0])
        if found.url_name != "invite":
            return False
        find_invite(found.kwargs["token"])
    except (Resolver404, Http404):
        return False
    return True


def _safe(request: HttpRequest, to: str) -> str:
    is_here = url_has_allowed_host_and_scheme(to, {request.get_host()}, require_https=request.is_secure())
    return to if is_here and to.startswith("/") else reverse("home")


def _asking(ask: Callable[[Provider], T]) -> T:
    """Raises Unavailable for a provider that does not answer, or answers what can't be believed."""
    # Half a second, which processes of an installation without a provider need not spend.
    from frontend.account.provider import FAILURES, provider

    try:
        with provider(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET).asking() as asked:
            return ask(asked)
    except FAILURES as error:
        _log.warning("Signing in by %s failed: %r", settings.OIDC_ISSUER, error)
        said = _("Signing in with %(provider)s didn’t work. Try again.") % {"provider": settings.OIDC_NAME}
        raise Unavailable("sign_in_failed", said) from error
