"""The lab: a changed judge is tried on a few samples of dev, compared with the version in use, and kept or dropped."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.batches.sample_choice import MAX_SEED, new_seed
from annotate.core.errors import Conflict, Refusal
from annotate.core.units import unit_anchor
from annotate.models import Criterion
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, refuse, sees_names, status_of
from frontend.judges.aligning import CANDIDATES
from frontend.judges.kinds.base import ConfigForm
from frontend.judges.kinds.registry import version_form
from frontend.judges.lab_trial import trial_context
from frontend.judges.run_start import BudgetForm, asks_model, can_be_run, shown_counts
from frontend.judges.run_words import duration, run_context
from frontend.judges.words import difference_rows
from frontend.reports.shown import money
from judges.core.scores_read import current_version
from judges.lab.read import is_under_way, one_trial, questions_of, title_of, trial_figures, trials_of, tried_on
from judges.lab.units_read import GROUPS, differing, with_words
from judges.lab.write import DEFAULT_SAMPLES, MOST_SAMPLES, drop_trial, estimate_trial, keep_trial, start_trial
from judges.models import Judge, JudgeVersion, Run, RunState, Trial, VersionState
from judges.runs.read import progress_of
from judges.versions.read import one_judge, version_diff, withheld


class TrialForm(BudgetForm):
    """On what a changed judge is tried, and for how much."""

    budget_help = gettext_lazy("Per version; its run stops at this budget. Leave empty for no limit.")

    criterion = forms.ChoiceField(label=gettext_lazy("Compare with human labels on"))
    samples = forms.IntegerField(
        label=gettext_lazy("Number of samples"),
        min_value=1,
        max_value=MOST_SAMPLES,
        initial=DEFAULT_SAMPLES,
        help_text=gettext_lazy("Drawn from labelled samples of the dev set. The test set stays locked."),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Random seed"),
        min_value=0,
        max_value=MAX_SEED,
        help_text=gettext_lazy("The same seed draws the same samples, so you can compare trials."),
    )

    def __init__(self, criteria: Sequence[Criterion], *args: Any, **kwargs: Any) -> None:
        """criteria: those that the judge answers."""
        super().__init__(*args, **kwargs)
        self.by_key = {criterion.key: criterion for criterion in criteria}
        self.fields["criterion"].choices = [(one.key, one.name) for one in criteria]  # type: ignore[attr-defined]
        self.fields["criterion"].initial = next(iter(self.by_key), None)

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the trial itself are asked with."""
        given = self.cleaned_data
        return {
            "criterion": self.by_key[given["criterion"]],
            "samples": given["samples"],
            "seed": given["seed"],
        }


TRIALS, UNITS = 20, 20
_FRONT = ("prompt", "model", "temperature", "examples")


@project_view("judges", get="judges.run", post="judges.run")
def lab(page: ProjectPage, judge_id: int) -> HttpResponse:
    """The judge's form, filled in from the version in use, or from that of an earlier trial (`?from=`), and the trials
    so far. A POST starts one."""
    judge, base = _of_lab(page, judge_id)
    forms = _forms(page, judge, base)
    # Both, so that all that is wrong is shown at once.
    if all([forms.trial.is_valid(), forms.config.is_valid()]):
        with RefusalsShown(forms.trial, show=partial(_show, forms)):
            trial = start_trial(judge=judge, **forms.wanted(), **forms.trial.terms(), actor=page.user)
            return page.redirect("lab-trial", judge.pk, trial.pk)
    rows = page.rows(trials_of(judge), TRIALS)
    context = {
        "judge": judge,
        "base": base,
        "origin": forms.origin,
        "form": forms.trial,
        "config": forms.config,
        **_in_order(forms.config),
        "rows": rows,
    }
    return page.render("judges/lab.html", context, status=status_of(forms.trial))


@project_view("judges", post="judges.run")
def estimate(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What the form, as far as it is filled in, would ask for. Stores nothing; the form shows what is wrong itself."""
    judge, base = _of_lab(page, judge_id)
    forms = _forms(page, judge, base)
    context: dict[str, Any] = {"asks_model": asks_model(base)}
    if all([forms.trial.is_valid(), forms.config.is_valid()]):
        try:
            found = estimate_trial(judge=judge, **forms.wanted())
        except Refusal as refusal:
            context["unchanged"] = refusal.code == "nothing_changed"
            context["problem"] = refusal.details.get("problem", refusal.message)
        else:
            both = [found.new] if found.base is None else [found.new, found.base]
            cost = None if any(one.cost is None for one in both) else sum(one.cost for one in both if one.cost)
            seconds = None if any(one.seconds is None for one in both) else sum(one.seconds or 0 for one in both)
            asks, requests = sum(one.asks for one in both), sum(one.requests for one in both)
            context |= {
                **shown_counts(asks, requests, *both),
                "estimate": found,
                "asked_for": forms.trial.cleaned_data["samples"],
                "asks": asks,
                "requests": requests,
                "time": duration(seconds),
                "cost": money(cost, found.new.currency),
            }
    return page.render("judges/partials/lab_estimate.html", context)


@project_view("judges", get="judges.run")
def trial(page: ProjectPage, judge_id: int, trial_id: int) -> HttpResponse:
    """How it goes on, and once it has ended what it shows; of the units that differ one group (`?show=mended`)."""
    judge = one_judge(page.project, judge_id)
    found = one_trial(judge, trial_id)
    under_way = is_under_way(found)
    seen = version_diff(found.base, found.version, reader=page.user, role=page.role)
    context: dict[str, Any] = {
        "judge": judge,
        "trial": found,
        "title": title_of(found.version),
        "candidate": CANDIDATES.get(found.candidate),
        "under_way": under_way,
        "tried": tried_on(found),
        "differences": difference_rows(found.base, found.version, seen.rows),
        "is_current": current_version(judge) == found.version,
        "can_keep": not under_way and found.version.state != VersionState.KEPT,
        "can_drop": found.version.state != VersionState.DROPPED,
        "help_url": reverse("statistics-help"),
        **_state(page, found),
    }
    if not under_way:
        try:
            context |= _result(page, found)
        except Conflict as refusal:
            context["why_not"] = refusal.message
    return page.render("judges/lab_trial.html", context)


@project_view("judges", get="judges.run")
def progress(page: ProjectPage, judge_id: int, trial_id: int) -> HttpResponse:
    """The part of the page that a browser asks for again: nothing (204) when it would look the same, and the whole page
    once the trial has ended."""
    found = one_trial(one_judge(page.project, judge_id), trial_id)
    state = _state(page, found)
    ended = not is_under_way(found)
    if not ended and page.request.GET.get("seen") == state["seen"]:
        return HttpResponse(status=204)
    reply = page.render("judges/partials/lab_progress.html", {"judge": found.version.judge, "trial": found, **state})
    if ended:
        reply["HX-Refresh"] = "true"
    return reply


@project_view("judges", post="judges.change")
def step(page: ProjectPage, judge_id: int, trial_id: int, step: str) -> HttpResponse:
    """Keeps the version that was tried, or drops it."""
    found = one_trial(one_judge(page.project, judge_id), trial_id)
    label = {"label": found.version.label}
    if step == "keep":
        said = _("Version %(label)s is now active. It has scores on the trial samples. Run it on the rest.")
        page.attempt(lambda: keep_trial(trial=found, actor=page.user), said % label)
    elif step == "drop":
        said = _("Version %(label)s discarded. Its results are kept here but not counted.")
        page.attempt(lambda: drop_trial(trial=found, actor=page.user), said % label)
    else:
        raise Http404
    return page.redirect("lab-trial", judge_id, trial_id)


@dataclass
class _Forms:
    """origin: the trial that the form was filled in from, if one was."""

    trial: TrialForm
    config: ConfigForm
    origin: Trial | None

    def wanted(self) -> dict[str, Any]:
        """Of valid forms: what an estimate and the trial itself are asked with."""
        return {**self.trial.wanted(), "config": self.config.config(), "endpoint": self.config.endpoint()}


def _of_lab(page: ProjectPage, judge_id: int) -> tuple[Judge, JudgeVersion]:
    judge = one_judge(page.project, judge_id)
    base = current_version(judge)
    if base is None or not can_be_run(judge, base):
        raise Http404(_("This judge can’t be tried in the lab."))
    return judge, base


def _forms(page: ProjectPage, judge: Judge, base: JudgeVersion) -> _Forms:
    asked = page.request.GET.get("from", "")
    number = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) <= 9 else None
    origin = None if number is None else one_trial(judge, number)
    start = base if origin is None else origin.version
    initial: dict[str, Any] = {"samples": DEFAULT_SAMPLES, "seed": new_seed()}
    if origin is not None:
        initial = {"samples": origin.wanted, "seed": origin.seed, "criterion": origin.criterion.key}
    form = TrialForm(questions_of(base), page.data, initial=initial, endpoint=base.endpoint)
    config = version_form(start, page.data, hidden=withheld(start, reader=page.user, role=page.role))
    return _Forms(form, config, origin)


def _in_order(config: ConfigForm) -> dict[str, Any]:
    """What is changed again and again before the rest, of judges that have a prompt."""
    if "prompt" not in config.fields:
        return {}
    front = [field for field in config if field.name in _FRONT]
    behind = [field for field in config if field.name not in _FRONT]
    return {"front": front, "behind": behind, "opens_behind": any(field.errors for field in behind)}


def _show(forms: _Forms, refusal: Refusal) -> None:
    """Shows the refusal at the field that it is about."""
    place = "budget" if refusal.code == "bad_budget" else str(refusal.details.get("field", ""))
    if place and place not in forms.trial.fields:
        forms.config.refuse(place, str(refusal.details.get("problem", refusal.message)))
    else:
        refuse(forms.trial, refusal, place or None)


def _state(page: ProjectPage, found: Trial) -> dict[str, Any]:
    """How the runs stand."""
    runs = [_run(found.run, title_of(found.version))]
    if found.base_run is not None:
        runs.append(_run(found.base_run, title_of(found.base)))
    shown = {"project": page.project, "runs": runs}
    body = render_to_string("judges/partials/lab_runs.html", shown)
    return {**shown, "body": body, "seen": hashlib.sha256(body.encode()).hexdigest()[:16]}


def _run(run: Run, title: str) -> dict[str, Any]:
    now = progress_of(run)
    return {
        **run_context(run, now),
        "title": title,
        "cost": money(now.cost, now.currency) if now.cost else "",
        "is_short": run.state in (RunState.PAUSED, RunState.STOPPED, RunState.CANCELLED),
    }


def _result(page: ProjectPage, found: Trial) -> dict[str, Any]:
    figures = trial_figures(found, reader=page.user)
    rows = differing(figures)
    asked = page.request.GET.get("show", "")
    chosen = asked if asked in GROUPS else ""
    listed = [row for row in rows.rows if row["group"] == chosen] if chosen else rows.rows
    shown = page.rows(listed, UNITS)
    units = with_words(found, figures, list(shown), named=sees_names(page))
    return {
        "result": trial_context(found, figures),
        "filters": [
            {"key": name, "title": _(title), "count": rows.counts[name], "current": name == chosen}
            for name, title in GROUPS.items()
            if rows.counts[name] or name in ("mended", "broken")
        ],
        "differ": sum(rows.counts.values()),
        "listed": len(rows.rows),
        "held_back": rows.held_back,
        "chosen": chosen,
        "rows": shown,
        "query": f"show={chosen}&" if chosen else "",
        "units": [
            {
                "unit": unit,
                "url": f"{page.url('sample', unit.sample)}#{unit_anchor(unit.unit)}",
                "group": _(GROUPS[unit.group]),
            }
            for unit in units
        ],
    }
