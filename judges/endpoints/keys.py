"""Keys of endpoints: encrypted where they are stored, decrypted where a request is sent, shown nowhere."""

from __future__ import annotations

import base64
import os
import re
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from judges.endpoints.addresses import Target, read_url
from judges.endpoints.calls import StopRun
from judges.models.judge import Endpoint, KeySource

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

LONGEST_KEY = 500
# A key with fewer letters and digits could not be told from the words of a reply (judges.endpoints.redaction).
FEWEST_LETTERS = 8
# Four characters of a shorter key would give away too much.
SHOWN_FROM = 16
# In the value of a header: where the key stands instead of in Authorization.
KEY_PLACE = "{{key}}"
HOSTS_SUFFIX = "_HOSTS"
_VARIABLE = re.compile(r"JUDGE_KEY_[A-Z0-9_]{1,80}")


class Secret:
    """A key for a request's header. Neither repr, str nor a format shows it; `reveal` does."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Secret(…)"

    def reveal(self) -> str:
        return self._value


class Unreadable(Exception):
    """Encrypted with a key that this installation doesn't have, or not encrypted at all."""


def check_key(key: object) -> str:
    """The key as it is sent. Raises Invalid, which doesn't repeat it."""
    if not isinstance(key, str) or not key.strip():
        raise Invalid("bad_key", _("Key: required, unless you choose “No key”."))
    key = key.strip()
    if len(key) > LONGEST_KEY or not re.fullmatch(r"[\x21-\x7e]+", key):
        raise Invalid(
            "bad_key",
            _("Key: must be at most %(most)d letters, digits and symbols, without spaces.") % {"most": LONGEST_KEY},
        )
    if not _is_no_word(key):
        raise Invalid(
            "short_key",
            _(
                "Key: must have at least %(fewest)d letters and digits, and both kinds if fewer than %(long)d. "
                "Simpler keys can’t be recognised and hidden in replies."
            )
            % {"fewest": FEWEST_LETTERS, "long": SHOWN_FROM},
        )
    return key


def _is_no_word(key: str) -> bool:
    letters = re.sub("[^0-9A-Za-z]", "", key)
    has_both = not letters.isalpha() and not letters.isdigit()
    return len(letters) >= FEWEST_LETTERS and (has_both or len(letters) >= SHOWN_FROM)


def check_variable(name: object, target: Target) -> str:
    """The name of an environment variable with a key that may be sent there. Raises Invalid."""
    if not isinstance(name, str) or not _VARIABLE.fullmatch(name.strip()) or name.strip().endswith(HOSTS_SUFFIX):
        raise Invalid(
            "bad_key_variable",
            _("Environment variable: must be JUDGE_KEY_ followed by capital letters, digits and “_”."),
        )
    name = name.strip()
    if not _may_go_to(name, target):
        raise Invalid(
            "key_not_for_host",
            _("The server administrator doesn’t allow the key %(name)s for “%(host)s”.")
            % {"name": name, "host": target.host},
        )
    return name


def _may_go_to(name: str, target: Target) -> bool:
    """By JUDGE_KEY_…_HOSTS, in which an operator lists the hosts that a key is for; without it, any."""
    hosts = [host.strip().lower() for host in os.environ.get(name + HOSTS_SUFFIX, "").split(",") if host.strip()]
    return not hosts or target.host in hosts or f"{target.host}:{target.port}" in hosts


def encrypted(key: str) -> bytes:
    fernet, _invalid = _fernet()
    return fernet.encrypt(key.encode())


def encrypted_anew(token: bytes) -> bytes:
    """With the newest of the installation's keys. Raises Unreadable for one that none of them can read."""
    fernet, invalid = _fernet()
    try:
        return fernet.rotate(token)
    except invalid:
        raise Unreadable from None


def _decrypted(token: bytes) -> str:
    fernet, invalid = _fernet()
    try:
        return fernet.decrypt(token).decode()
    except (invalid, UnicodeDecodeError):
        raise Unreadable from None


def last4(key: str) -> str:
    return key[-4:] if len(key) >= SHOWN_FROM else ""


def key_of_endpoint(endpoint: Endpoint) -> Secret | None:
    """The key that its requests carry. Raises StopRun when there should be one and it isn't available."""
    if endpoint.key_source == KeySource.NONE:
        return None
    if endpoint.key_source == KeySource.STORED:
        try:
            return Secret(check_key(_decrypted(bytes(endpoint.key_encrypted or b""))))
        except Invalid as refusal:  # one that was stored when shorter ones were taken
            raise StopRun(refusal.code, refusal.message) from None
        except Unreadable:
            raise StopRun(
                "unreadable_key",
                _("The stored key can’t be decrypted because this installation’s keys have changed. Enter it again."),
            ) from None
    name = endpoint.key_variable
    value = os.environ.get(name, "").strip()
    if not value:
        raise StopRun("no_key", _("The environment variable %(name)s is not set.") % {"name": name})
    try:
        check_variable(name, read_url(endpoint.base_url))
        return Secret(check_key(value))
    except Invalid as refusal:
        raise StopRun(refusal.code, refusal.message) from None


def _fernet() -> tuple[MultiFernet, type[Exception]]:
    """The keys of JUDGE_SECRET_KEYS, the newest first, and last one that is derived from SECRET_KEY: it encrypts while
    the setting is empty, and still decrypts afterwards. And the exception for a token that none of them encrypted."""
    # Slow to load: only where a key is encrypted or decrypted.
    from cryptography.fernet import Fernet, InvalidToken, MultiFernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"touchstone judge endpoint keys").derive(
        settings.SECRET_KEY.encode()
    )
    keys = [*settings.JUDGE_SECRET_KEYS, base64.urlsafe_b64encode(derived).decode()]
    return MultiFernet([Fernet(key) for key in keys]), InvalidToken
