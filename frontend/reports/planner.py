"""The planner of a criterion: how many more labels a figure needs, which samples to label next, and what labels of
drawn samples say of all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import alignment
from annotate.batches.draws_read import draw_progress, unlabelled_samples
from annotate.core.text_tables import figure
from annotate.models import Criterion
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.forms import DrawnBatchForm
from frontend.reports.asked import asked_criterion
from frontend.reports.in_words import in_words
from frontend.reports.open_decisions import open_decisions
from frontend.reports.page import drawn_context, frame_context, planning_context, screen_of, strata_context
from frontend.reports.parts import report_part
from judges.certificates.decision_read import looked_decisions
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
from judges.reports.read import latest_report

PEOPLE = "people"


class PlanForm(forms.Form):
    """How sure one wants to be of which figure."""

    about = forms.ChoiceField(label=gettext_lazy("Figure"))
    width = forms.FloatField(
        label=gettext_lazy("Target margin of error (±)"),
        min_value=0.005,
        max_value=1.0,
        widget=forms.NumberInput({"step": "any"}),
    )

    def __init__(self, judges: Sequence[Mapping[str, Any]], *args: Any, **kwargs: Any) -> None:
        """`judges`: those of the report."""
        super().__init__(*args, **{"auto_id": "id_plan_%s", **kwargs})
        self.titles: dict[str, str | None] = {_key(row): row["title"] for row in judges}
        self.titles[PEOPLE] = None
        choices = [(key, _kappa_of(title)) for key, title in self.titles.items()]
        self.fields["about"].choices = choices  # type: ignore[attr-defined]


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
        choices += [(_key(row), _kappa_of(row["title"])) for row in judges]
        self.fields["about"].choices = choices  # type: ignore[attr-defined]
        # The planner is opened to learn more of a judge that scores, where there is one.
        self.fields["about"].initial = _first_judge(judges)

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


def _kappa_of(title: str | None) -> str:
    return _("kappa between annotators") if title is None else _("kappa of %(judge)s") % {"judge": title}


def _first_judge(judges: Sequence[Mapping[str, Any]]) -> str:
    """The key of the best judge that has a kappa."""
    known = [row for row in judges if row["kappa"]["value"] is not None]
    return _key(max(known, key=lambda row: row["kappa"]["value"])) if known else PEOPLE


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
    report = latest_report(criterion, reader=page.user)
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
    unlabelled = unlabelled_samples(criterion).count()
    undecided = open_decisions(screen_of(report, looked=looked_decisions(page.project)))
    plan_form = _plan_form(page, report, undecided.judge)
    plan = _plan(page, report, plan_form, unlabelled)
    wanted = plan_form.cleaned_data["width"] if plan_form.is_bound and plan_form.is_valid() else None
    return {
        **frame_context(report),
        "planning": planning_context(report, wanted),
        "plan_form": plan_form,
        "plan": plan,
        "open": undecided.said,
        "unlabelled": unlabelled,
        "draw_form": form,
        "seen": None if seen is None else strata_context(seen),
        "batch_form": batch_form,
        "may_make": page.may("batches.change"),
        "progress": draw_progress(criterion),
        "drawn": drawn_context(report),
    }


def _plan_form(page: ProjectPage, report: AlignmentReport, undecided: str | None) -> PlanForm:
    """What was asked; else about the figure that the draw is about, or the judge whose decision is open, with the
    margin that the report aims at for it."""
    given, judges = page.request.GET, report.result["judges"]
    if "width" in given:
        return PlanForm(judges, given)
    form = PlanForm(judges)
    about = given.get("about")
    if about not in form.titles:
        about = next((key for key, title in form.titles.items() if title == undecided), _first_judge(judges))
    form.initial = {"about": about, "width": _row_of(report, form.titles[about]).get("target") or ""}
    return form


def _row_of(report: AlignmentReport, title: str | None) -> Mapping[str, Any]:
    """The report's plan of the kappa of this judge; None: of annotators with each other."""
    rows = report.result["planning"]["rows"]
    found: Mapping[str, Any] = next(row for row in rows if row["judge"] == title and row["figure"] == "kappa")
    return found


def _plan(page: ProjectPage, report: AlignmentReport, form: PlanForm, unlabelled: int) -> dict[str, Any] | None:
    """How many samples to label for the margin, how many there are, and where to get them. None: nothing was asked, or
    not in order."""
    asked = (form.cleaned_data if form.is_valid() else None) if form.is_bound else form.initial
    if not asked:
        return None
    row = _row_of(report, form.titles[asked["about"]])
    if row["half_width"] is None or not asked["width"]:
        return {"why": in_words(row["reason"]) or _("it is as certain as a plan can say")}
    more = alignment.report.Growth.from_dict(row).more_for(asked["width"])
    if more is None:
        return {"why": _("it is as certain as a plan can say")}
    needed = alignment.two_digits(more) if more else 0
    draw, missing = min(needed, unlabelled, MOST_SAMPLES), max(0, needed - unlabelled)
    query = urlencode({"n": draw, "about": asked["about"], "width": asked["width"]})
    return {
        "on_dev": asked["about"] != PEOPLE,
        "now": f"±{figure(row['half_width'], 2)}",
        "target": f"±{figure(asked['width'], 2)}",
        "needed": f"{needed:,}" if needed else "",
        "unlabelled": f"{unlabelled:,}",
        "draw": draw if draw >= FEWEST_SAMPLES else None,
        "draw_url": f"?{query}#planner-next",
        "missing": f"{alignment.two_digits(missing):,}" if missing else "",
        "import_url": page.url("import") if missing and page.may("import.read") else "",
    }
