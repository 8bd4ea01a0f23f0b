"""Known answers, which measure annotators: what there is, drawn from verdicts, taken back. For admins only."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.batches.gold import gold_from_verdicts, remove_gold
from annotate.core.errors import Refusal
from annotate.core.units import unit_text, unit_title
from annotate.labels.gold_read import known_answers, to_set_again
from annotate.models import GoldAnswer
from frontend.forms.gold import DrawGoldForm
from frontend.views.base import ProjectPage, project_view, refuse, status_of

PAGE_SIZE = 50


@project_view("batches", get="gold.read", post="gold.change")
def known(page: ProjectPage) -> HttpResponse:
    """The list; a POST draws more from verdicts."""
    form = DrawGoldForm(page.project, page.data)
    status = status_of(form)
    if form.is_valid():
        try:
            drawn = gold_from_verdicts(actor=page.user, project=page.project, **form.cleaned_data)
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            said = ngettext("%(n)d known answer was drawn.", "%(n)d known answers were drawn.", len(drawn))
            messages.success(page.request, said % {"n": len(drawn)})
            return page.redirect("gold")
    rows = Paginator(known_answers(page.project), PAGE_SIZE).get_page(page.request.GET.get("page"))
    again = to_set_again(page.project)
    context = {
        "form": form,
        "rows": rows,
        "listed": [_row(answer) for answer in rows],
        "again": [_row(answer) for answer in again[:PAGE_SIZE]],
        "again_count": again.count(),
    }
    return page.render("frontend/gold.html", context, status=status)


def _row(answer: GoldAnswer) -> dict[str, Any]:
    return {
        "answer": answer,
        "title": unit_title(answer.unit),
        "text": unit_text(answer.sample, answer.unit),
        "value": _label(answer),
    }


@project_view("batches", post="gold.change")
def remove(page: ProjectPage, gold_id: int) -> HttpResponse:
    done = _("The known answer is removed; nobody is measured by it from now on.")
    page.attempt(lambda: remove_gold(actor=page.user, project=page.project, gold_id=gold_id), done)
    return page.redirect("gold")


def _label(answer: GoldAnswer) -> str:
    """The option's name, as annotators read it."""
    for option in answer.criterion.options:
        if option["value"] == answer.value:
            return str(option.get("label") or option["value"])
    return str(answer.value)
