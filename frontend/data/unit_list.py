"""The list of units: each on each criterion that asks about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_lazy

from annotate.core.units import unit_anchor, unit_number, unit_title
from annotate.models.view import ViewOf
from annotate.verdicts.wanted_units_read import ListedUnit, UnitOn, UnitStatus
from frontend.base.pages import ProjectPage, project_view, word
from frontend.batches.chosen_samples import UNIT, ticked_unit
from frontend.batches.unit_filter import UnitFilter
from frontend.data.lists import Column, ListPage, show_list, view_named
from judges.core.scores_read import JudgeSaid, judges_on_units


def _more(page: ProjectPage, is_all: bool, rows: Iterable[Any]) -> Mapping[str, Any]:
    units = [_named(row) for row in rows]
    judges = judges_on_units(page.project, units, reader=page.user) if units else {}
    asked = page.request.GET.get("judge", "").partition(":")[2]
    return {"units": [_row(page, row, judges[unit], asked) for row, unit in zip(rows, units, strict=True)]}


def _named(row: ListedUnit) -> UnitOn:
    return row.sample.pk, row.unit, row.criterion.key


def _row(page: ProjectPage, row: ListedUnit, judges: list[JudgeSaid], asked: str) -> dict[str, Any]:
    """url: where the unit is decided, or else what was said about it. judge: what the one that the filter asks for
    says; judges: what the others say."""
    verdict, options = row.verdict, row.criterion.options
    said = {one.judge: one.failed or word(options, one.value) for one in judges}
    is_open = verdict is not None and row.status != UnitStatus.RESOLVED
    return {
        "unit": row,
        "tick": ticked_unit(*_named(row)),
        "title": unit_title(row.unit, unit_number(row.sample, row.unit)),
        "url": page.url("dispute", verdict.pk)
        if verdict is not None and is_open
        else f"{page.url('sample', row.sample.pk)}#{unit_anchor(row.unit)}",
        "value": "" if verdict is None or verdict.value is None else word(options, verdict.value),
        "votes": [(word(options, value), n) for value, n in row.votes],
        "judge": (asked, said.pop(asked)) if asked in said else None,
        "judges": list(said.items()),
    }


UNITS = ListPage(
    ViewOf.UNITS,
    UNIT,
    UnitFilter,
    (
        Column("id", gettext_lazy("Sample")),
        Column("", gettext_lazy("Unit")),
        Column("", gettext_lazy("Status")),
        Column("", gettext_lazy("Value or votes")),
        Column("agreement", gettext_lazy("Agreement"), is_number=True),
        Column("", gettext_lazy("Judges")),
        Column("changed", gettext_lazy("Last change"), greatest_first=True),
    ),
    "data/units.html",
    _more,
)


@project_view("units", get="samples.read")
def units(page: ProjectPage) -> HttpResponse:
    form = UnitFilter(page.project, page.request.GET, reader=page.user)
    return show_list(page, UNITS, form, view_named(page, UNITS.of))
