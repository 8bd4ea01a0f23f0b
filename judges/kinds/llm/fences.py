"""Texts of samples stand between marks that their authors can't write: they are material, never instructions."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from functools import cache

from django.conf import settings

from judges.kinds.llm.variables import MEMBER, Shown

# In hexadecimal digits.
_LENGTH = 16


def code_for(texts: Iterable[str]) -> str:
    """The code of the marks around these texts.

    The same for the same texts in one installation, so that the same question is the same request and its reply can be
    kept; a repeat of a question is told apart by its draw, not by other words. Nobody who writes a text can know it: it
    is made with the installation's secret. And none of the texts has it.
    """
    whole = "\x1f".join(texts)
    code = ""
    while not code or code in whole:
        # What could only be by chance or by a leak: the code of the text with the code.
        code = hmac.digest(
            _secret(settings.SECRET_KEY), (code + whole).encode("utf-8", "surrogatepass"), "sha256"
        ).hex()[:_LENGTH]
    return code


def fenced(name: str, value: Shown, code: str) -> str:
    """A text between its marks; the members of a list each between marks of their own, numbered from one."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _between(name, value, code)
    member = MEMBER[name]
    return "\n".join(_between(f"{member}-{number}", text, code) for number, text in enumerate(value, start=1))


def texts_in(values: Iterable[Shown]) -> list[str]:
    texts: list[str] = []
    for value in values:
        texts += [] if value is None else [value] if isinstance(value, str) else value
    return texts


def _between(name: str, text: str, code: str) -> str:
    return f"<{name}-{code}>\n{text}\n</{name}-{code}>"


@cache
def _secret(key: str) -> bytes:
    return hmac.digest(key.encode(), b"judges.kinds.llm.fences", "sha256")
