"""The RAG triad as one picture: question, contexts and answer are the corners of a triangle, and each side is drawn as
far as its share goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from frontend.reports.shown import Shown, shown_share

# Corners in a view of 340 × 250, and where a side's figure stands.
_CORNERS = {"question": (170, 34), "contexts": (48, 206), "answer": (292, 206)}
_SIDES = {
    "context_relevance": (gettext_lazy("Context relevance"), "question", "contexts", (96, 112), "end"),
    "groundedness": (gettext_lazy("Groundedness"), "contexts", "answer", (170, 228), "middle"),
    "answer_relevance": (gettext_lazy("Answer relevance"), "answer", "question", (244, 112), "start"),
}


@dataclass(frozen=True, slots=True)
class Side:
    """start, end: of the whole side; drawn: how far the share goes, None where it isn't known. place, anchor: of its
    figure."""

    name: str
    start: tuple[int, int]
    end: tuple[int, int]
    drawn: tuple[str, str] | None
    place: tuple[int, int]
    anchor: str
    figure: Shown


@dataclass(frozen=True, slots=True)
class Corner:
    name: str
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Triad:
    sides: list[Side]
    corners: list[Corner]

    @property
    def said(self) -> str:
        """For those who don't see it."""
        return "; ".join(f"{side.name}: {side.figure.text}" for side in self.sides)


def triad_of(figures: Mapping[str, Mapping[str, Any]]) -> Triad:
    names = {
        "question": _("Question"),
        "contexts": pgettext("corner of the triad", "Contexts"),
        "answer": _("Answer"),
    }
    return Triad(
        [_side(name, figures[name]) for name in _SIDES],
        [Corner(names[name], place) for name, place in _CORNERS.items()],
    )


def _side(name: str, estimate: Mapping[str, Any]) -> Side:
    title, first, second, place, anchor = _SIDES[name]
    start, end, share = _CORNERS[first], _CORNERS[second], estimate["value"]
    drawn = None
    if share is not None:
        x, y = (a + (b - a) * share for a, b in zip(start, end, strict=True))
        drawn = f"{x:.1f}", f"{y:.1f}"
    return Side(str(title), start, end, drawn, place, anchor, shown_share(estimate))
