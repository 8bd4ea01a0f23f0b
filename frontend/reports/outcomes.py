"""A queue from one judge's outcomes: all that it fails and some of what it passes, or any other shares."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import alignment
from annotate.batches.draws_read import unlabelled_samples
from annotate.models import Criterion
from frontend.base.pages import ProjectPage, RefusalsShown, project_view
from frontend.batches.forms import DrawnBatchForm
from frontend.reports.asked import asked_criterion
from frontend.reports.page import frame_context, screen_of
from frontend.reports.parts import chosen_judge, judge_url, report_part, switcher
from judges.certificates.decision_read import looked_decisions
from judges.models import AlignmentReport
from judges.reports.next_samples import About, Draw, Shares, make_drawn_batch, outcome_queue
from judges.reports.read import latest_report

DEFAULT = Shares()


def _percent(label: Any, share: float) -> forms.FloatField:
    return forms.FloatField(
        label=label,
        min_value=0.1,
        max_value=100,
        initial=f"{100 * share:g}",
        widget=forms.NumberInput({"step": "any", "inputmode": "decimal"}),
    )


class OutcomeForm(forms.Form):
    """Which part of a judge's outcomes people should see. `threshold` is asked of a judge that gives numbers."""

    threshold = forms.FloatField(label=gettext_lazy("Threshold"), widget=forms.NumberInput({"step": "any"}))
    fails = _percent(gettext_lazy("Share of fails (%)"), DEFAULT.fails)
    passes = _percent(gettext_lazy("Share of passes (%)"), DEFAULT.passes)
    unscored = _percent(gettext_lazy("Share without a score (%)"), DEFAULT.unscored)

    def __init__(self, *args: Any, numbers: bool, higher_is_better: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not numbers:
            del self.fields["threshold"]
        else:
            passes = (
                gettext_lazy("Units pass at this score or above.")
                if higher_is_better
                else gettext_lazy("Units pass at this score or below.")
            )
            self.fields["threshold"].help_text = passes

    def wanted(self) -> dict[str, Any]:
        """The draw as `outcome_queue` takes it."""
        given = self.cleaned_data
        shares = Shares(*(given[name] / 100 for name in ("fails", "passes", "unscored")))
        return {"threshold": given.get("threshold"), "shares": shares}


PART = "report-outcomes"
TITLES = {
    "fail": gettext_lazy("Fail"),
    "pass": gettext_lazy("Pass"),
    "no score": gettext_lazy("No score"),
}


@project_view("reports", get="reports.read", post="batches.change")
def outcomes(page: ProjectPage, key: str) -> HttpResponse:
    """GET shows; with `passes` also what would be drawn. POST makes a draft batch of the draw that was seen."""
    criterion = asked_criterion(page.project, key)
    report = latest_report(criterion, reader=page.user)
    screen = None if report is None else screen_of(report, looked=looked_decisions(page.project))
    place = None if report is None or screen is None else chosen_judge(page, report, screen)
    draw = None if report is None or place is None else _Draw(page, criterion, report.result["judges"][place])
    if page.data is not None:
        if draw is None:
            raise Http404(_("This report has no such judge."))
        batch = draw.make()
        if batch is not None:
            said = _("Draft of batch %(n)d created with %(samples)d samples. Open it to start labelling.")
            messages.success(page.request, said % {"n": batch.number, "samples": batch.batch_samples.count()})
            return page.redirect("batch", batch.number)

    def context(report: AlignmentReport) -> dict[str, Any]:
        return {
            **frame_context(report),
            "draw": None if draw is None else draw.context(),
            "switcher": [] if screen is None else switcher(page, key, PART, screen, place),
        }

    return report_part(
        page, key, "report-triage", "reports/report_outcomes.html", context, status=200 if page.data is None else 422
    )


class _Draw:
    """One judge's forms of this request, and the draw that they ask for."""

    def __init__(self, page: ProjectPage, criterion: Criterion, judge: dict[str, Any]) -> None:
        self.page, self.criterion, self.judge = page, criterion, judge
        self.about = About(judge["judge"], judge["dimension"])
        given = page.data if page.data is not None else page.request.GET if "passes" in page.request.GET else None
        threshold = judge["at_threshold"]["threshold"]
        self.form = OutcomeForm(
            given,
            numbers=judge["labels"] is None,
            higher_is_better=judge["higher_is_better"],
            initial={"threshold": None if threshold is None else f"{threshold:g}"},
        )
        self.batch_form: DrawnBatchForm | None = None

    def make(self) -> Any:
        """The draft, or None when something has to be said first."""
        form = self.batch_form = DrawnBatchForm(self.page.project, self.page.data)
        if form.is_valid() and self.form.is_valid():
            with RefusalsShown(form):
                return make_drawn_batch(
                    outcome_queue,
                    criterion=self.criterion,
                    about=self.about,
                    created_by=self.page.user,
                    **self.form.wanted(),
                    **form.given(),
                )
        return None

    def context(self) -> dict[str, Any]:
        seen = self._seen()
        form = self.batch_form
        if seen is not None and form is None and self.page.may("batches.change"):
            # Annotators read it: it must not say what a judge said.
            name = _("%(n)d drawn samples: %(criterion)s") % {"n": len(seen.chosen), "criterion": self.criterion.name}
            initial = {"seed": seen.seed, "plan": seen.plan, "name": name[:200]}
            form = DrawnBatchForm(self.page.project, initial=initial)
        elif seen is not None and form is not None and form.is_bound:
            form.follow(seen.seed, seen.plan)
        return {
            "title": self.judge["title"],
            "url": judge_url(self.page, self.criterion.key, self.about.judge, self.about.dimension),
            "here": judge_url(self.page, self.criterion.key, self.about.judge, self.about.dimension, PART),
            "judge": self.about.judge,
            "measures": self.about.dimension,
            "form": self.form,
            "seen": None if seen is None else _shown(seen),
            "batch_form": None if seen is None else form,
            "may_make": self.page.may("batches.change"),
            "unlabelled": unlabelled_samples(self.criterion).count(),
        }

    def _seen(self) -> Draw[alignment.report.OutcomeDraw] | None:
        if self.form.is_valid():
            seed = None if self.batch_form is None else self.batch_form.cleaned_data.get("seed")
            with RefusalsShown(self.form):
                return outcome_queue(
                    criterion=self.criterion,
                    about=self.about,
                    seed=seed,
                    reader=self.page.user,
                    **self.form.wanted(),
                )
        return None


def _shown(seen: Draw[alignment.report.OutcomeDraw]) -> dict[str, Any]:
    return {
        "rows": [
            {
                "title": TITLES[group.outcome],
                "samples": group.samples,
                "drawn": group.drawn,
                "chance": f"{group.chance:.1%}" if group.drawn < group.samples else _("all"),
            }
            for group in seen.found.groups
        ],
        "drawn": len(seen.chosen),
        "frame": seen.frame,
        "seed": seen.seed,
    }
