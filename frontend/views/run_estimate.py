"""What a form, as far as it is filled in, would have a model asked."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpResponse

from annotate.core.errors import Refusal
from frontend.forms.budget import BudgetForm
from frontend.views.base import ProjectPage
from frontend.views.run_words import duration
from judges.selectors.shown import money
from judges.services.runs import RunEstimate


def estimate_page(
    page: ProjectPage,
    form: BudgetForm,
    estimated: Callable[[], RunEstimate],
    *,
    asks_model: bool = True,
    brings_scores: bool = False,
) -> HttpResponse:
    """estimated: called once the form is valid. Stores nothing; the form shows what is wrong itself."""
    found, problem, budget = None, "", None
    if form.is_valid():
        budget = form.cleaned_data.get("budget")
        try:
            found = estimated()
        except Refusal as refusal:
            problem = refusal.message
    context = {
        "estimate": found,
        "problem": problem,
        "asks_model": asks_model,
        "brings_scores": brings_scores,
        "time": duration(found.seconds) if found else "",
        "cost": money(found.cost, found.currency) if found else "",
        "over_budget": bool(found and budget is not None and found.cost is not None and found.cost > budget),
    }
    return page.render("frontend/partials/run_estimate.html", context)
