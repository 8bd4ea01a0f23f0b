"""What the sample pages show: sizes, and everything said about one sample.

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
from annotate.core.units import KIND_ORDER, UnitCount, reading_order, unit_anchor, unit_sort_key, units_of
from annotate.labels.read import counting_labels
from annotate.models import Criterion, Project, Sample, Verdict
from annotate.projects.read import samples_matching
from judges.core.versions_read import OF_KEPT
from judges.models import Score


def rows(project: Project, words: str) -> QuerySet[Sample]:
    """Samples for the list: without their long texts, with the number of their claims and contexts."""
    return (
        samples_matching(project, words)
        .annotate(claim_count=UnitCount("claim"), context_count=UnitCount("context"))
        .only("id", "external_id", "question", "pipeline_version")
    )


@dataclass
class Said:
    """What people and judges said about one unit on one criterion."""

    criterion: str
    labels: list[dict[str, Any]] = field(default_factory=list)
    verdict: Verdict | None = None
    scores: list[dict[str, Any]] = field(default_factory=list)


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


def units(sample: Sample, *, with_said: bool) -> dict[str, list[UnitView]]:
    """The sample's units by kind, in the order in which a person goes through them."""
    views: dict[str, list[UnitView]] = {kind: _unit_views(sample, kind) for kind in KIND_ORDER}
    if with_said:
        by_unit = {view.unit: view for listed in views.values() for view in listed}
        for said, unit in _said(sample):
            if unit in by_unit:
                by_unit[unit].said.append(said)
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


def _said(sample: Sample) -> list[tuple[Said, str]]:
    """Everything said about the sample, one entry per unit and criterion (or per measure of a judge)."""
    entries: dict[tuple[str, str], Said] = {}
    names: dict[str, str] = dict(
        Criterion.objects.filter(project=sample.project_id, is_current=True).values_list("key", "name")
    )

    def entry(unit: str, key: str) -> Said:
        return entries.setdefault((unit, key), Said(names.get(key, key)))

    for label in counting_labels().filter(sample=sample).select_related("rater", "criterion").order_by("rater__name"):
        shown = {
            "who": label.rater.name,
            "value": label.value,
            "comment": label.comment,
            "evidence": label.evidence,
            "old": not label.criterion.is_current,
            "version": label.criterion.version,
        }
        entry(label.unit, label.criterion.key).labels.append(shown)
    verdicts = Verdict.objects.filter(sample=sample).select_related("criterion", "decided_by")
    for verdict in verdicts.order_by("criterion__version"):
        entry(verdict.unit, verdict.criterion.key).verdict = verdict
    scores = (
        Score.objects.filter(OF_KEPT, sample=sample)
        .select_related("version__judge")
        .order_by("version__judge__name", "id")
    )
    for score in scores:
        shown = {
            "judge": score.version.judge.name,
            "version": score.version.label,
            "value": score.number if score.label is None else score.label,
            "failed": "" if score.status == "ok" else score.get_status_display(),
            "rationale": score.rationale,
        }
        entry(score.unit, score.dimension).scores.append(shown)
    order = sorted(entries, key=lambda key: (unit_sort_key(key[0]), key[1]))
    return [(entries[key], key[0]) for key in order]


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
