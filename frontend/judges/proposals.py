"""Claims that a judge's model proposes: having them made, looking at them beside today's, taking them over."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate.models import Project
from annotate.models.batch import BatchStatus
from annotate.projects.read import one_sample
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.judges.run_start import BudgetForm, estimate_page
from frontend.judges.run_words import run_context
from frontend.judges.runs import run_row
from judges.core.scores_read import current_version
from judges.models import Judge, JudgeVersion, Run
from judges.proposals.read import (
    CHANGED,
    EDITED,
    FAILED,
    FIXED,
    SAME,
    UNTOUCHED,
    asked_for_claims,
    one_proposal_run,
    proposal_runs,
    shown_proposals,
)
from judges.proposals.write import can_propose, estimate_proposals, propose_claims, take_over, take_over_untouched
from judges.runs.read import progress_of
from judges.versions.read import one_judge

ALL = "all"


class ProposalForm(BudgetForm):
    """For which answers a model proposes claims, and for how much."""

    budget_help = gettext_lazy("The run stops at this budget. Leave empty for no limit.")

    scope = forms.ChoiceField(label=gettext_lazy("Samples"))

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        drafts = project.batches.filter(status=BatchStatus.DRAFT).order_by("-number")
        self.fields["scope"].choices = [  # type: ignore[attr-defined]
            (ALL, gettext_lazy("All samples with editable claims")),
            *((str(batch.number), f"{batch.number} · {batch.name}") for batch in drafts),
        ]

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the run itself are asked with."""
        chosen = self.cleaned_data["scope"]
        return {"scope": {"all": True} if chosen == ALL else {"batch": int(chosen)}}


PAGE_SIZE = 20
RUNS_SHOWN = 20
_PLACES = {"bad_budget": "budget", "no_price": "budget", "unknown_batch": "scope"}
_STATES = {
    UNTOUCHED: gettext_lazy("not accepted"),
    EDITED: gettext_lazy("edited manually before"),
    CHANGED: gettext_lazy("changed since"),
    FIXED: gettext_lazy("claims can’t be changed"),
    SAME: gettext_lazy("accepted"),
    FAILED: gettext_lazy("failed"),
}


@project_view("judges", get="judges.run", post="judges.run")
def propose(page: ProjectPage, judge_id: int) -> HttpResponse:
    """`?batch=3`: for the samples of a draft batch."""
    judge, version = _with_model(page, judge_id)
    form = _form(page, version)
    if form.is_valid():
        with RefusalsShown(form, places=_PLACES):
            run = propose_claims(version=version, **form.wanted(), **form.terms(), actor=page.user)
            return page.redirect("proposals", run.pk)
    runs = [run_row(run) for run in proposal_runs(page.project).filter(version__judge=judge)[:RUNS_SHOWN]]
    context = {"judge": judge, "form": form, "asks_model": True, "runs": runs}
    return page.render("judges/propose.html", context, status=status_of(form))


@project_view("judges", post="judges.run")
def estimate(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What the form, as far as it is filled in, would ask for. Stores nothing."""
    _judge, version = _with_model(page, judge_id)
    form = _form(page, version)
    return estimate_page(page, form, lambda: estimate_proposals(version=version, **form.wanted()))


@project_view("judges", get="claims.change", post="claims.change")
def proposed(page: ProjectPage, run_id: int) -> HttpResponse:
    """What came, beside the claims as they are. A POST takes over: of one sample, or of all that nobody touched."""
    run = one_proposal_run(page.project, run_id)
    if page.request.method == "POST":
        return _take(page, run)
    rows = page.rows(asked_for_claims(run), PAGE_SIZE)
    context = {
        **run_context(run, progress_of(run)),
        "judge": run.version.judge,
        "rows": rows,
        "proposals": [(one, _STATES[one.state]) for one in shown_proposals(list(rows))],
    }
    return page.render("judges/proposals.html", context)


def _take(page: ProjectPage, run: Run) -> HttpResponse:
    given = page.request.POST.get("sample", "")
    if given:
        if not given.isdecimal() or len(given) > 18:
            raise Http404
        sample = one_sample(page.project, int(given))
        page.attempt(
            lambda: take_over(run=run, sample_id=sample.pk, actor=page.user),
            _("Proposed claims accepted for %(sample)s.") % {"sample": sample.external_id},
        )
    else:
        taken = take_over_untouched(run=run, actor=page.user)
        said = ngettext("Accepted for %(n)d sample.", "Accepted for %(n)d samples.", taken.count)
        messages.success(page.request, said % {"n": taken.count})
        if taken.left:
            messages.info(page.request, _("%(n)d more can be accepted. Select the button again.") % {"n": taken.left})
        if taken.refused:
            names = ", ".join(taken.refused[:10])
            messages.error(page.request, _("Claims of these samples can’t be changed: %(names)s.") % {"names": names})
    at = page.request.POST.get("page", "")
    reply = page.redirect("proposals", run.pk)
    if at.isdecimal():
        reply["Location"] += f"?page={int(at)}"
    return reply


def _with_model(page: ProjectPage, judge_id: int) -> tuple[Judge, JudgeVersion]:
    judge = one_judge(page.project, judge_id)
    version = current_version(judge)
    if version is None or not can_propose(version):
        raise Http404(_("Only active LLM judges can propose claims."))
    return judge, version


def _form(page: ProjectPage, version: JudgeVersion) -> ProposalForm:
    initial: dict[str, Any] = {"scope": page.request.GET.get("batch", ALL)}
    return ProposalForm(page.project, page.data, endpoint=version.endpoint, initial=initial)
