"""The planner of a criterion: how many more labels its figures want, which samples to label next, and what labels of
drawn samples say of all."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _

from annotate.errors import Refusal
from annotate.models import Batch, Criterion
from annotate.selectors.draws import draw_progress, unlabelled_samples
from annotate.selectors.projects import one_criterion
from frontend.forms.planner import DrawForm, DrawnBatchForm, WidthForm
from frontend.views.base import ProjectPage, project_view, refuse
from frontend.views.report_parts import report_part
from judges.models import AlignmentReport
from judges.selectors.planner_page import drawn_context, planning_context, strata_context
from judges.selectors.report_page import frame_context
from judges.selectors.reports import report_state
from judges.services.next_samples import NextSamples, make_next_batch, next_samples


@project_view("reports", get="reports.read", post="batches.change")
def planner(page: ProjectPage, key: str) -> HttpResponse:
    """GET shows; with `n` also the samples that would be drawn. POST makes a draft batch of the draw that was seen."""
    criterion = one_criterion(page.project, key)
    if page.request.method == "POST":
        return _make(page, criterion)
    given = page.request.GET

    def context(report: AlignmentReport) -> dict[str, Any]:
        judges = report.result["judges"]
        form = DrawForm(judges, given if "n" in given else None)
        seen, batch_form = None, None
        if form.is_bound and form.is_valid():
            try:
                seen = next_samples(criterion=criterion, count=form.cleaned_data["n"], about=form.wanted())
            except Refusal as refusal:
                refuse(form, refusal, "n")
            else:
                batch_form = _batch_form(page, criterion, judges, form, seen)
        return _context(page, criterion, report, form, seen, batch_form)

    return report_part(page, key, "report-planner", "frontend/report_planner.html", context)


def _make(page: ProjectPage, criterion: Criterion) -> HttpResponse:
    report = report_state(criterion).report
    if report is None:
        return page.redirect("report-planner", criterion.key)
    judges = report.result["judges"]
    form = DrawnBatchForm(page.project, judges, page.data)
    status = 422
    if form.is_valid():
        try:
            batch = _made(page, criterion, form)
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            said = _("Batch %(n)d is a draft of %(samples)d drawn samples. Open it to make the tasks.")
            messages.success(page.request, said % {"n": batch.number, "samples": form.cleaned_data["n"]})
            return page.redirect("batch", batch.number)
    reply = report_part(
        page,
        criterion.key,
        "report-planner",
        "frontend/report_planner.html",
        lambda report: _again(page, criterion, report, form),
    )
    reply.status_code = status
    return reply


def _made(page: ProjectPage, criterion: Criterion, form: DrawnBatchForm) -> Batch:
    given = form.cleaned_data
    return make_next_batch(
        criterion=criterion,
        count=given["n"],
        about=form.wanted(),
        seed=given["seed"],
        plan=given["plan"],
        name=given["name"],
        annotators=list(given["annotators"]),
        overlap=given["overlap"],
        due_date=given["due_date"],
        created_by=page.user,
    )


def _again(page: ProjectPage, criterion: Criterion, report: AlignmentReport, form: DrawnBatchForm) -> dict[str, Any]:
    """The page with what was typed, and the draw as it is now."""
    judges = report.result["judges"]
    draw_form = DrawForm(judges, page.data)
    seen, batch_form = None, None
    if draw_form.is_valid():
        seed = form.cleaned_data.get("seed")
        try:
            seen = next_samples(
                criterion=criterion, count=draw_form.cleaned_data["n"], about=draw_form.wanted(), seed=seed
            )
        except Refusal as refusal:
            refuse(draw_form, refusal, "n")
        else:
            # What is confirmed next is what is shown now.
            data = page.request.POST.copy()
            data["seed"], data["plan"] = str(seen.seed), seen.plan
            form.data, batch_form = data, form
    return _context(page, criterion, report, draw_form, seen, batch_form)


def _batch_form(
    page: ProjectPage, criterion: Criterion, judges: list[dict[str, Any]], form: DrawForm, seen: NextSamples
) -> DrawnBatchForm | None:
    if not page.may("batches.change"):
        return None
    name = _("%(n)d samples to learn most from: %(criterion)s") % {
        "n": form.cleaned_data["n"],
        "criterion": criterion.name,
    }
    initial = {**form.cleaned_data, "seed": seen.seed, "plan": seen.plan, "name": name[:200]}
    return DrawnBatchForm(page.project, judges, initial=initial)


def _context(
    page: ProjectPage,
    criterion: Criterion,
    report: AlignmentReport,
    form: DrawForm,
    seen: NextSamples | None,
    batch_form: DrawnBatchForm | None,
) -> dict[str, Any]:
    width_form = WidthForm(page.request.GET if "width" in page.request.GET else None)
    wanted = width_form.cleaned_data["width"] if width_form.is_bound and width_form.is_valid() else None
    return {
        **frame_context(report),
        "planning": planning_context(report, wanted),
        "width_form": width_form,
        "unlabelled": unlabelled_samples(criterion).count(),
        "draw_form": form,
        "seen": None if seen is None else strata_context(seen),
        "batch_form": batch_form,
        "may_make": page.may("batches.change"),
        "progress": draw_progress(criterion),
        "drawn": drawn_context(report),
    }
