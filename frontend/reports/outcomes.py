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
from annotate.batches.sample_choice import MAX_SEED
from annotate.core.errors import Refusal
from annotate.models import Criterion, Project
from annotate.projects.read import one_criterion
from frontend.base.pages import ProjectPage, project_view, refuse
from frontend.batches.forms import WhoLabelsForm
from frontend.reports.page import frame_context
from frontend.reports.parts import chosen_judge, judge_url, report_part, switcher
from judges.models import AlignmentReport
from judges.reports.next_samples import About, Draw, Shares, make_drawn_batch, outcome_queue
from judges.reports.read import report_state

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
    fails = _percent(gettext_lazy("Of what it fails (%)"), DEFAULT.fails)
    passes = _percent(gettext_lazy("Of what it passes (%)"), DEFAULT.passes)
    unscored = _percent(gettext_lazy("Of what it has no score for (%)"), DEFAULT.unscored)

    def __init__(self, *args: Any, numbers: bool, higher_is_better: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not numbers:
            del self.fields["threshold"]
        else:
            passes = (
                gettext_lazy("A unit passes from this score on.")
                if higher_is_better
                else gettext_lazy("A unit passes up to this score.")
            )
            self.fields["threshold"].help_text = passes

    def wanted(self) -> dict[str, Any]:
        """The draw as `outcome_queue` takes it."""
        given = self.cleaned_data
        shares = Shares(*(given[name] / 100 for name in ("fails", "passes", "unscored")))
        return {"threshold": given.get("threshold"), "shares": shares}


class OutcomeBatchForm(WhoLabelsForm):
    """Who labels the draw that was seen; it goes along, as it came out."""

    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, widget=forms.HiddenInput)
    plan = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        # The page has the draw's own form as well.
        super().__init__(project, *args, auto_id="id_batch_%s", **kwargs)


PART = "report-outcomes"
BATCH_FIELDS = ("seed", "plan", "name", "annotators", "overlap", "due_date")
TITLES = {
    "fail": gettext_lazy("It fails them"),
    "pass": gettext_lazy("It passes them"),
    "no score": gettext_lazy("It has no score for them"),
}


@project_view("reports", get="reports.read", post="batches.change")
def outcomes(page: ProjectPage, key: str) -> HttpResponse:
    """GET shows; with `passes` also what would be drawn. POST makes a draft batch of the draw that was seen."""
    criterion = one_criterion(page.project, key)
    report = report_state(criterion).report
    place = None if report is None else chosen_judge(page, report)
    draw = None if report is None or place is None else _Draw(page, criterion, report.result["judges"][place])
    status = 200
    if page.data is not None:
        if draw is None:
            raise Http404(_("This report has no such judge."))
        batch = draw.make()
        if batch is not None:
            said = _("Batch %(n)d is a draft of %(samples)d drawn samples. Open it to make the tasks.")
            messages.success(page.request, said % {"n": batch.number, "samples": batch.batch_samples.count()})
            return page.redirect("batch", batch.number)
        status = 422

    def context(report: AlignmentReport) -> dict[str, Any]:
        return {
            **frame_context(report),
            "draw": None if draw is None else draw.context(),
            "switcher": switcher(page, key, PART, report, place),
        }

    return report_part(page, key, "report-triage", "reports/report_outcomes.html", context, status=status)


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
        self.batch_form: OutcomeBatchForm | None = None

    def make(self) -> Any:
        """The draft, or None when something has to be said first."""
        form = self.batch_form = OutcomeBatchForm(self.page.project, self.page.data)
        if not (form.is_valid() and self.form.is_valid()):
            return None
        given = {name: form.cleaned_data[name] for name in BATCH_FIELDS}
        try:
            return make_drawn_batch(
                outcome_queue,
                criterion=self.criterion,
                about=self.about,
                created_by=self.page.user,
                **self.form.wanted(),
                **given,
            )
        except Refusal as refusal:
            refuse(form, refusal)
            return None

    def context(self) -> dict[str, Any]:
        seen = self._seen()
        form = self.batch_form
        if seen is not None and form is None and self.page.may("batches.change"):
            name = _("What %(judge)s fails, and some of what it passes") % {"judge": self.judge["title"]}
            form = OutcomeBatchForm(
                self.page.project, initial={"seed": seen.seed, "plan": seen.plan, "name": name[:200]}
            )
        elif seen is not None and form is not None and self.page.data is not None:
            # What is confirmed next is what is shown now.
            typed = self.page.data.copy()
            typed["seed"], typed["plan"] = str(seen.seed), seen.plan
            form.data = typed
        return {
            "title": self.judge["title"],
            "url": judge_url(self.page, self.criterion.key, self.about.judge, self.about.dimension),
            "judge": self.about.judge,
            "measures": self.about.dimension,
            "form": self.form,
            "seen": None if seen is None else _shown(seen),
            "batch_form": None if seen is None else form,
            "may_make": self.page.may("batches.change"),
            "unlabelled": unlabelled_samples(self.criterion).count(),
        }

    def _seen(self) -> Draw[alignment.report.OutcomeDraw] | None:
        if not (self.form.is_bound and self.form.is_valid()):
            return None
        seed = None if self.batch_form is None else self.batch_form.cleaned_data.get("seed")
        try:
            return outcome_queue(criterion=self.criterion, about=self.about, seed=seed, **self.form.wanted())
        except Refusal as refusal:
            refuse(self.form, refusal)
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
