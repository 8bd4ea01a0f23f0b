"""How the labelled samples of a criterion came: which are in guarantees, which are not, and an admin's word on those
that were labelled elsewhere."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.batches.declared_draws import declare_draw
from annotate.batches.draws_read import declared_draw, elsewhere, how_labelled
from annotate.models.batch import HowDeclared
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.reports.asked import asked_criterion
from frontend.reports.in_words import drawn_by_in_words


class DeclareForm(forms.Form):
    """What an admin knows of labels made elsewhere."""

    how = forms.ChoiceField(
        label=gettext_lazy("How the samples labelled elsewhere were chosen"),
        choices=HowDeclared.choices,
        widget=forms.RadioSelect,
    )
    population = forms.IntegerField(
        label=gettext_lazy("At random: of how many samples"), min_value=1, max_value=2**31 - 1, required=False
    )
    column = forms.CharField(label=gettext_lazy("In the metadata: under which key"), required=False)


@project_view("reports", get="reports.read", post="project.change")
def labels(page: ProjectPage, key: str) -> HttpResponse:
    """GET shows; POST stores an admin's word in place of the one before."""
    criterion = asked_criterion(page.project, key)
    declared = declared_draw(criterion)
    said: dict[str, Any] = {"how": HowDeclared.UNKNOWN}
    if declared is not None:
        said = {"how": declared.how, "population": declared.population, "column": declared.column}
    form = DeclareForm(page.data, initial=said)
    if form.is_valid():
        with RefusalsShown(form):
            declare_draw(criterion=criterion, actor=page.user, **form.cleaned_data)
            messages.success(page.request, _("Saved. Reports, looks and certificates name who said so."))
            return page.redirect("report-labels", key)
    later = page.comes_later(page.project.samples.order_by("pk"))
    found = None if later else how_labelled(criterion)
    return page.render(
        "reports/how_labelled.html",
        {
            "criterion": criterion,
            "later": later,
            "found": found,
            "rows": [drawn_by_in_words(row._asdict()) for row in found.by] if found else [],
            "form": form if page.may("project.change") and elsewhere(criterion).exists() else None,
        },
        status=status_of(form),
    )
