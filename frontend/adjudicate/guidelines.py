"""The guidelines change because of a dispute: the form beside the unit and its labels. The version remembers the
dispute, and the dispute the version."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect

from annotate.core.units import unit_number, unit_text, unit_title
from annotate.projects.guidelines import MAX_NOTE
from frontend.adjudicate.dispute import found_or_blind
from frontend.adjudicate.disputes import narrowing
from frontend.base.pages import ProjectPage, project_view, sees_names, status_of, word
from frontend.projects.guidelines import Editing


@project_view("adjudicate", get="guidelines.change", post="guidelines.change")
def change(page: ProjectPage, verdict_id: int) -> HttpResponse:
    found = found_or_blind(page, verdict_id)
    if isinstance(found, HttpResponse):
        return found
    verdict = found.verdict
    sample, criterion = verdict.sample, verdict.criterion
    title = unit_title(verdict.unit, unit_number(sample, verdict.unit))
    back = page.url("dispute", verdict.pk) + narrowing(page).query
    # Annotators who still have to label the sample read the note: it must not say which unit others differ on.
    name = criterion.name
    editing = Editing(page, dispute=verdict, note=f"{name}: " if len(name) < MAX_NOTE - 2 else "")
    if editing.save():
        messages.success(page.request, editing.said())
        return HttpResponseRedirect(back)
    context = {
        **editing.context(),
        "back": back,
        "verdict": verdict,
        "sample": sample,
        "criterion": criterion,
        "unit_title": title,
        "unit_text": unit_text(sample, verdict.unit),
        "labels": [(one, word(criterion.options, one.value)) for one in found.labels],
        "named": sees_names(page),
    }
    return page.render("adjudicate/dispute_guidelines.html", context, status=status_of(editing.form))
