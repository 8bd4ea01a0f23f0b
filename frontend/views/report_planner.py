"""The planner of a criterion: how many more labels its figures want, which samples to label next, and what labels of
drawn samples say of all."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from annotate.batches.draws_read import draw_progress, unlabelled_samples
from annotate.core.errors import Refusal
from annotate.models import Criterion
from annotate.projects.read import one_criterion
from frontend.forms.planner import DrawForm, DrawnBatchForm, WidthForm
from frontend.views.base import ProjectPage, project_view, refuse
from frontend.views.report_parts import report_part
from judges.models import AlignmentReport
from judges.selectors.planner_page import drawn_context, planning_context, strata_context
from judges.selectors.report_page import frame_context
from judges.selectors.reports import report_state
from judges.services.next_samples import NextSamples, make_next_batch, next_samples

TEMPLATE = "frontend/report_planner.html"
BATCH_FIELDS = ("seed", "plan", "name", "annotators", "overlap", "due_date")


@project_view("reports", get="reports.read", post="batches.change")
def planner(page: ProjectPage, key: str) -> HttpResponse:
    """GET shows; with `n` also the samples that would be drawn. POST makes a draft batch of the draw that was seen."""
    criterion = one_criterion(page.project, key)
    if page.data is not None:
        return _make(page, criterion, page.data)
    given = page.request.GET

    def context(report: AlignmentReport) -> dict[str, Any]:
        form = DrawForm(report.result["judges"], given if "n" in given else None)
        seen = _seen(criterion, form)
        return _context(page, criterion, report, form, seen, None if seen is None else _first(page, criterion, seen))

    return report_part(page, key, "report-planner", TEMPLATE, context)


def _make(page: ProjectPage, criterion: Criterion, data: QueryDict) -> HttpResponse:
    report = report_state(criterion).report
    if report is None:
        # Nothing that could have been seen; the page says so.
        return page.redirect("report-planner", criterion.key)
    draw, form = DrawForm(report.result["judges"], data), DrawnBatchForm(page.project, data)
    status = 422
    if form.is_valid() and draw.is_valid():
        given = {name: form.cleaned_data[name] for name in BATCH_FIELDS}
        try:
            batch = make_next_batch(criterion=criterion, created_by=page.user, **draw.wanted(), **given)
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            said = _("Batch %(n)d is a draft of %(samples)d drawn samples. Open it to make the tasks.")
            messages.success(page.request, said % {"n": batch.number, "samples": draw.cleaned_data["n"]})
            return page.redirect("batch", batch.number)

    def context(report: AlignmentReport) -> dict[str, Any]:
        """The draw as it is now, and what was typed: what is confirmed next is what is shown."""
        seen = _seen(criterion, draw, form.cleaned_data.get("seed"))
        if seen is not None:
            typed = data.copy()
            typed["seed"], typed["plan"] = str(seen.seed), seen.plan
            form.data = typed
        return _context(page, criterion, report, draw, seen, None if seen is None else form)

    return report_part(page, criterion.key, "report-planner", TEMPLATE, context, status=status)


def _seen(criterion: Criterion, form: DrawForm, seed: int | None = None) -> NextSamples | None:
    if not (form.is_bound and form.is_valid()):
        return None
    try:
        return next_samples(criterion=criterion, seed=seed, **form.wanted())
    except Refusal as refusal:
        refuse(form, refusal, "n")
        return None


def _first(page: ProjectPage, criterion: Criterion, seen: NextSamples) -> DrawnBatchForm | None:
    """The form before anybody typed into it."""
    if not page.may("batches.change"):
        return None
    count = len(seen.proposal.chosen)
    name = _("%(n)d samples to learn most from: %(criterion)s") % {"n": count, "criterion": criterion.name}
    draw = {"n": count, "about": page.request.GET.get("about"), "seed": seen.seed, "plan": seen.plan}
    return DrawnBatchForm(page.project, initial={**draw, "name": name[:200]})


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
