"""Secrets that must be read again, encrypted where they are stored: who has a copy of the database alone has none."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


def seal(secret: str) -> str:
    return _fernet().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str | None:
    """None: sealed with another SECRET_KEY."""
    from cryptography.fernet import InvalidToken

    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _fernet() -> Fernet:
    # Slow to load: only where something is sealed.
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"touchstone sealed").derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(key))
