"""Known answers, which measure annotators: what there is, drawn from verdicts, taken back. For admins only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate.batches.gold import gold_from_verdicts, remove_gold
from annotate.batches.sample_choice import MAX_SEED
from annotate.core.units import unit_text, unit_title
from annotate.labels.gold_read import known_answers, to_set_again
from annotate.models import Criterion, GoldAnswer, Project
from annotate.projects.read import rated_criteria
from frontend.base.pages import PAGE_SIZE, ProjectPage, RefusalsShown, project_view, status_of


class DrawGoldForm(forms.Form):
    criterion = forms.ModelChoiceField(
        label=gettext_lazy("Criterion"), queryset=Criterion.objects.none(), empty_label=None
    )
    n = forms.IntegerField(label=gettext_lazy("Number to draw"), min_value=1)
    seed = forms.IntegerField(
        label=gettext_lazy("Random seed"),
        min_value=0,
        max_value=MAX_SEED,
        required=False,
        help_text=gettext_lazy("The same seed draws the same units. Leave empty to generate one."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["criterion"]
        field.queryset = rated_criteria(project)  # type: ignore[attr-defined]
        field.label_from_instance = lambda criterion: criterion.name  # type: ignore[attr-defined]


@project_view("batches", get="gold.read", post="gold.change")
def known(page: ProjectPage) -> HttpResponse:
    """The list; a POST draws more from verdicts."""
    form = DrawGoldForm(page.project, page.data)
    if form.is_valid():
        with RefusalsShown(form):
            drawn = gold_from_verdicts(actor=page.user, project=page.project, **form.cleaned_data)
            said = ngettext("%(n)d known answer drawn.", "%(n)d known answers drawn.", len(drawn))
            messages.success(page.request, said % {"n": len(drawn)})
            return page.redirect("gold")
    rows = page.rows(known_answers(page.project, reader=page.user))
    again = to_set_again(page.project, reader=page.user)
    context = {
        "form": form,
        "rows": rows,
        "listed": [_row(answer) for answer in rows],
        "again": [_row(answer) for answer in again[:PAGE_SIZE]],
        "again_count": again.count(),
    }
    return page.render("batches/gold.html", context, status=status_of(form))


def _row(answer: GoldAnswer) -> dict[str, Any]:
    return {
        "answer": answer,
        "title": unit_title(answer.unit),
        "text": unit_text(answer.sample, answer.unit),
        "value": _label(answer),
    }


@project_view("batches", post="gold.change")
def remove(page: ProjectPage, gold_id: int) -> HttpResponse:
    done = _("Known answer removed. It is no longer used for checks.")
    page.attempt(lambda: remove_gold(actor=page.user, project=page.project, gold_id=gold_id), done)
    return page.redirect("gold")


def _label(answer: GoldAnswer) -> str:
    """The option's name, as annotators read it."""
    for option in answer.criterion.options:
        if option["value"] == answer.value:
            return str(option.get("label") or option["value"])
    return str(answer.value)
