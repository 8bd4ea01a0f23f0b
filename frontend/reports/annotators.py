"""The annotators of a frozen report, and the matrix of kappas, as their pages and the file show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, pgettext

import alignment
from annotate.core.text_tables import UNDEFINED, figure
from frontend.reports.in_words import in_words
from frontend.reports.shown import from_to, worded
from judges.models import AlignmentReport

# A kappa on fewer common units says little: the same number that a pair needs to count in the means.
FEW_UNITS = 10
# Upper ends of the shades of a matrix cell.
_SHADES = (0.0, 0.2, 0.4, 0.6, 0.8)


def matrix_context(matrix: dict[str, Any]) -> dict[str, Any]:
    """The `matrix` of `judges/matrix.html`."""
    rows = [
        {**rater, "cells": [None if i == j else _matrix_table_cell(cell) for j, cell in enumerate(cells)]}
        for i, (rater, cells) in enumerate(zip(matrix["raters"], matrix["cells"], strict=True))
    ]
    few = any(cell and cell["few"] for row in rows for cell in row["cells"])
    return {**matrix, "rows": rows, "has_few": few, "few_units": FEW_UNITS}


def _matrix_table_cell(cell: dict[str, Any] | None) -> dict[str, Any]:
    if cell is None:
        return {"text": "", "shade": "none", "title": _("no common units"), "n": "", "few": False}
    n, few = cell["n"], cell["n"] < FEW_UNITS
    common = ngettext("%(n)s common unit", "%(n)s common units", n) % {"n": n}
    if cell["kappa"] is None:
        title = _("%(why)s; %(common)s") % {"why": in_words(cell["reason"]), "common": common}
        return {"text": UNDEFINED, "shade": "none", "title": title, "n": n, "few": few}
    title = common
    if cell["low"] is not None:
        interval = from_to(figure(cell["low"], 2), figure(cell["high"], 2))
        title = _("%(interval)s, %(common)s") % {"interval": interval, "common": common}
    shade = "few" if few else sum(cell["kappa"] > end for end in _SHADES)
    return {"text": figure(cell["kappa"], 2), "shade": shade, "title": title, "n": n, "few": few}


@dataclass(frozen=True, slots=True)
class FewKappa:
    """The mean kappa of pairs of people of whom none has enough units in common; units: the most that a pair has."""

    kappa: str
    units: int


def kappa_of_few(matrix: Mapping[str, Any]) -> FewKappa | None:
    """From the cells of a report's matrix, with its caution; None where no kappa of two people is defined."""
    people = [place for place, rater in enumerate(matrix["raters"]) if rater["kind"] == "person"]
    cells = [matrix["cells"][i][j] for i in people for j in people if i < j]
    known = [cell for cell in cells if cell is not None and cell["kappa"] is not None]
    if not known:
        return None
    return FewKappa(figure(fmean(cell["kappa"] for cell in known), 2), max(cell["n"] for cell in known))


# Below this a figure of seconds has a decimal.
_SHORT_SECONDS = 10


def annotators_context(report: AlignmentReport) -> dict[str, Any]:
    """The `annotators` of `reports/annotators_fragment.html`: the people, all together as the last entry."""
    result = report.result
    found, hurried = result["annotators"], result["too_fast"]
    too_fast = {one["name"]: one for one in hurried["people"]} if hurried else {}
    together = {**found["together"], "name": ""}
    below = alignment.report.clearly_below(found, FEW_UNITS)
    rows = [
        {**_row(one), "too_fast": too_fast.get(one["name"]), "below": below.get(one["name"], ())}
        for one in [*found["people"], together]
    ]
    return {
        "basis": found["basis"],
        "together": together,
        "conclusion": _conclusion(found, below),
        "count": len(found["people"]) + found["left_out"],
        "left_out": found["left_out"],
        "rows": rows,
        "alone": in_words(together["agreement"]["reason"]) if together["agreement"]["value"] is None else "",
        "few_units": FEW_UNITS,
        "has_few": any(row["few"] for row in rows),
        "model_reason": in_words(found["model"]["reason"]),
        "options": [(row["label"], row["passes"]) for row in result["prevalence"]],
        "says_again": together["consistency"]["value"] is not None,
        "is_timed": together["seconds"]["n"] > 0,
        "has_too_fast": bool(too_fast),
        "weeks": [_week(monday) for monday in found["weeks"]["mondays"]],
        "earlier_weeks": found["weeks"]["earlier"],
        "weeks_reason": in_words(found["weeks"]["reason"]),
    }


# On what somebody can agree less than all do.
_ON = {
    "kappa": gettext_noop("overall (kappa %(own)s, all %(all)s)"),
    "tpr": gettext_noop("on passes (%(own)s, all %(all)s)"),
    "tnr": gettext_noop("on fails (%(own)s, all %(all)s)"),
}


def _conclusion(found: Mapping[str, Any], below: Mapping[str, Sequence[str]]) -> str:
    """Who stands out; "" where there is nothing to compare."""
    together = found["together"]
    if together["kappa"]["value"] is None:
        return ""
    if not below:
        said = _("No annotator agrees clearly less with the others than all do together (kappa %(all)s).")
        return said % {"all": figure(together["kappa"]["value"], 2)}
    sentences = []
    for one in found["people"]:
        parts = []
        for name in below.get(one["name"], ()):
            said = _ON[name]
            own, overall = (of["kappa"] if name == "kappa" else of["rates"][name] for of in (one, together))
            parts.append(_(said) % {"own": figure(own["value"], 2), "all": figure(overall["value"], 2)})
        if parts:
            given = {"name": one["name"], "where": _(", ").join(parts)}
            sentences.append(_("%(name)s agrees clearly less with the others %(where)s.") % given)
    return " ".join(sentences)


def people_matrix(report: AlignmentReport) -> dict[str, Any]:
    """The `matrix` of `judges/matrix.html`: the same cells, of people with each other only."""
    matrix = report.result["matrix"]
    places = [place for place, rater in enumerate(matrix["raters"]) if rater["kind"] == "person"]
    return matrix_context(
        {
            **matrix,
            "raters": [matrix["raters"][place] for place in places],
            "cells": [[matrix["cells"][i][j] for j in places] for i in places],
        }
    )


def _row(one: dict[str, Any]) -> dict[str, Any]:
    return {
        **worded(one),
        "few": 0 < one["agreement"]["n"] < FEW_UNITS,
        "pace": _pace(one["seconds"]),
        "shares": [{"text": f"{share:.0%}", "width": f"{100 * share:.1f}"} for share in one["shares"] or []],
        "weeks": [_cell(cell) for cell in one["weeks"]],
    }


def _pace(seconds: dict[str, Any]) -> dict[str, Any]:
    half = from_to(_seconds(seconds["low"]), _seconds(seconds["high"])) if seconds["n"] else ""
    return {"median": _seconds(seconds["median"]), "half": half, "n": seconds["n"]}


def _seconds(value: float | None) -> str:
    if value is None:
        return UNDEFINED
    return figure(value, 1 if value < _SHORT_SECONDS else 0)


def _cell(cell: dict[str, Any] | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    few = cell["n"] < FEW_UNITS
    interval = "" if cell["low"] is None else from_to(figure(cell["low"], 2), figure(cell["high"], 2))
    return {"text": figure(cell["value"], 2), "interval": interval, "n": cell["n"], "few": few}


def _week(monday: str) -> dict[str, str]:
    day = date.fromisoformat(monday)
    return {"day": date_format(day, pgettext("format of a day without its year", "j M")), "year": f"{day.year}"}
