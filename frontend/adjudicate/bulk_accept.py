"""Settling many disputed units at once: look at what would be settled, then accept it with a reason."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.errors import Invalid, Refusal
from annotate.core.units import unit_number, unit_text, unit_title
from annotate.models import Criterion, Verdict
from annotate.projects.read import current_criteria
from annotate.verdicts.adjudication import Accepted, accept_agreed, accept_probable
from annotate.verdicts.proposals_read import Preview, agreed, probable
from annotate.verdicts.read import Queue
from frontend.adjudicate.forms import AgreedForm, ProbableForm
from frontend.base.pages import ProjectPage, project_view, refuse, sees_names, word

# Of those that would be settled, so many are shown one by one.
SHOWN = 100


@project_view("adjudicate", get="adjudication.read", post="adjudication.decide")
def accept(page: ProjectPage) -> HttpResponse:
    """Two forms, one for each method. A GET with the fields of one shows what would be settled; a POST settles what was
    shown."""
    asked = page.data if page.data is not None else page.request.GET
    method = asked.get("method", "")
    forms: dict[str, AgreedForm | ProbableForm] = {
        name: form(page.project, asked) if name == method else form(page.project, initial=asked.dict())
        for name, form in (("agreement", AgreedForm), ("dawid_skene", ProbableForm))
    }
    form = forms.get(method)
    preview, status = None, 200
    reason = page.request.POST.get("reason", "").strip()
    if form is None or not form.is_valid():
        status = 422 if form is not None or page.data is not None else 200
    else:
        try:
            if page.data is not None:
                return _done(page, _accept(page, method, form.cleaned_data, reason))
        except Refusal as refusal:
            status = refuse(form, refusal)
        try:
            preview = _preview(page, method, form.cleaned_data)
        except Refusal as refusal:
            # The same refusal twice is one.
            if not form.errors:
                status = refuse(form, refusal)
    context = {
        "agreed": forms["agreement"],
        "probable": forms["dawid_skene"],
        "method": method,
        "form": form,
        "preview": preview,
        "reason": reason,
        **(_shown(page, preview) if preview else {}),
    }
    return page.render("adjudicate/accept.html", context, status=status)


def _criterion(page: ProjectPage, given: dict[str, Any]) -> Criterion:
    return current_criteria(page.project).get(key=given["criterion"])


def _preview(page: ProjectPage, method: str, given: dict[str, Any]) -> Preview:
    queue = Queue(page.project, reader=page.user, criterion=given["criterion"])
    if method == "dawid_skene":
        return probable(queue, _criterion(page, given), posterior=given["posterior"] / 100)
    return agreed(queue, agreement=given["agreement"] / 100, votes=given["votes"])


def _accept(page: ProjectPage, method: str, given: dict[str, Any], reason: str) -> Accepted:
    common: dict[str, Any] = {"project": page.project, "seen": _seen(page), "reason": reason}
    if method == "dawid_skene":
        return accept_probable(
            criterion=_criterion(page, given), posterior=given["posterior"] / 100, reviewer=page.user, **common
        )
    return accept_agreed(agreement=given["agreement"] / 100, votes=given["votes"], reviewer=page.user, **common)


def _seen(page: ProjectPage) -> Any:
    try:
        return json.loads(page.request.POST.get("seen", ""))
    except ValueError:
        raise Invalid("bad_seen", _("There is nothing to settle in this preview; look again.")) from None


def _done(page: ProjectPage, done: Accepted) -> HttpResponse:
    text = ngettext("%(n)d unit settled.", "%(n)d units settled.", done.settled) % {"n": done.settled}
    if done.left:
        left = ngettext(
            "%(n)d had changed since you looked, and was left as it is.",
            "%(n)d had changed since you looked, and were left as they are.",
            done.left,
        )
        text += " " + left % {"n": done.left}
    (messages.success if done.settled else messages.warning)(page.request, text)
    return page.redirect("adjudicate")


def _shown(page: ProjectPage, preview: Preview) -> dict[str, Any]:
    first = preview.proposals[:SHOWN]
    verdicts = Verdict.objects.select_related("criterion", "sample").in_bulk([one.id for one in first])
    listed = [
        {
            "verdict": verdicts[one.id],
            "title": unit_title(verdicts[one.id].unit, unit_number(verdicts[one.id].sample, verdicts[one.id].unit)),
            "text": unit_text(verdicts[one.id].sample, verdicts[one.id].unit),
            "votes": [word(verdicts[one.id].criterion.options, vote["value"]) for vote in verdicts[one.id].votes],
            "word": word(verdicts[one.id].criterion.options, one.value),
            "percent": 100 * one.confidence,
        }
        for one in first
        if one.id in verdicts
    ]
    named = sees_names(page)
    raters = (
        [
            {
                "who": rater.rater if named else _("Annotator %(letter)s") % {"letter": place},
                "labels": rater.labels,
                "percent": 100 * rater.right,
            }
            for place, rater in enumerate(preview.model.raters, start=1)
        ]
        if preview.model
        else []
    )
    return {
        "listed": listed,
        "raters": raters,
        "n": len(preview.proposals),
        "hidden": len(preview.proposals) - len(listed),
        "seen": json.dumps([[one.id, one.revision, one.value] for one in preview.proposals]),
    }
