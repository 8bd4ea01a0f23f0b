"""Aligning a judge: starting it, how far it has come, whether it helped, and its rules, which people take or drop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.batches.sample_choice import MAX_SEED, new_seed
from annotate.core.blindness import Reader
from annotate.core.errors import Conflict, Refusal
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.judges.run_start import BudgetForm, ResumeForm, estimate_page, new_budget
from frontend.judges.run_words import run_context
from frontend.reports.shown import money, shown
from judges.aligning.distil import LONGEST_RULE
from judges.aligning.outcome import found_by_search
from judges.aligning.read import alignments_of, one_alignment, one_rule, result_for, rules_for, spent
from judges.aligning.search import MOST_ASKS
from judges.aligning.write import (
    MOST_SAMPLES,
    cancel_alignment,
    decide_rule,
    estimate_alignment,
    pause_alignment,
    resume_alignment,
    rules_tried,
    start_alignment,
    try_candidate,
)
from judges.core.scores_read import current_version
from judges.lab.read import questions_of
from judges.lab.write import DEFAULT_SAMPLES
from judges.lab.write import MOST_SAMPLES as MOST_ON_TRIAL
from judges.models import Alignment, AlignmentStep, Judge, JudgeKind, JudgeVersion, Rule, RuleState, RunState
from judges.runs.read import progress_of
from judges.versions.read import one_judge

# Of candidates (judges.aligning.candidates), what each adds to the judge as it is.
CANDIDATES = {
    "start": gettext_lazy("Current judge"),
    "guideline": gettext_lazy("Criterion’s text"),
    "rules": gettext_lazy("Rules"),
    "guideline_rules": gettext_lazy("Criterion’s text, rules"),
    "prompt": gettext_lazy("Prompt found by search"),
    "prompt_rules": gettext_lazy("Prompt found by search, rules"),
    "diverse": gettext_lazy("Varied examples"),
    "hard": gettext_lazy("Hard examples"),
    "nearest": gettext_lazy("Similar examples"),
    "rules_diverse": gettext_lazy("Rules, varied examples"),
    "rules_hard": gettext_lazy("Rules, hard examples"),
    "rules_nearest": gettext_lazy("Rules, similar examples"),
    "all_diverse": gettext_lazy("Criterion’s text, rules, varied examples"),
    "all_nearest": gettext_lazy("Criterion’s text, rules, similar examples"),
}
# Of proposals (judges.aligning.search), why they are none.
UNFIT = {
    "no_answer": gettext_lazy("no usable answer"),
    "empty": gettext_lazy("empty"),
    "too_long": gettext_lazy("too long"),
    "variables": gettext_lazy("variables changed"),
    "language": gettext_lazy("other language"),
    "quotes": gettext_lazy("quotes a sample"),
}
PAGE_SIZE = 20


class AlignForm(BudgetForm):
    """On which criterion a judge is aligned, on how many samples, and for how much."""

    budget_help = gettext_lazy("All steps together stop at this budget. Leave empty for no limit.")

    criterion = forms.ChoiceField(label=gettext_lazy("Align with human labels on"))
    samples = forms.IntegerField(
        label=gettext_lazy("Samples at most"),
        min_value=1,
        max_value=MOST_SAMPLES,
        initial=500,
        help_text=gettext_lazy("Drawn from resolved samples of the dev set. The test set stays locked."),
    )
    seed = forms.IntegerField(label=gettext_lazy("Random seed"), min_value=0, max_value=MAX_SEED)
    search = forms.IntegerField(
        label=gettext_lazy("Prompt search"),
        required=False,
        min_value=0,
        max_value=MOST_ASKS,
        initial=0,
        help_text=gettext_lazy(
            "Requests for each of five searches for a better prompt, at least 100. Enter 0 for no search."
        ),
    )

    def __init__(self, version: JudgeVersion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, endpoint=version.endpoint, **kwargs)
        self._version = version
        self._by_key = {one.key: one for one in questions_of(version) if one.key == version.config["criterion"]}
        self.fields["criterion"].choices = [(one.key, one.name) for one in self._by_key.values()]  # type: ignore[attr-defined]

    def wanted(self) -> dict[str, Any]:
        """Of a valid form: what an estimate and the alignment itself are asked with."""
        given = self.cleaned_data
        return {
            "version": self._version,
            "criterion": self._by_key[given["criterion"]],
            "samples": given["samples"],
            "seed": given["seed"],
            "search": given["search"] or 0,
        }


_PLACES = {
    "bad_budget": "budget",
    "no_price": "budget",
    "bad_samples": "samples",
    "bad_seed": "seed",
    "bad_search": "search",
}


def can_be_aligned(judge: Judge, version: JudgeVersion | None) -> bool:
    return version is not None and judge.kind == JudgeKind.LLM and version.config["answer_with"] == "options"


@project_view("judges", get="judges.run", post="judges.run")
def alignments(page: ProjectPage, judge_id: int) -> HttpResponse:
    """The form of the next one, and those so far. A POST starts one."""
    judge, version = _of(page, judge_id)
    form = AlignForm(version, page.data, initial={"seed": new_seed()})
    if form.is_valid():
        with RefusalsShown(form, places=_PLACES):
            of = start_alignment(**form.wanted(), **form.terms(), actor=page.user)
            return page.redirect("alignment", judge.pk, of.pk)
    rows = page.rows(alignments_of(judge), PAGE_SIZE)
    context = {"judge": judge, "version": version, "form": form, "asks_model": True, "rows": rows}
    return page.render("judges/alignments.html", context, status=status_of(form))


@project_view("judges", post="judges.run")
def estimate(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What the form, as far as it is filled in, would ask for, at most. Stores nothing."""
    _judge, version = _of(page, judge_id)
    form = AlignForm(version, page.data)
    return estimate_page(page, form, lambda: estimate_alignment(**form.wanted()))


def _of(page: ProjectPage, judge_id: int) -> tuple[Judge, JudgeVersion]:
    judge = one_judge(page.project, judge_id)
    version = current_version(judge)
    if version is None or not can_be_aligned(judge, version):
        raise Http404(_("This judge can’t be aligned."))
    return judge, version


class TryForm(BudgetForm):
    budget_help = gettext_lazy("Each of the trial’s runs stops at this budget.")

    samples = forms.IntegerField(
        label=gettext_lazy("Number of samples"),
        min_value=1,
        max_value=MOST_ON_TRIAL,
        initial=DEFAULT_SAMPLES,
        help_text=gettext_lazy("Drawn from the dev set."),
    )


@project_view("judges", get="judges.run")
def alignment(page: ProjectPage, judge_id: int, alignment_id: int) -> HttpResponse:
    """While it goes on, how far it has come; then whether it helped, and its rules."""
    judge = one_judge(page.project, judge_id)
    of = one_alignment(judge, alignment_id)
    context: dict[str, Any] = {
        "judge": judge,
        "of": of,
        "is_done": of.step == AlignmentStep.DONE,
        "cost": money(spent(of), of.base.endpoint.currency) if of.base.endpoint and spent(of) else "",
        **_state(of),
        **_found(page, of),
    }
    return page.render("judges/alignment.html", context)


def _state(of: Alignment) -> dict[str, Any]:
    """How its step stands."""
    if of.run is None or of.step == AlignmentStep.DONE:
        return {}
    progress = progress_of(of.run)
    said = run_context(of.run, progress)
    # A step that is done is followed by the next one within seconds.
    goes_on = of.run.state in (RunState.RUNNING, RunState.DONE)
    may_resume = of.run.state in (RunState.PAUSED, RunState.STOPPED)
    endpoint = of.base.endpoint
    resume = ResumeForm(currency=endpoint.currency, initial={"budget": of.budget}) if may_resume and endpoint else None
    return {
        **said,
        "goes_on": goes_on,
        "may_resume": may_resume,
        "resume": resume,
        "percent": int(100 * progress.share),
    }


def _found(page: ProjectPage, of: Alignment) -> dict[str, Any]:
    if of.step != AlignmentStep.DONE:
        return {}
    try:
        result = result_for(of, reader=page.user)
    except Conflict as refusal:
        return {"why_not": refusal.message}
    assert result is not None
    rules = rules_for(of, reader=page.user)
    tried = rules_tried(of, result["chosen"])
    gain = result["gain"]
    return {
        "result": result,
        "helped": gain["low"] is not None and gain["low"] > 0,
        "figures": [
            {"title": _("Before"), "shown": shown(result["before"])},
            {"title": _("After, on units it had not seen"), "shown": shown(result["after"])},
            {"title": _("Gain"), "shown": shown(gain)},
        ],
        "candidates": candidate_rows(result),
        "chosen": CANDIDATES[result["candidates"][result["chosen"]]["name"]],
        "is_start": not result["chosen"],
        "rules": [(rule, sources_of(rule, rules.samples)) for rule in rules.shown],
        "held_back": rules.held_back,
        "search": search_words(of, reader=page.user),
        "longest": LONGEST_RULE,
        "trial": TryForm(endpoint=of.base.endpoint) if result["chosen"] else None,
        "in_trial": None if tried is None else len(tried),
    }


def search_words(of: Alignment, *, reader: Reader) -> dict[str, Any] | None:
    found = found_by_search(of, reader=reader)
    if found is None:
        return None
    refused = ", ".join(f"{UNFIT[why]} ({count})" for why, count in found.refused.items())
    return {"found": found, "refused": refused, "refusals": sum(found.refused.values())}


def sources_of(rule: Rule, samples: Mapping[str, int]) -> list[tuple[int, str]]:
    """The samples that a rule comes from, by which their pages are found, and their own ids; each once."""
    return [(samples[name], name) for name in dict.fromkeys(name for name, _unit in rule.sources) if name in samples]


def candidate_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The best first."""
    rows = [
        {**row, "title": CANDIDATES[row["name"]], "is_chosen": place == result["chosen"]}
        for place, row in enumerate(result["candidates"])
    ]
    return sorted(rows, key=lambda row: (row["kappa"] is None, -(row["kappa"] or 0)))


@project_view("judges", post="judges.run")
def step(page: ProjectPage, judge_id: int, alignment_id: int, step: str) -> HttpResponse:
    """Pauses, resumes or cancels it, or puts what it found on trial."""
    of = one_alignment(one_judge(page.project, judge_id), alignment_id)
    if step == "try":
        return _tried(page, of)
    if step == "pause":
        page.attempt(lambda: pause_alignment(of=of, actor=page.user), _("Paused."))
    elif step == "resume":
        endpoint = of.base.endpoint
        page.attempt(lambda: resume_alignment(of=of, budget=new_budget(page, endpoint), actor=page.user), _("Resumed."))
    elif step == "cancel":
        page.attempt(lambda: cancel_alignment(of=of, actor=page.user), _("Cancelled."))
    else:
        raise Http404
    return page.redirect("alignment", judge_id, alignment_id)


def _tried(page: ProjectPage, of: Alignment) -> HttpResponse:
    form = TryForm(page.data, endpoint=of.base.endpoint)
    if form.is_valid():
        try:
            trial = try_candidate(of=of, samples=form.cleaned_data["samples"], **form.terms(), actor=page.user)
            return page.redirect("lab-trial", of.base.judge_id, trial.pk)
        except Refusal as refusal:
            messages.error(page.request, refusal.message)
    else:
        messages.error(page.request, _("Enter a number of samples."))
    return page.redirect("alignment", of.base.judge_id, of.pk)


@project_view("judges", post="judges.run")
def rule(page: ProjectPage, judge_id: int, alignment_id: int, rule_id: int) -> HttpResponse:
    """Accepts a rule, as it is or in other words, or drops it."""
    of = one_alignment(one_judge(page.project, judge_id), alignment_id)
    found = one_rule(of, rule_id)
    if found not in rules_for(of, reader=page.user).shown:
        raise Http404
    given: Mapping[str, Any] = page.data or {}
    state, text = given.get("state", ""), given.get("text")
    said = _("Rule dropped.") if state == RuleState.DROPPED else _("Rule accepted.")
    page.attempt(lambda: decide_rule(rule=found, state=state, text=text, actor=page.user), said)
    return page.redirect("alignment", judge_id, alignment_id)
