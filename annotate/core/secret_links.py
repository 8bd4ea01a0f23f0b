"""The secret in a link: the link is shown once, and only a digest of its token is stored."""

from __future__ import annotations

import hashlib
import secrets


def new_token() -> tuple[str, str]:
    """A token and its digest."""
    token = secrets.token_urlsafe(32)
    return token, digest(token)


def digest(token: str) -> str:
    """256 random bits need no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
