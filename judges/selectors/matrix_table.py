"""The matrix of kappas as its table shows it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.text_tables import UNDEFINED, figure
from judges.selectors.said import said
from judges.selectors.shown import from_to

# A kappa on fewer common units says little: the same number that a pair needs to count in the means.
FEW_UNITS = 10
# Upper ends of the shades of a matrix cell.
_SHADES = (0.0, 0.2, 0.4, 0.6, 0.8)


def matrix_context(matrix: dict[str, Any]) -> dict[str, Any]:
    """The `matrix` of `judges/matrix.html`."""
    rows = [
        {**rater, "cells": [None if i == j else _cell(cell) for j, cell in enumerate(cells)]}
        for i, (rater, cells) in enumerate(zip(matrix["raters"], matrix["cells"], strict=True))
    ]
    few = any(cell and cell["few"] for row in rows for cell in row["cells"])
    return {**matrix, "rows": rows, "has_few": few, "few_units": FEW_UNITS}


def people_only(matrix: dict[str, Any]) -> dict[str, Any]:
    """The same cells, of people with each other."""
    places = [place for place, rater in enumerate(matrix["raters"]) if rater["kind"] == "person"]
    return {
        **matrix,
        "raters": [matrix["raters"][place] for place in places],
        "cells": [[matrix["cells"][i][j] for j in places] for i in places],
    }


def _cell(cell: dict[str, Any] | None) -> dict[str, Any]:
    if cell is None:
        return {"text": "", "shade": "none", "title": _("no common units"), "n": "", "few": False}
    n, few = cell["n"], cell["n"] < FEW_UNITS
    common = ngettext("%(n)s common unit", "%(n)s common units", n) % {"n": n}
    if cell["kappa"] is None:
        title = _("%(why)s; %(common)s") % {"why": said(cell["reason"]), "common": common}
        return {"text": UNDEFINED, "shade": "none", "title": title, "n": n, "few": few}
    title = common
    if cell["low"] is not None:
        interval = from_to(figure(cell["low"], 2), figure(cell["high"], 2))
        title = _("%(interval)s, %(common)s") % {"interval": interval, "common": common}
    shade = "few" if few else sum(cell["kappa"] > end for end in _SHADES)
    return {"text": figure(cell["kappa"], 2), "shade": shade, "title": title, "n": n, "few": few}
