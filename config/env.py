"""Settings arrive as environment variables. A bad one stops the start, and says what it held and should hold."""

import os
import re
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

# Where HOST listens by default: nobody else's machine reaches it.
OWN_ADDRESS = "127.0.0.1"
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


def _refuse(name: str, value: str, expected: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"The environment variable {name} is {value!r}, but should be {expected}.")


def text(name: str, default: str = "") -> str:
    """The variable without surrounding blanks. Set to nothing counts as not set, as in a compose file."""
    return os.environ.get(name, "").strip() or default


def required(name: str, *, because: str, example: str) -> str:
    value = text(name)
    if not value:
        raise ImproperlyConfigured(
            f"The environment variable {name} is not set, and {because}. Set it, for example: {name}={example}"
        )
    return value


def flag(name: str, default: bool) -> bool:
    value = text(name)
    if not value:
        return default
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise _refuse(name, value, "one of true, false, 1, 0, yes, no, on, off")


def number(name: str, default: int, *, low: int, high: int) -> int:
    value = text(name)
    if not value:
        return default
    with suppress(ValueError):
        if low <= (result := int(value)) <= high:
            return result
    raise _refuse(name, value, f"a whole number from {low} to {high}")


def choice(name: str, default: str, options: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in options:
        raise _refuse(name, value, "one of " + ", ".join(options))
    return value


def names(name: str, default: list[str]) -> list[str]:
    """A list separated by commas."""
    value = text(name)
    return [part.strip() for part in value.split(",") if part.strip()] if value else default


def roles_of_groups(name: str, roles: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """A list of `group=project:role`, separated by commas, as (group, project, role)."""
    found = []
    for entry in names(name, []):
        group, _, place = entry.rpartition("=")
        project, _, role = place.rpartition(":")
        if not group or not re.fullmatch(r"[A-Za-z0-9_-]+", project) or role not in roles:
            raise _refuse(name, entry, "group=project:role, with a role of " + ", ".join(roles))
        found.append((group, project, role))
    return found


def fernet_keys(name: str) -> list[str]:
    """A list of keys for encryption, separated by commas. They are not repeated in the error."""
    keys = names(name, [])
    for key in keys:
        if not re.fullmatch(r"[A-Za-z0-9_-]{43}=", key):
            raise ImproperlyConfigured(
                f"The environment variable {name} holds something that is no key. Make one with: "
                "python -c 'import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())'"
            )
    return keys


def url(name: str, default: str, *, schemes: tuple[str, ...]) -> str:
    """A URL with one of these schemes. The value is not repeated in the error: it may hold a password."""
    value = text(name, default)
    if value.split("://", 1)[0] not in schemes or "://" not in value:
        expected = " or ".join(f"{scheme}://…" for scheme in schemes)
        raise ImproperlyConfigured(f"The environment variable {name} is not a URL of the form {expected}.")
    return value


def folder(name: str, default: Path) -> Path:
    return Path(text(name, str(default))).expanduser().resolve()


def optional_folder(name: str) -> Path | None:
    return folder(name, Path()) if text(name) else None
