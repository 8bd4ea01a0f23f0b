"""Figures of experiments as they are read on pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from frontend.reports.in_words import in_words
from frontend.reports.shown import from_to
from systems.experiments.spelling import Estimate, value_in

_BANDS = {
    "poor": gettext_noop("poor"),
    "fair": gettext_noop("fair"),
    "good": gettext_noop("good"),
    "excellent": gettext_noop("excellent"),
}


@dataclass(frozen=True, slots=True)
class Spelt:
    """A figure in words. why: it is missing, or has no interval."""

    text: str
    interval: str
    why: str

    @classmethod
    def of(cls, found: Estimate, unit: str, *, signed: bool = False) -> Spelt:
        text, low, high = (in_unit(found[name], unit, signed=signed) for name in ("value", "low", "high"))
        return cls(text, "" if found["low"] is None else from_to(low, high), in_words(found["reason"]))


def in_unit(value: float | None, unit: str, *, signed: bool = False) -> str:
    text = value_in(value, unit, signed=signed, digits=2)
    return f"{text} ms" if unit == "ms" and value is not None else text


def band_in_words(band: Sequence[str] | None) -> str:
    """Of the interval: from its low to its high end."""
    if not band:
        return ""
    words = [_(_BANDS[one]) for one in dict.fromkeys(band)]
    return words[0] if len(words) == 1 else from_to(*words)
