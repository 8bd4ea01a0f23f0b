"""Which answer people prefer, where they saw those of two versions side by side; from an experiment's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from django.utils.translation import gettext as _

from frontend.reports.in_words import in_words
from frontend.systems.spelt import Spelt
from systems.experiments.spelling import SHARE, Estimate


@dataclass(frozen=True, slots=True)
class Part:
    """Of the drawn questions so many. start, share: of its piece of the bar, as SVG spells them."""

    name: str
    tone: str
    questions: int
    start: str
    share: str


@dataclass(frozen=True, slots=True)
class Preferred:
    """first: how often the answer that stood first is preferred, None where nothing is settled; position_shows: whether
    that is certainly not half of the time."""

    chip: str
    verdict: str
    sentence: str
    why: str
    win_rate: Spelt
    drawn: int
    questions: int
    parts: Sequence[Part]
    first: Spelt | None
    position_shows: bool


def preferred_in(figures: Mapping[str, Any], candidate: str) -> Preferred | None:
    """figures: of the experiment. None where nobody was asked to compare the candidate's answers."""
    found = next((one for one in figures["preferences"] if one["b"] == candidate), None)
    if found is None:
        return None
    verdict, first = found["verdict"], found["first"]
    chip, sentence = _said(verdict, {"version": found["b"], "baseline": found["a"]})
    return Preferred(
        chip=chip,
        verdict=verdict,
        sentence=sentence,
        why="" if found["reason"] == found["difference"]["reason"] else in_words(found["reason"]),
        win_rate=Spelt.of(found["win_rate"], SHARE),
        drawn=found["drawn"],
        questions=found["questions"],
        parts=_parts(found),
        first=None if first is None else Spelt.of(first, SHARE),
        position_shows=first is not None and _is_not_half(first),
    )


def _said(verdict: str, given: Mapping[str, str]) -> tuple[str, str]:
    if verdict == "better":
        return _("%(version)s preferred") % given, _("The answers of %(version)s are preferred more often.") % given
    if verdict == "worse":
        return _("%(baseline)s preferred") % given, _("The answers of %(baseline)s are preferred more often.") % given
    return _("Cannot tell yet"), _("Whose answers are preferred more often cannot be told yet.")


def _parts(found: Mapping[str, Any]) -> list[Part]:
    named = [
        ("b", _("%(version)s preferred") % {"version": found["b"]}, "better"),
        ("neither", _("About the same"), "neither"),
        ("a", _("%(baseline)s preferred") % {"baseline": found["a"]}, "worse"),
        ("open", _("Not decided yet"), "open"),
    ]
    counts = found["counts"]
    ends = [0, *accumulate(counts[key] for key, _name, _tone in named)]
    return [
        Part(name, tone, counts[key], _percent(before, ends[-1]), _percent(counts[key], ends[-1]))
        for before, (key, name, tone) in zip(ends, named, strict=False)
    ]


def _percent(questions: int, of: int) -> str:
    return f"{100 * questions / max(1, of):.2f}%"


def _is_not_half(first: Estimate) -> bool:
    return first["low"] is not None and not first["low"] <= 0.5 <= first["high"]
