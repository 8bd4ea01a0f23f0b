"""How large the body of a request may be: what its route declares, or the usual. config/bodies.py sees to it before
anything keeps the body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings

KIB, MIB = 1 << 10, 1 << 20

USUAL = 3 * MIB
# Of what carries many rows: samples that are pushed, lists of samples, known answers, scores.
MANY_ROWS = 16 * MIB
# What was said of a task since its last save.
SEVERAL_LABELS = 256 * KIB
# Around a file: the other fields of its form.
_FORM = 1 * MIB
# A value of JSON takes far more memory than text: so many bytes of the limit go with each.
_BYTES_PER_VALUE = 16
# Characters of a form that are written as %41, of which each is an object while it is read. Chinese takes three each.
MOST_ESCAPES = 200_000

Limit = int | Callable[[], int]
V = TypeVar("V", bound=Callable[..., Any])


def one_file() -> int:
    """Of a form with a file that is imported."""
    return int(settings.IMPORT_MAX_FILE_BYTES) + _FORM


def takes_at_most(limit: Limit) -> Callable[[V], V]:
    """For a page; a view of the API has it as its `body_bytes`."""

    def decorate(view: V) -> V:
        view.body_bytes = limit  # type: ignore[attr-defined]
        return view

    return decorate


def limit_of(view: Any) -> int:
    """In bytes. view: what an address leads to, or the class or instance of that."""
    view = getattr(view, "view_class", getattr(view, "cls", view))
    limit: Limit = getattr(view, "body_bytes", USUAL)
    return limit() if callable(limit) else limit


def most_values(limit: int) -> int:
    """How many values the JSON in a body of at most this size may have."""
    return limit // _BYTES_PER_VALUE
