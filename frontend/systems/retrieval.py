"""How well versions retrieve on a frozen test set: side by side, over one key of their configuration, and question by
question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext_lazy

import alignment
from annotate.core.errors import Conflict, Refusal
from annotate.core.text_tables import figure
from annotate.models import Project
from frontend.base.pages import ProjectPage, project_view
from frontend.reports.shown import Shown, shown
from frontend.systems.spelt import band_in_words
from frontend.systems.versions import written
from systems.core.grades import MAX_GRADE
from systems.experiments.bands_read import NO_BANDS, RECALL, RECALL_K, bands_of
from systems.models import FrozenSet, QuestionRevision, SystemVersion
from systems.questions.read import one_frozen
from systems.responses.read import one_version, versions_asked
from systems.retrieval.figures_read import (
    DEFAULT_K,
    MAX_K,
    Depth,
    Truth,
    rankings_of,
    retrieval_figures,
    truth_of,
)

# Of each measure its title and what it is. The share of unjudged documents, which stands beside all of them, is apart.
MEASURES = {
    "P": (gettext_noop("P@%(k)s"), gettext_noop("Share of the first %(k)s that is relevant")),
    "R": (gettext_noop("R@%(k)s"), gettext_noop("Share of the relevant documents among the first %(k)s")),
    "Success": (gettext_noop("Success@%(k)s"), gettext_noop("A relevant document is among the first %(k)s")),
    "RR": (gettext_noop("MRR"), gettext_noop("1 / rank of the first relevant document")),
    "AP": (gettext_noop("MAP"), gettext_noop("Precision at the rank of each relevant document, averaged")),
    "nDCG": (gettext_noop("nDCG@%(k)s"), gettext_noop("The order by grades, against the best order")),
    "Rprec": (gettext_noop("R-precision"), gettext_noop("Precision at the number of relevant documents")),
}
DEFAULT_MEASURE = "nDCG"
# Beyond it, figures are too low to compare by.
MUCH_UNJUDGED = 0.2
# Of the chart, in shares of its height and width.
_TOP, _BOTTOM, _LEFT, _RIGHT = 0.06, 0.84, 0.08, 0.95
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Measure:
    name: str
    title: str
    about: str


def measures(k: int) -> list[Measure]:
    return [Measure(name, *(_(words) % {"k": k} for words in said)) for name, said in MEASURES.items()]


class DepthForm(forms.Form):
    """What the address asks for; what is wrong or left out is as usual."""

    k = forms.IntegerField(label=gettext_lazy("Documents counted (k)"), min_value=1, max_value=MAX_K)
    rel = forms.IntegerField(
        label=gettext_lazy("Relevant from grade"), min_value=1, max_value=MAX_GRADE, required=False
    )
    metric = forms.ChoiceField(label=gettext_lazy("Measure"))

    def __init__(self, page: ProjectPage) -> None:
        asked, usual = page.request.GET, {"k": DEFAULT_K, "rel": "", "metric": DEFAULT_MEASURE}
        super().__init__({name: asked.get(name) or value for name, value in usual.items()})
        self._choose_from(DEFAULT_K)
        self.is_valid()
        given = self.cleaned_data
        self.depth = Depth(given.get("k") or DEFAULT_K, given.get("rel"))
        self.measure: str = given.get("metric") or DEFAULT_MEASURE
        self._choose_from(self.depth.k)

    def _choose_from(self, k: int) -> None:
        titles = [(one.name, one.title) for one in measures(k)]
        self.fields["metric"].choices = titles  # type: ignore[attr-defined]

    @property
    def title(self) -> str:
        return next(one.title for one in measures(self.depth.k) if one.name == self.measure)

    @property
    def query(self) -> str:
        return urlencode({"k": self.depth.k, "rel": self.depth.rel or "", "metric": self.measure})


@dataclass(frozen=True)
class Row:
    """A version with its figures, or why it has none. recall: limits of the bands of recall, where it is at the depth
    that they are of."""

    version: SystemVersion
    found: dict[str, Any] | None
    why: str = ""
    recall: Sequence[float] | None = None

    @property
    def cells(self) -> list[tuple[Shown, str]]:
        """Each measure, with its band where it has one."""
        return [(shown(self.metrics[name]), self._band if name == "R" else "") for name in MEASURES]

    @property
    def _band(self) -> str:
        if not self.recall:
            return ""
        return band_in_words(alignment.band_of(alignment.Estimate(**self.metrics["R"]), self.recall))

    @property
    def metrics(self) -> dict[str, Any]:
        return self.found["metrics"] if self.found else {}

    @property
    def unjudged(self) -> float | None:
        judged = self.metrics["Judged"]["value"]
        return None if judged is None else 100 * (1 - judged)

    @property
    def is_poorly_judged(self) -> bool:
        return self.unjudged is not None and self.unjudged > 100 * MUCH_UNJUDGED

    @property
    def remarks(self) -> list[str]:
        """What is counted as nothing, or left out."""
        found = self.found or {}
        said = {
            "failed": ngettext_lazy("%(n)d failed request", "%(n)d failed requests", "n"),
            "not_asked": ngettext_lazy("%(n)d question not asked", "%(n)d questions not asked", "n"),
            "without_ids": ngettext_lazy(
                "%(n)d response without document IDs", "%(n)d responses without document IDs", "n"
            ),
        }
        return [words % {"n": found[name]} for name, words in said.items() if found.get(name)]


def _row(
    frozen: FrozenSet, truth: Truth, version: SystemVersion, depth: Depth, recall: Sequence[float] | None = None
) -> Row:
    try:
        return Row(version, retrieval_figures(truth, frozen, version, depth), recall=recall)
    except Refusal as refusal:
        return Row(version, None, refusal.message)


def _recall_limits(project: Project, depth: Depth) -> Sequence[float] | None:
    if depth.k != RECALL_K:
        return None
    return bands_of(project).metrics.get(RECALL, NO_BANDS).limits


@project_view("systems", get="systems.read")
def retrieval(page: ProjectPage, set_name: str, number: int) -> HttpResponse:
    """Versions beside each other, and a measure over a key in which they differ."""
    frozen = one_frozen(page.project, set_name, number)
    form = DepthForm(page)
    try:
        truth = truth_of(frozen, reader=page.user)
    except Conflict as refusal:
        return page.render("systems/retrieval.html", {"frozen": frozen, "held_back": refusal.message})
    versions = page.rows(versions_asked(frozen))
    recall = _recall_limits(page.project, form.depth)
    rows = [_row(frozen, truth, version, form.depth, recall) for version in versions]
    keys = differing_keys([row.version for row in rows if row.found])
    compared = {key: [row for row in rows if row.found and key in row.version.configuration] for key in keys}
    curved = [key for key in keys if same_documents(key, [row.version for row in compared[key]])]
    by = page.request.GET.get("by", "")
    by = by if by in keys else next(iter(curved or keys), "")
    context = {
        "frozen": frozen,
        "form": form,
        "measures": measures(form.depth.k),
        "rows": versions,
        "versions": rows,
        "undefined": next((row.found["undefined"] for row in rows if row.found), 0),
        "contradicted": truth.contradicted,
        "has_judgements": any(truth.known.values()),
        "keys": keys,
        "by": by,
        "query": f"{form.query}&",
        "chart": Chart.of(compared[by], by, form.measure) if by in curved else None,
        "may_import": page.may("import.run"),
        "may_pool": page.may("batches.change"),
    }
    return page.render("systems/retrieval.html", context)


def differing_keys(versions: list[SystemVersion]) -> list[str]:
    """Keys of the configuration that have two values or more."""
    values: dict[str, set[str]] = defaultdict(set)
    for version in versions:
        for key, value in version.configuration.items():
            values[key].add(written(value))
    return sorted(key for key, several in values.items() if len(several) > 1)


# In the names of keys that say how documents are cut, and what a configuration says where IDs are none of the pieces.
_CUTTING = ("chunk", "overlap", "split")
_IDS, _OF_SOURCES = "document_ids", "source"


def same_documents(key: str, versions: list[SystemVersion]) -> bool:
    """Whether an ID means the same document in all of them, whatever the key's value."""
    if not any(word in key.lower() for word in _CUTTING):
        return True
    return all(version.configuration.get(_IDS) == _OF_SOURCES for version in versions)


@dataclass(frozen=True)
class Point:
    """Places as SVG spells them, from the left and from the top. low, high: None without an interval."""

    version: SystemVersion
    value: str
    figure: Shown
    x: str
    y: str
    low: str | None
    high: str | None


@dataclass(frozen=True)
class Chart:
    """A measure over one key: numbers in their order with a line through them, other values side by side."""

    points: list[Point]
    segments: list[tuple[Point, Point]]
    ticks: list[tuple[str, str]]

    @classmethod
    def of(cls, rows: list[Row], key: str, metric: str) -> Chart:
        shown_rows = [row for row in rows if row.metrics[metric]["value"] is not None]
        values = [row.version.configuration[key] for row in shown_rows]
        is_numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        shown_rows.sort(key=lambda row: _order(row.version.configuration[key], is_numeric=is_numeric))
        points = [
            _point(row, key, row.metrics[metric], (place + 0.5) / len(shown_rows))
            for place, row in enumerate(shown_rows)
        ]
        segments = list(pairwise(points)) if is_numeric else []
        return cls(points, segments, [(_from_top(tick), figure(tick, 2)) for tick in _TICKS])


def _order(value: Any, *, is_numeric: bool) -> Any:
    return value if is_numeric else written(value)


def _point(row: Row, key: str, estimate: dict[str, Any], share: float) -> Point:
    low, high = (None if estimate[end] is None else _from_top(estimate[end]) for end in ("low", "high"))
    return Point(
        version=row.version,
        value=written(row.version.configuration[key]),
        figure=shown(estimate),
        x=_percent(_LEFT + share * (_RIGHT - _LEFT)),
        y=_from_top(estimate["value"]),
        low=low,
        high=high,
    )


def _from_top(value: float) -> str:
    return _percent(_BOTTOM - value * (_BOTTOM - _TOP))


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


@dataclass(frozen=True)
class Document:
    """grade: None where it was not judged."""

    name: str
    grade: int | None
    is_relevant: bool


@dataclass(frozen=True)
class QuestionRow:
    """figures: in the order of MEASURES, and the share of the first k that was judged. lists: the first documents of
    each repeat. missed: relevant documents that no repeat has among them."""

    revision: QuestionRevision
    figures: list[str]
    judged: str
    lists: list[list[Document]]
    missed: list[Document]


@project_view("systems", get="systems.read")
def version_retrieval(page: ProjectPage, set_name: str, number: int, version_id: int) -> HttpResponse:
    """The questions of one version, the worst first, with what it retrieved and what it missed."""
    frozen, version = one_frozen(page.project, set_name, number), one_version(page.project, version_id)
    form = DepthForm(page)
    try:
        truth = truth_of(frozen, reader=page.user)
    except Conflict as refusal:
        context = {"frozen": frozen, "version": version, "form": form, "held_back": refusal.message}
        return page.render("systems/version_retrieval.html", context)
    row = _row(frozen, truth, version, form.depth)
    per_question = row.found["per_question"] if row.found else {}
    rows = page.rows(sorted(per_question, key=lambda name: _worst_first(per_question[name][form.measure])))
    retrieved: dict[str, list[list[str]]] = defaultdict(list)
    for (name, _repeat), documents in rankings_of(version, truth, questions=list(rows)).of.items():
        retrieved[name].append(documents[: form.depth.k])
    context = {
        "frozen": frozen,
        "version": version,
        "form": form,
        "row": row,
        "measures": measures(form.depth.k),
        "rows": rows,
        "query": f"{form.query}&",
        "questions": [_question(truth, name, per_question[name], retrieved[name], form.depth) for name in rows],
    }
    return page.render("systems/version_retrieval.html", context)


def _worst_first(value: float | None) -> tuple[bool, float]:
    """What is undefined comes last."""
    return value is None, value or 0.0


def _question(
    truth: Truth, name: str, values: dict[str, float | None], retrieved: list[list[str]], depth: Depth
) -> QuestionRow:
    known, relevant = truth.known[name], truth.relevant(name, depth)

    def document(one: str) -> Document:
        return Document(one, known[one].grade if one in known else None, one in relevant)

    found = {one for documents in retrieved for one in documents}
    return QuestionRow(
        revision=truth.revisions[name],
        figures=[figure(values[measure], 2) for measure in MEASURES],
        judged=figure(values["Judged"], 2),
        lists=[[document(one) for one in documents] for documents in retrieved],
        missed=[document(one) for one in sorted(relevant - found)],
    )
