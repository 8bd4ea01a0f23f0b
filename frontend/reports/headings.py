"""What each folded section of a report says in its heading, so that one knows the result without opening it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.text_tables import figure
from frontend.reports.annotators import FEW_UNITS
from frontend.reports.first_screen import FirstScreen, in_a_line
from frontend.reports.shown import Shown, shown, shown_share

_UNKNOWN = ""


def headings(result: Mapping[str, Any], screen: FirstScreen) -> dict[str, str]:
    """By section; "" where there is no result to name."""
    return {
        "rests": _rests(result["reference"]),
        "judges": _of_judges(screen),
        "people": in_a_line(screen.between),
        "matrix": _lowest(result["matrix"]),
        "passing": _passing(result["passing"]),
        "per_sample": _per_sample(result["per_sample"]),
        "drawn": _drawn(result["drawn"]),
    }


def _rests(reference: Mapping[str, Any]) -> str:
    n, left_out = reference["units"], sum(reference["unsettled"].values())
    if not reference["settled_only"]:
        return ngettext("%(n)s unit, resolved or not", "%(n)s units, resolved or not", n) % {"n": f"{n:,}"}
    if not left_out:
        return ngettext("%(n)s resolved unit", "%(n)s resolved units", n) % {"n": f"{n:,}"}
    return ngettext(
        "%(n)s resolved unit; %(left_out)s unresolved left out",
        "%(n)s resolved units; %(left_out)s unresolved left out",
        n,
    ) % {"n": f"{n:,}", "left_out": f"{left_out:,}"}


def _of_judges(screen: FirstScreen) -> str:
    """How well the best judge's scores sort units, whatever the threshold; of one without scores nothing."""
    if screen.best is None:
        return _UNKNOWN
    auc = screen.best.row["roc_auc"]
    if auc["value"] is None:
        return _UNKNOWN
    # The other figures of a judge that was evaluated are on test.
    said = (
        _("ROC AUC of %(judge)s: %(auc)s") if screen.best.ruling is None else _("ROC AUC of %(judge)s on dev: %(auc)s")
    )
    return said % {"judge": screen.best.title, "auc": _with_interval(shown(auc))}


def _lowest(matrix: Mapping[str, Any]) -> str:
    """The two annotators who agree least, of those with enough units in common."""
    raters = matrix["raters"]
    people = [place for place, rater in enumerate(raters) if rater["kind"] == "person"]
    pairs = [(i, j, matrix["cells"][i][j]) for i in people for j in people if i < j]
    known = [
        (cell["kappa"], raters[i]["name"], raters[j]["name"])
        for i, j, cell in pairs
        if cell is not None and cell["kappa"] is not None and cell["n"] >= FEW_UNITS
    ]
    # Of one pair the figure stands before.
    if len(known) < 2:
        return _UNKNOWN
    kappa, first, second = min(known)
    return _("least: %(first)s and %(second)s, %(kappa)s") % {
        "first": first, "second": second, "kappa": figure(kappa, 2)
    }  # fmt: skip


def _passing(passing: Mapping[str, Any]) -> str:
    found = passing["all"] or passing["labelled"]
    return _UNKNOWN if passing["reason"] is not None or found is None else _with_interval(shown_share(found["these"]))


def _per_sample(found: Mapping[str, Any] | None) -> str:
    metric = None if found is None else next((one for one in found["metrics"] if one["reason"] is None), None)
    if metric is None:
        return _UNKNOWN
    return _("by annotators %(mean)s") % {"mean": _with_interval(shown(metric["people"]))}


def _drawn(drawn: Mapping[str, Any] | None) -> str:
    if drawn is None or not drawn["judges"]:
        return _UNKNOWN
    best = max(drawn["judges"], key=lambda one: one["kappa"]["weighted"]["value"] or -1.0)
    weighted = best["kappa"]["weighted"]
    if weighted["value"] is None:
        return _UNKNOWN
    return _("weighted kappa of %(judge)s on dev: %(kappa)s") % {
        "judge": best["title"], "kappa": _with_interval(shown(weighted))
    }  # fmt: skip


def _with_interval(found: Shown) -> str:
    """As `0.76 (0.71 to 0.81)`."""
    if not found.interval:
        return found.text
    return _("%(value)s (%(note)s)") % {"value": found.text, "note": found.interval}
