"""What the sample pages show: sizes, and a sample's units with what was said about them.

An answer as pages show it: cut at its claims and at its citations, which may overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotate.core.spans import Citation, citations_in
from annotate.core.units import KIND_ORDER, UnitCount, reading_order, unit_anchor, units_of
from annotate.models import Project, Sample
from annotate.projects.read import samples_matching
from judges.core.sample_read import Said


def rows(project: Project, words: str) -> QuerySet[Sample]:
    """Samples for the list: without their long texts, with the number of their claims and contexts."""
    return (
        samples_matching(project, words)
        .annotate(claim_count=UnitCount("claim"), context_count=UnitCount("context"))
        .only("id", "external_id", "question", "pipeline_version")
    )


@dataclass
class UnitView:
    """One unit with its text and everything said about it."""

    unit: str
    kind: str
    text: str
    note: str = ""
    said: list[Said] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return unit_anchor(self.unit)


def units(sample: Sample, said: Iterable[Said] = ()) -> dict[str, list[UnitView]]:
    """The sample's units by kind, in the order in which a person goes through them, with what was said about each."""
    views: dict[str, list[UnitView]] = {kind: _unit_views(sample, kind) for kind in KIND_ORDER}
    by_unit = {view.unit: view for listed in views.values() for view in listed}
    for one in said:
        if one.unit in by_unit:
            by_unit[one.unit].said.append(one)
    return views


def _unit_views(sample: Sample, kind: str) -> list[UnitView]:
    texts: Iterable[tuple[str, str]]
    if kind == "context":
        texts = [(context["text"], context.get("id") or "") for context in sample.contexts]
    elif kind == "claim":
        # In the order of the answer, so that they are numbered as everywhere.
        return [UnitView(f"claim:{at}", kind, sample.claims[at]["text"]) for at in reading_order(sample.claims)]
    elif kind in ("fact", "entity"):
        texts = [(text, "") for text in (sample.key_facts if kind == "fact" else sample.entities)]
    else:
        texts = [("", "")]
    return [UnitView(unit, kind, text, note) for unit, (text, note) in zip(units_of(sample, kind), texts, strict=True)]


def kind_titles() -> dict[str, str]:
    return {
        "claim": _("Claims"),
        "context": _("Contexts"),
        "fact": _("Key facts"),
        "entity": _("Entities"),
        "answer": _("Answer"),
        "sample": _("Sample"),
    }


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
    """What is cited, and when it isn't there, how many there are. label/texts.js says the same."""
    if citation.first == citation.last:
        cites = _("cites context %(n)d") % {"n": citation.first}
    else:
        cites = _("cites contexts %(first)d to %(last)d") % {"first": citation.first, "last": citation.last}
    if citation.exists(contexts):
        return cites
    there = {0: _("%(cites)s; there are none"), 1: _("%(cites)s; there is 1")}
    return there.get(contexts, _("%(cites)s; there are %(count)d")) % {"cites": cites, "count": contexts}
