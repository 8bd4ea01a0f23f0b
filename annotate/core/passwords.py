"""Which passwords are too easy to guess, beside what Django's own validators refuse."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

_LEAST = 8
_LOOKS_LIKE = str.maketrans("01345789@$!", "oleastbgasi")


class NoNameInPassword:
    """Without the person's names, forwards, backwards and with digits for letters, enough of a password must be left.

    Django's own compares whole texts, and takes ben12345 for somewhat unlike ben.
    """

    def validate(self, password: str, user: Any = None) -> None:
        names = _names(user)
        written = _plain(password)
        for text in (written, written.translate(_LOOKS_LIKE)):
            left = text
            for name in names:
                left = left.replace(name, "").replace(name[::-1], "")
            if left != text and len(left) < _LEAST:
                raise ValidationError(self.get_help_text(), code="password_has_name")

    def get_help_text(self) -> str:
        return _("Your password can’t be your name with a few characters added.")


def _names(user: Any) -> list[str]:
    """The longest first: of Noor and Noora the whole goes."""
    texts = [getattr(user, field, "") or "" for field in ("username", "display_name", "email")]
    texts[2] = texts[2].partition("@")[0]
    words = {part for text in map(_plain, texts) for part in (text, *re.split(r"[\W_]+", text))}
    return sorted((word for word in words if len(word) > (1 if not word.isascii() else 2)), key=len, reverse=True)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
