"""An experiment's differences within parts of its questions, in words: exploratory, so that nothing is concluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from annotate.core.text_tables import UNDEFINED
from frontend.systems.spelt import Spelt
from systems.experiments.spelling import decisive
from systems.models import QuestionKind

# Of the parts that a heading names.
_MOST_NAMED = 3
BY = {
    "category": gettext_noop("By category"),
    "difficulty": gettext_noop("By difficulty"),
    "kind": gettext_noop("By type"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """The candidate less the baseline, and both levels."""

    difference: Spelt
    before: str
    after: str

    @property
    def is_known(self) -> bool:
        """Whether there is either level."""
        return not {self.before, self.after} <= {UNDEFINED}


@dataclass(frozen=True, slots=True)
class PartRow:
    """few: too few questions to rely on. labelled: the most of any metric."""

    name: str
    questions: int
    labelled: int
    few: bool
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class PartTable:
    title: str
    rows: Sequence[PartRow]


def part_tables(figures: Mapping[str, Any], names: Sequence[str], candidate: str) -> list[PartTable]:
    """names: of the metrics, in the order of cells."""
    return [
        PartTable(_(BY[by]), [_row(part, names, figures["baseline"], candidate) for part in parts])
        for by, parts in groupby(figures["parts"], key=lambda part: part["by"])
    ]


def parts_in_words(figures: Mapping[str, Any], metric: str, title: str, candidate: str) -> str:
    """Where the metric differs for sure, as far as one part alone is looked at."""
    better: list[str] = []
    worse: list[str] = []
    for part in figures["parts"]:
        one = next(one for one in part["metrics"] if one["metric"] == metric)
        found = decisive(next(each for each in one["differences"] if each["b"] == candidate))
        if found["low"] is not None and (found["low"] > 0 or found["high"] < 0):
            is_better = (found["low"] > 0) == (one["direction"] == "higher")
            (better if is_better else worse).append(_name(part))
    given = {"title": title, "better": _listed(better), "worse": _listed(worse)}
    if better and worse:
        return _("Exploratory. %(title)s: better in %(better)s; worse in %(worse)s") % given
    if better:
        return _("Exploratory. %(title)s: better in %(better)s") % given
    if worse:
        return _("Exploratory. %(title)s: worse in %(worse)s") % given
    return _("Exploratory. %(title)s: no part differs beyond its interval") % given


def _listed(names: Sequence[str]) -> str:
    first = pgettext("between names of a list", ", ").join(names[:_MOST_NAMED])
    left = len(names) - _MOST_NAMED
    return first if left <= 0 else _("%(names)s and %(n)d more") % {"names": first, "n": left}


def _row(part: Mapping[str, Any], names: Sequence[str], baseline: str, candidate: str) -> PartRow:
    metrics = {one["metric"]: one for one in part["metrics"]}
    labelled = max(level["labelled"] for one in metrics.values() for level in one["levels"])
    cells = [_cell(metrics[name], baseline, candidate) for name in names]
    return PartRow(_name(part), part["questions"], labelled, part["few"], cells)


def _cell(metric: Mapping[str, Any], baseline: str, candidate: str) -> Cell:
    unit = metric["unit"]
    levels = {one["version"]: Spelt.of(decisive(one), unit).text for one in metric["levels"]}
    difference = decisive(next(one for one in metric["differences"] if one["b"] == candidate))
    return Cell(Spelt.of(difference, unit, signed=True), levels[baseline], levels[candidate])


def _name(part: Mapping[str, Any]) -> str:
    if part["by"] == "kind":
        return str(QuestionKind(part["part"]).label)
    return part["part"] or str(QuestionKind.UNKNOWN.label)
