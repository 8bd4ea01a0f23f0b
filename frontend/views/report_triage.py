"""Which decisions one judge of a report may take alone, and a batch of the samples that are left to people."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from annotate.batches.write import create_batch
from annotate.core.errors import Refusal
from annotate.models import Batch, Criterion
from annotate.projects.read import one_criterion
from frontend.forms.batches import WhoLabelsForm
from frontend.views.base import ProjectPage, project_view, refuse, status_of
from frontend.views.report_parts import chosen_judge, judge_url, links, report_part, switcher
from judges.models import AlignmentReport, Look
from judges.selectors.report_page import frame_context
from judges.selectors.reports import report_state
from judges.selectors.triage import Left, latest_look, left_to_people
from judges.selectors.triage_page import triage_context


@project_view("reports", get="reports.read", post="batches.change")
def triage(page: ProjectPage, key: str) -> HttpResponse:
    """Of the latest report the judge that the address names (`?judge=…&measures=…`). A POST makes a draft batch of
    what is left to people."""
    form = WhoLabelsForm(page.project, page.data, initial={"name": _("What the judge leaves to people")})
    status = status_of(form)
    if page.data is not None:
        criterion = one_criterion(page.project, key)
        found = _left(page, criterion)
        if found is None:
            messages.error(page.request, _("There is no certified region, so there is no rest to make a batch of."))
            return HttpResponseRedirect(page.request.get_full_path())
        if form.is_valid():
            try:
                batch = _make(page, criterion, form, *found)
            except Refusal as refusal:
                status = refuse(form, refusal)
            else:
                said = _("Batch %(n)d is a draft. Open it to make the tasks.")
                messages.success(page.request, said % {"n": batch.number})
                return page.redirect("batch", batch.number)

    def context(report: AlignmentReport) -> dict[str, Any]:
        place, to = chosen_judge(page, report), links(page, key)
        shown = None if place is None else triage_context(report, place, to)
        return {
            **frame_context(report),
            "triage": shown,
            "switcher": switcher(page, key, "report-triage", report, place),
            "outcomes_url": None if place is None else _outcomes_url(page, key, report.result["judges"][place]),
            "form": form if page.may("batches.change") else None,
        }

    return report_part(page, key, "report-triage", "frontend/report_triage.html", context, status=status)


def _outcomes_url(page: ProjectPage, key: str, judge: dict[str, Any]) -> str:
    return judge_url(page, key, judge["judge"], judge["dimension"], "report-outcomes")


def _left(page: ProjectPage, criterion: Criterion) -> tuple[Look, Left] | None:
    report = report_state(criterion).report
    place = None if report is None else chosen_judge(page, report)
    if report is None or place is None:
        return None
    look = latest_look(criterion, report.result["judges"][place])
    left = None if look is None else left_to_people(look)
    return None if look is None or left is None else (look, left)


def _make(page: ProjectPage, criterion: Criterion, form: WhoLabelsForm, look: Look, left: Left) -> Batch:
    """The batch of all that is left, or of what nobody has labelled yet, by the button that was pressed."""
    names = left.unlabelled if page.request.POST.get("which") == "unlabelled" else left.rest
    note = _("Left to people by %(judge)s: outside the region certified by look %(look)d, or without a score.")
    given = {name: form.cleaned_data[name] for name in ("name", "annotators", "overlap", "due_date")}
    return create_batch(
        project=page.project,
        criteria=[criterion],
        selection={"method": "list", "samples": names, "note": note % {"judge": look.judge.name, "look": look.number}},
        created_by=page.user,
        **given,
    )
