"""One sample with what was said about each of its units, and what people report about samples. From a sample it goes on
to the next on which a judge disagrees with people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.blindness import why_judges_are_held_back
from annotate.core.spans import Citation, citations_in
from annotate.core.units import KIND_ORDER, claims_of, reading_order, unit_anchor, unit_sort_key, units_of
from annotate.models import Sample
from annotate.models.sample import AbstainedSource
from annotate.projects.read import criterion_names, one_sample, rated_criteria
from annotate.projects.trail_read import unit_history
from annotate.samples.abstaining import set_abstained
from annotate.samples.abstention import is_abstention
from annotate.samples.flags import resolve_flag
from annotate.samples.read import Flags
from frontend.base.pages import ProjectPage, project_view
from frontend.base.trail import sentence, unit_words, who
from frontend.data.values import lines
from frontend.reports.judge import outcome
from frontend.reports.parts import disagreement_url, judge_url, labels_shown
from judges.core.locked_read import why_locked
from judges.core.sample_read import Said, SaidOfSample, said_about
from judges.reports.read import latest_report

MOST_DIGITS = 4


def walk(page: ProjectPage, sample: Sample) -> dict[str, Any] | None:
    """The way through the disagreements that the address names, in the report that the judge's page shows: which one
    this is, from 1, of how many, and the addresses beside it, "" where there is none.

    None when it names none, or one that is no longer there: reports are made anew.
    """
    asked = page.request.GET
    number, key = asked.get("disagreement", ""), asked.get("criterion", "")
    if not page.may("reports.read") or not (number.isdecimal() and len(number) <= MOST_DIGITS):
        return None
    criterion = rated_criteria(page.project).filter(key=key).first()
    report = None if criterion is None else latest_report(criterion, labels_shown(page), reader=page.user)
    judges = [] if report is None else report.result["judges"]
    name, measures = asked.get("judge"), asked.get("measures")
    judge = next((row for row in judges if (row["judge"], row["dimension"]) == (name, measures)), None)
    if judge is None:
        return None
    rows, place = judge["disagreements"], int(number) - 1
    if not 0 <= place < len(rows) or rows[place]["sample"] != sample.pk:
        return None
    return {
        "judge": judge["title"],
        "judge_url": judge_url(page, key, judge["judge"], judge["dimension"]),
        "at": place + 1,
        "count": len(rows),
        "outcome": outcome(rows[place]),
        "previous": disagreement_url(page, key, judge, place - 1) if place else "",
        "next": disagreement_url(page, key, judge, place + 1) if place + 1 < len(rows) else "",
    }


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


def units_by_kind(sample: Sample, said: Iterable[Said] = ()) -> dict[str, list[UnitView]]:
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
        return [UnitView(f"claim:{at}", kind, sample.claims[at]["text"]) for at in reading_order(claims_of(sample))]
    elif kind in ("fact", "entity"):
        texts = [(text, "") for text in (sample.key_facts if kind == "fact" else sample.entities)]
    else:
        texts = [("", "")] * len(units_of(sample, kind))
    return [UnitView(unit, kind, text, note) for unit, (text, note) in zip(units_of(sample, kind), texts, strict=True)]


_TITLES = {
    "claim": gettext_lazy("Claims"),
    "context": gettext_lazy("Contexts"),
    "fact": gettext_lazy("Key facts"),
    "entity": gettext_lazy("Entities"),
    "answer": gettext_lazy("Answer"),
    "sample": gettext_lazy("Sample"),
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
    pieces = []
    for start, end in pairwise(sorted(cuts)):
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
    there = {0: _("%(cites)s, but there are none"), 1: _("%(cites)s, but there is only 1")}
    return there.get(contexts, _("%(cites)s, but there are only %(count)d")) % {"cites": cites, "count": contexts}


@project_view("samples", get="samples.read")
def sample(page: ProjectPage, sample_id: int) -> HttpResponse:
    found = one_sample(page.project, sample_id)
    said = said_about(found, reader=page.user)
    units = units_by_kind(found, said.entries)
    context = {
        "sample": found,
        "blind": said.people_held_back,
        "judges_held_back": _why_no_judges(said),
        "pieces": answer_pieces(found.answer or "", claims_of(found), units["claim"], len(found.contexts)),
        "contexts": units["context"],
        "groups": [
            {"kind": kind, "title": _TITLES[kind], "units": units[kind]}
            for kind in ("claim", "fact", "entity", "answer", "sample")
            if units[kind] and (kind not in ("answer", "sample") or units[kind][0].said)
        ],
        "metadata": [(key, lines(value)) for key, value in sorted(found.metadata.items())],
        "walk": walk(page, found),
        "history": _history(page, found),
        "may_edit_claims": found.answer is not None and page.may("claims.change"),
        "reads_as_abstention": found.answer is not None
        and not found.abstained
        and found.abstained_source != AbstainedSource.PERSON
        and is_abstention(found.answer),
    }
    return page.render("data/sample.html", context)


@project_view("samples", post="claims.change")
def abstention(page: ProjectPage, sample_id: int) -> HttpResponse:
    abstained = page.request.POST.get("abstained") == "yes"

    def say() -> None:
        set_abstained(actor=page.user, project=page.project, sample_id=sample_id, abstained=abstained)

    said = _("Marked as abstention. The answer has no claims now.") if abstained else _("Marked as an answer.")
    page.attempt(say, said)
    return page.redirect("sample", sample_id)


def _why_no_judges(said: SaidOfSample) -> str:
    if said.judges_held_back:
        return why_judges_are_held_back()
    return why_locked() if said.judges_locked else ""


def _history(page: ProjectPage, sample: Sample) -> list[dict[str, Any]]:
    """Per unit what was said and decided, in the order of a sample's units."""
    history, names = unit_history(sample=sample, reader=page.user), criterion_names(page.project)
    return [
        {
            "unit": unit_words(unit),
            "rows": [
                {"at": row.at, "who": who(row), "what": sentence(row, names, of_unit=True)} for row in history[unit]
            ],
        }
        for unit in sorted(history, key=unit_sort_key)
    ]


@project_view("flags", get="flags.read")
def flags(page: ProjectPage) -> HttpResponse:
    resolved = page.request.GET.get("state") == "resolved"
    rows = page.rows(Flags(page.project, reader=page.user, resolved=resolved))
    context = {
        "rows": rows,
        "resolved": resolved,
        "query": "state=resolved&" if resolved else "",
        "may_resolve": page.may("flags.resolve"),
    }
    return page.render("data/flags.html", context)


@project_view("flags", post="flags.resolve")
def resolve(page: ProjectPage, flag_id: int) -> HttpResponse:
    words = page.request.POST.get("resolution", "")
    page.attempt(
        lambda: resolve_flag(actor=page.user, project=page.project, flag_id=flag_id, resolution=words),
        _("Flag resolved."),
    )
    return page.redirect("flags")
