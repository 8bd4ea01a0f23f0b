"""The planner of a criterion: how many more labels its figures want, which samples to label next, and what labels of
drawn samples say of all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import alignment
from annotate.batches.draws_read import draw_progress, unlabelled_samples
from annotate.models import Criterion
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.forms import DrawnBatchForm
from frontend.reports.asked import asked_criterion
from frontend.reports.page import drawn_context, frame_context, planning_context, strata_context
from frontend.reports.parts import report_part
from judges.models import AlignmentReport
from judges.reports.next_samples import (
    DEFAULT_COUNT,
    FEWEST_SAMPLES,
    MOST_SAMPLES,
    About,
    Draw,
    make_drawn_batch,
    next_samples,
)
from judges.reports.read import report_state

PEOPLE = "people"


class WidthForm(forms.Form):
    """How sure one wants to be."""

    width = forms.FloatField(
        label=gettext_lazy("Target margin of error (±)"),
        min_value=0.005,
        max_value=1.0,
        widget=forms.NumberInput({"step": "any"}),
    )


class DrawForm(forms.Form):
    """How many samples to draw, and what their labels should make surer."""

    n = forms.IntegerField(
        label=gettext_lazy("Number of samples"), min_value=FEWEST_SAMPLES, max_value=MOST_SAMPLES, initial=DEFAULT_COUNT
    )
    about = forms.ChoiceField(label=gettext_lazy("Improve the estimate of"))

    def __init__(self, judges: Sequence[Mapping[str, Any]], *args: Any, **kwargs: Any) -> None:
        """`judges`: those of the report."""
        super().__init__(*args, **kwargs)
        choices: list[tuple[str, Any]] = [(PEOPLE, gettext_lazy("the pass rate"))]
        choices += [(_key(row), gettext_lazy("kappa of %(judge)s") % {"judge": row["title"]}) for row in judges]
        self.fields["about"].choices = choices  # type: ignore[attr-defined]
        # The planner is opened to learn more of a judge that scores, where there is one.
        self.fields["about"].initial = next((_key(row) for row in judges if row["kappa"]["value"] is not None), PEOPLE)

    def wanted(self) -> dict[str, Any]:
        """The draw as `next_samples` takes it."""
        about = self.cleaned_data["about"]
        return {"count": self.cleaned_data["n"], "about": None if about == PEOPLE else About(*json.loads(about))}


class NextBatchForm(DrawnBatchForm):
    """With the fields of `DrawForm`, as they were sent."""

    field_order = ("n", "about")

    n = forms.CharField(widget=forms.HiddenInput)
    about = forms.CharField(widget=forms.HiddenInput)


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps([row["judge"], row["dimension"]])


TEMPLATE = "reports/report_planner.html"


@project_view("reports", get="reports.read", post="batches.change")
def planner(page: ProjectPage, key: str) -> HttpResponse:
    """GET shows; with `n` also the samples that would be drawn. POST makes a draft batch of the draw that was seen."""
    criterion = asked_criterion(page.project, key)
    if page.data is not None:
        return _make(page, criterion, page.data)
    given = page.request.GET

    def context(report: AlignmentReport) -> dict[str, Any]:
        form = DrawForm(report.result["judges"], given if "n" in given else None)
        seen = _seen(page, criterion, form)
        return _context(page, criterion, report, form, seen, None if seen is None else _first(page, criterion, seen))

    return report_part(page, key, "report-planner", TEMPLATE, context)


def _make(page: ProjectPage, criterion: Criterion, data: QueryDict) -> HttpResponse:
    report = report_state(criterion, reader=page.user).report
    if report is None:
        # Nothing that could have been seen; the page says so.
        return page.redirect("report-planner", criterion.key)
    draw, form = DrawForm(report.result["judges"], data), NextBatchForm(page.project, data)
    if form.is_valid() and draw.is_valid():
        with RefusalsShown(form):
            batch = make_drawn_batch(
                next_samples, criterion=criterion, created_by=page.user, **draw.wanted(), **form.given()
            )
            said = _("Draft of batch %(n)d created with %(samples)d samples. Open it to start labelling.")
            messages.success(page.request, said % {"n": batch.number, "samples": draw.cleaned_data["n"]})
            return page.redirect("batch", batch.number)

    def context(report: AlignmentReport) -> dict[str, Any]:
        """The draw as it is now, and what was typed: what is confirmed next is what is shown."""
        seen = _seen(page, criterion, draw, form.cleaned_data.get("seed"))
        if seen is not None:
            form.follow(seen.seed, seen.plan)
        return _context(page, criterion, report, draw, seen, None if seen is None else form)

    return report_part(page, criterion.key, "report-planner", TEMPLATE, context, status=status_of(form))


def _seen(
    page: ProjectPage, criterion: Criterion, form: DrawForm, seed: int | None = None
) -> Draw[alignment.report.Proposal] | None:
    if form.is_valid():
        with RefusalsShown(form, "n"):
            return next_samples(criterion=criterion, seed=seed, reader=page.user, **form.wanted())
    return None


def _first(page: ProjectPage, criterion: Criterion, seen: Draw[alignment.report.Proposal]) -> NextBatchForm | None:
    """The form before anybody typed into it."""
    if not page.may("batches.change"):
        return None
    count = len(seen.chosen)
    name = _("%(n)d drawn samples: %(criterion)s") % {"n": count, "criterion": criterion.name}
    draw = {"n": count, "about": page.request.GET.get("about"), "seed": seen.seed, "plan": seen.plan}
    return NextBatchForm(page.project, initial={**draw, "name": name[:200]})


def _context(
    page: ProjectPage,
    criterion: Criterion,
    report: AlignmentReport,
    form: DrawForm,
    seen: Draw[alignment.report.Proposal] | None,
    batch_form: NextBatchForm | None,
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
