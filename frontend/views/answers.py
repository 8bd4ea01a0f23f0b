"""An answer as pages show it: cut at its claims and at its citations, which may overlap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.spans import Citation, citations_in
from annotate.core.units import reading_order, unit_anchor
from frontend.views.samples_read import UnitView


@dataclass(frozen=True)
class Piece:
    """A stretch of the answer. `number` is the claim's, where it begins; `cites` says what a citation cites, in words,
    and `anchor` is where the first cited context stands, or "" when the sample has no such context."""

    text: str
    claim: UnitView | None = None
    number: int = 0
    cites: str = ""
    anchor: str = ""


def answer_pieces(answer: str, claims: list[dict[str, Any]], views: list[UnitView], contexts: int) -> list[Piece]:
    """The answer cut where claims and citations begin and end. Claims without a place, or inside one that came
    before, stay unmarked. `views`: of the claims, in reading order; `contexts`: how many the sample has."""
    numbers = {index: place + 1 for place, index in enumerate(reading_order(claims))}
    placed = list(_side_by_side(claims))
    cited = citations_in(answer)
    cuts = {0, len(answer)}
    cuts.update(place for start, end, _index in placed for place in (start, end))
    cuts.update(place for citation in cited for place in (citation.start, citation.end))
    edges = sorted(cuts)
    pieces = []
    for start, end in pairwise(edges):
        claim = next((found for found in placed if found[0] <= start < found[1]), None)
        citation = next((found for found in cited if found.start <= start < found.end), None)
        pieces.append(
            Piece(
                answer[start:end],
                claim=views[numbers[claim[2]] - 1] if claim else None,
                number=numbers[claim[2]] if claim and claim[0] == start else 0,
                cites=cites_words(citation, contexts) if citation else "",
                anchor=unit_anchor(f"context:{citation.first - 1}") if citation and citation.exists(contexts) else "",
            )
        )
    return pieces


def _side_by_side(claims: list[dict[str, Any]]) -> Iterator[tuple[int, int, int]]:
    """(start, end, index) of the claims that have a place, without those that begin inside another one."""
    at = 0
    for start, end, index in sorted(
        (claims[i]["start"], claims[i]["end"], i) for i in reading_order(claims) if claims[i].get("start") is not None
    ):
        if start >= at:
            yield start, end, index
            at = end


def cites_words(citation: Citation, contexts: int) -> str:
    """What is cited, and when it isn't there, how many there are. js/texts.js says the same."""
    if citation.first == citation.last:
        cites = _("cites context %(n)d") % {"n": citation.first}
    else:
        cites = _("cites contexts %(first)d to %(last)d") % {"first": citation.first, "last": citation.last}
    if citation.exists(contexts):
        return cites
    there = {0: _("%(cites)s; there are none"), 1: _("%(cites)s; there is 1")}
    return there.get(contexts, _("%(cites)s; there are %(count)d")) % {"cites": cites, "count": contexts}
