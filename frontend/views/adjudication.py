"""A reviewer settles disagreements: the queue, and one unit with its labels side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from annotate.errors import Refusal, Stale
from annotate.models import Verdict
from annotate.selectors.adjudication import one_verdict, queue, side_by_side
from annotate.services.adjudication import decide
from annotate.units import unit_number, unit_text, unit_title
from frontend.forms.adjudication import DecisionForm
from frontend.views import samples_read
from frontend.views.answers import answer_pieces
from frontend.views.base import ProjectPage, project_view, refuse, status_of

PAGE_SIZE = 50


@project_view("adjudicate", get="adjudication.read")
def disputes(page: ProjectPage) -> HttpResponse:
    """The queue, with how many wait per criterion."""
    key = _criterion(page)
    groups = (
        queue(page.project)
        .order_by("criterion__position", "criterion__key")
        .values("criterion__key", "criterion__name")
        .annotate(n=Count("id"))
    )
    rows = Paginator(queue(page.project, key), PAGE_SIZE).get_page(page.request.GET.get("page"))
    listed = [
        {
            "verdict": row,
            "title": unit_title(row.unit, unit_number(row.sample, row.unit)),
            "text": unit_text(row.sample, row.unit),
        }
        for row in rows
    ]
    context = {"groups": list(groups), "criterion": key, "rows": rows, "listed": listed, "query": _query(key)}
    return page.render("frontend/disputes.html", context)


@project_view("adjudicate", get="adjudication.read", post="adjudication.decide")
def dispute(page: ProjectPage, verdict_id: int) -> HttpResponse:
    verdict = one_verdict(page.project, verdict_id)
    around = _around(page, verdict)
    form = DecisionForm(
        verdict.criterion,
        page.data,
        initial={"revision": verdict.revision, "value": verdict.value, "reason": verdict.reason},
    )
    status, stale = status_of(form), None
    if form.is_valid():
        given = form.cleaned_data
        try:
            decide(
                reviewer=page.user,
                project=page.project,
                verdict_id=verdict.pk,
                value=given["value"],
                reason=given["reason"],
                expected_revision=given["revision"],
            )
        except Stale as refusal:
            status, stale = refuse(form, refusal), refusal.details
            form = _seen(form, verdict)
        except Refusal as refusal:
            status = refuse(form, refusal, "value" if refusal.code == "not_an_option" else None)
        else:
            return _onwards(page, around)
    return page.render("frontend/dispute.html", _unit(verdict, form, around, stale), status=status)


@dataclass(frozen=True)
class Around:
    """Where a unit stands in the queue. `others`: how many more wait in it."""

    others: int
    previous: str
    next: str
    query: str


def _around(page: ProjectPage, verdict: Verdict) -> Around:
    key = _criterion(page)
    ids = list(queue(page.project, key).values_list("pk", flat=True))
    at = ids.index(verdict.pk) if verdict.pk in ids else None
    # The queue goes round, so that skipped units come again.
    before, after = (ids[at - 1], ids[(at + 1) % len(ids)]) if at is not None else (None, ids[0] if ids else None)
    query = _query(key)

    def link(pk: int | None) -> str:
        return page.url("dispute", pk) + query if pk is not None and pk != verdict.pk else ""

    return Around(len(set(ids) - {verdict.pk}), link(before), link(after), query)


def _unit(verdict: Verdict, form: DecisionForm, around: Around, stale: dict[str, Any] | None) -> dict[str, Any]:
    sample, criterion = verdict.sample, verdict.criterion
    units = samples_read.units(sample, with_said=False)
    chosen = form["value"].value()
    return {
        "verdict": verdict,
        "criterion": criterion,
        "sample": sample,
        "unit_title": unit_title(verdict.unit, unit_number(sample, verdict.unit)),
        "unit_text": unit_text(sample, verdict.unit),
        "pieces": answer_pieces(sample.answer, sample.claims, units["claim"], len(sample.contexts)),
        "contexts": units["context"],
        "labels": _with_words(side_by_side(verdict), criterion.options),
        "options": [{**o, "chosen": str(o["value"]) == str(chosen)} for o in criterion.options],
        "form": form,
        "around": around,
        "stale": stale,
    }


def _with_words(labels: list[dict[str, Any]], options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The labels with the words of the option beside its value."""
    words = {str(option["value"]): option["label"] for option in options}
    return [{**label, "shown": words.get(str(label["value"]), label["value"])} for label in labels]


def _seen(form: DecisionForm, verdict: Verdict) -> DecisionForm:
    """The same decision, to be sent again by somebody who has now seen the new state."""
    data = {**form.data, "revision": str(verdict.revision)}
    again = DecisionForm(verdict.criterion, data)
    again.full_clean()
    return again


def _onwards(page: ProjectPage, around: Around) -> HttpResponse:
    if around.next:
        messages.success(page.request, _("Decided. %(n)d left.") % {"n": around.others})
        return HttpResponseRedirect(around.next)
    messages.success(page.request, _("Decided. That was the last one."))
    return HttpResponseRedirect(page.url("adjudicate") + around.query)


def _criterion(page: ProjectPage) -> str | None:
    """The criterion that the queue is narrowed to; an unknown one is ignored."""
    key = page.request.GET.get("criterion", "").replace("\x00", "")
    return key if page.project.criteria.filter(key=key).exists() else None


def _query(key: str | None) -> str:
    return "?" + urlencode({"criterion": key}) if key else ""
