"""What is asked of the OpenID Connect provider, and what of its replies is believed. Slow to load.

Authlib makes state, nonce and PKCE's verifier and checks them, and the ID token's signature, issuer, audience and age.
Its client for Django would bring `requests`, which REST framework then loads in every process; so this is the same
client over httpx2, of the parts that Authlib makes it of.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore
from typing import Any

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client import (
    BaseApp,
    FrameworkIntegration,
    MismatchingStateError,
    OAuth2Mixin,
    OAuthError,
    OpenIDMixin,
)
from authlib.integrations.httpx_client import OAuth2Client
from django.conf import settings
from django.http import HttpRequest
from httpx2 import HTTPError, TimeoutException
from joserfc.errors import JoseError

# What a provider that is away, or says what can't be read, raises; and what a reply that can't be believed does.
FAILURES = (AuthlibBaseError, JoseError, HTTPError, KeyError, RuntimeError, TypeError, ValueError)
# A provider that doesn't answer must not hold up the threads of web: anybody can have it asked. A third one waits for
# one of two, for a moment; and it is left alone for a while.
_PATIENCE_SECONDS = 3
_AT_ONCE, _WAIT_SECONDS = 2, 1
_LEFT_ALONE_SECONDS = 5


class AwayError(RuntimeError):
    """It did not answer just now, or others are asking it and get no answer."""


class Provider(OAuth2Mixin, OpenIDMixin, BaseApp):
    client_cls = OAuth2Client

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._slots = BoundedSemaphore(_AT_ONCE)
        self._away_until = -math.inf

    @contextmanager
    def asking(self) -> Iterator[Provider]:
        """Around whatever may send it a request. Raises AwayError."""
        if not self._slots.acquire(timeout=0 if self._is_away() else _WAIT_SECONDS):
            raise AwayError
        try:
            if self._is_away():
                raise AwayError
            yield self
        except TimeoutException:
            self._away_until = time.monotonic() + _LEFT_ALONE_SECONDS
            raise
        finally:
            self._slots.release()

    def _is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def address_for(self, request: HttpRequest, back: str) -> str:
        """Where the person is sent. The session keeps what the reply has to match."""
        asked = self.create_authorization_url(back)
        self.framework.set_state_data(request.session, asked["state"], {**asked, "redirect_uri": back})
        return str(asked["url"])

    def claims(self, request: HttpRequest) -> dict[str, Any]:
        """Of the ID token; and, where it says too little, what the provider tells about its subject. Each state serves
        once."""
        state = request.GET.get("state", "")
        kept = self.framework.get_state_data(request.session, state)
        self.framework.clear_state_data(request.session, state)
        if kept is None:
            raise MismatchingStateError
        if error := request.GET.get("error"):
            raise OAuthError(error)
        token = self.fetch_access_token(
            code=request.GET["code"], redirect_uri=kept["redirect_uri"], code_verifier=kept["code_verifier"]
        )
        options = {"iss": {"essential": True, "values": [settings.OIDC_ISSUER]}}
        # Without an ID token this is None, which can't be read.
        claims = dict(self.parse_id_token(token, nonce=kept["nonce"], claims_options=options))
        if not {"email", settings.OIDC_GROUPS_CLAIM} <= claims.keys() and "userinfo_endpoint" in self.server_metadata:
            told = self.userinfo(token=token)
            if told["sub"] == claims["sub"]:
                claims = {**told, **claims}
        return claims


@cache
def provider(issuer: str, client_id: str, client_secret: str) -> Provider:
    """It reads what the issuer says of itself once, and its keys again when a new one is used."""
    return Provider(
        FrameworkIntegration("oidc"),
        "oidc",
        client_id=client_id,
        client_secret=client_secret,
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": settings.OIDC_SCOPES,
            "code_challenge_method": "S256",
            "timeout": _PATIENCE_SECONDS,
            "follow_redirects": False,
        },
    )
