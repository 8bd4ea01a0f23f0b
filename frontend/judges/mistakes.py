"""What a judge gets wrong on a criterion, in words: what to do first, then every group, then where it errs most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Refusal
from annotate.core.text_tables import figure
from annotate.core.units import unit_anchor, unit_title
from annotate.models import Criterion
from frontend.base.pages import ProjectPage, project_view, word
from frontend.judges.aligning import can_be_aligned
from frontend.reports.asked import asked_criterion
from frontend.reports.in_words import in_words
from frontend.reports.parts import judge_url, mistakes_url
from frontend.reports.shown import percent, shown
from judges.core.scores_read import current_version
from judges.models import JudgeKind
from judges.reports.mistaken_units import units_in_words
from judges.reports.mistakes_kept import Series, mistakes_of, request_mistakes, series_of
from judges.versions.read import one_judge

EXAMPLES = 3
PAGE_SIZE = 20
ADVICE = {
    "teach_judge": gettext_lazy("Teach the judge"),
    "clarify_guideline": gettext_lazy("Clarify the guideline"),
    "relabel": gettext_lazy("Check the labels"),
}


@dataclass(frozen=True, slots=True)
class Group:
    """number: by which the address names it, from 1. way: the direction that it is of."""

    number: int
    row: Mapping[str, Any]
    way: Mapping[str, Any]


@project_view("judges", get="reports.read", post="reports.freeze")
def mistakes(page: ProjectPage, judge_id: int, key: str) -> HttpResponse:
    """What is kept of it (`?measures=` names the judge's dimension); `?group=2` has the units of one group. A POST asks
    the worker for it."""
    criterion, judge = asked_criterion(page.project, key), one_judge(page.project, judge_id)
    series = series_of(criterion, judge, page.request.GET.get("measures"))
    if page.request.method == "POST":
        try:
            request_mistakes(series, user=page.user)
        except Refusal as refusal:
            messages.error(page.request, refusal.message)
        return HttpResponseRedirect(page.request.get_full_path())
    looks = not page.comes_later(page.project.samples.order_by("pk"))
    state = mistakes_of(series, reader=page.user, looks=looks)
    context: dict[str, Any] = {
        "criterion": criterion,
        "judge": judge,
        "state": state,
        "here": _url(page, series),
        "report_url": judge_url(page, key, judge.name, series.dimension),
        "may_ask": page.may("reports.freeze"),
    }
    if state.found is not None:
        context |= _found(page, series, state.found)
    return page.render("judges/mistakes.html", context)


def _url(page: ProjectPage, series: Series, **more: Any) -> str:
    return mistakes_url(page, series.criterion.key, series.judge.pk, series.dimension, **more)


def _found(page: ProjectPage, series: Series, found: Mapping[str, Any]) -> dict[str, Any]:
    groups = _groups(found)
    asked = page.request.GET.get("group")
    chosen = groups[0] if groups else None
    if asked is not None:
        chosen = next((one for one in groups if str(one.number) == asked), None)
        if chosen is None:
            raise Http404(_("Group not found. It may have changed since."))
    context: dict[str, Any] = {
        "found": found,
        "reason": in_words(found["reason"]),
        "kappa": None if found["kappa"] is None else shown(found["kappa"]),
        "share": percent(found["wrong"] / found["units"]) if found["units"] else "",
        "groups": [_row(page, series, one, found) for one in groups],
        "worded": sum(bool(one.row["terms"]) for one in groups),
        "slices": [_slice(row) for row in found["slices"]],
    }
    if chosen is None:
        return context
    listed = chosen.row["listed"]
    rows = None if asked is None else page.rows(listed, PAGE_SIZE)
    named = _of_different_samples(listed) if rows is None else list(rows)
    units = units_in_words(series, found, named, reader=page.user)
    return {
        **context,
        "group": {**_row(page, series, chosen, found), **_advice(page, series, chosen, is_first=rows is None)},
        "units": [_unit(page, one) for one in units],
        "rows": rows,
        "query": f"{urlencode({'measures': series.dimension, 'group': chosen.number})}&",
    }


def _groups(found: Mapping[str, Any]) -> list[Group]:
    """Those with words first, the largest of them first; then what is left of each direction."""
    every = [(row, way) for way in found["directions"] for row in (*way["groups"], way["rest"]) if row["units"]]
    every.sort(key=lambda one: (not one[0]["terms"], -one[0]["units"]))
    return [Group(number, row, way) for number, (row, way) in enumerate(every, start=1)]


def _of_different_samples(listed: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    first: dict[str, Mapping[str, str]] = {}
    for one in listed:
        first.setdefault(one["sample"], one)
    return list(first.values())[:EXAMPLES]


def _row(page: ProjectPage, series: Series, group: Group, found: Mapping[str, Any]) -> dict[str, Any]:
    row = group.row
    return {
        **row,
        "number": group.number,
        "url": _url(page, series, group=group.number),
        "direction": _direction(series.criterion, group.way),
        "kappa_without": shown(row["kappa_without"]),
        "title": ADVICE[row["advice"]],
        "share": percent(row["units"] / found["wrong"]),
    }


def _direction(criterion: Criterion, way: Mapping[str, Any]) -> str:
    said = way["people"], way["judge"]
    if said == (False, True):
        return _("It passes what annotators fail.")
    if said == (True, False):
        return _("It fails what annotators pass.")
    people, judge = (word(criterion.options, value) for value in said)
    return _("It says “%(judge)s” where annotators say “%(people)s”.") % {"judge": judge, "people": people}


def _advice(page: ProjectPage, series: Series, group: Group, *, is_first: bool) -> dict[str, Any]:
    """Why this is what to do, and what the reader can press: what comes first, first."""
    row = group.row
    units = (_("See all its units"), f"{_url(page, series, group=group.number)}#units")
    if row["advice"] == "relabel":
        why = _(
            "On %(alone)s of %(units)s units, one person’s label stands alone against several annotators or judges who "
            "agree with this judge. Check these labels first."
        )
        why, actions = why % {"alone": row["alone"], "units": row["units"]}, []
    elif row["advice"] == "clarify_guideline":
        why = _(
            "On %(split)s of the %(several)s units with several labels, annotators disagree with each other. No prompt "
            "can teach that: first say in the guidelines what counts."
        )
        why %= {"split": row["split"], "several": row["several"]}
        actions = [(_("Open guidelines"), page.url("guidelines"))]
    elif not row["is_known"]:
        why = _("Too few of these units have a second opinion to tell whether annotators agree. Read them first.")
        actions = []
    else:
        why, actions = _teaching(page, series)
    return {"why": why, "actions": [*actions, *([units] if is_first else [])]}


def _teaching(page: ProjectPage, series: Series) -> tuple[str, list[tuple[str, str]]]:
    judge = series.judge
    why = _("Annotators agree with each other on these units, so a judge can learn them.")
    if judge.kind == JudgeKind.IMPORTED:
        return f"{why} {_('Its scores were imported: change it where it runs, then import new scores.')}", []
    if can_be_aligned(judge, current_version(judge)) and page.may("judges.run"):
        return why, [(_("Align this judge"), page.url("alignments", judge.pk))]
    if page.may("judges.change"):
        return why, [(_("Edit this judge"), page.url("judge-edit", judge.pk))]
    return f"{why} {_('An admin can change it.')}", []


def _unit(page: ProjectPage, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "url": f"{page.url('sample', row['sample'])}#{unit_anchor(row['unit'])}" if row["sample"] else "",
        "title": unit_title(row["unit"], row["unit_number"]),
        "verdict_url": page.url("dispute", row["verdict"]) if row["verdict"] and page.may("adjudication.read") else "",
    }


def _slice(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "here": percent(row["wrong"] / row["units"]),
        "there": percent(row["wrong_elsewhere"] / row["elsewhere"]),
        "p": figure(row["p_adjusted"], 3),
    }
