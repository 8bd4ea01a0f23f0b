"""Checks of a judge with injection canaries: starting one, those so far, and what one came to."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import new_seed
from annotate.core.errors import Refusal
from frontend.forms.canaries import CanaryForm
from frontend.views.base import ProjectPage, project_view, refuse, status_of
from frontend.views.canary_words import basis_said, coverage_said, outcome_said, rate_rows, variant_rows
from frontend.views.run_estimate import estimate_page
from frontend.views.run_words import TONES, duration, run_said
from judges.canaries.variants import VARIANTS
from judges.models import Judge, JudgeVersion, Run, RunState
from judges.selectors.canaries import canary_result, checks_of, flip_examples, one_check
from judges.selectors.judges import one_judge
from judges.selectors.kept_versions import current_version
from judges.selectors.runs import progress_of
from judges.selectors.shown import money
from judges.services.canaries import can_be_checked, check_canaries, estimate_canaries

PAGE_SIZE = 20
_PLACES = {"bad_budget": "budget", "no_price": "budget", "bad_samples": "samples", "bad_seed": "seed"}


@project_view("judges", get="judges.read", post="judges.run")
def checks(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What canaries are, the checks so far, and the form of the next. A POST starts one."""
    judge, version = _checkable(page, judge_id)
    form = _form(page, version) if page.may("judges.run") and version is not None else None
    status = 200
    if form is not None and version is not None:
        status = status_of(form)
        if form.is_valid():
            try:
                run = check_canaries(version=version, **form.wanted(), **form.terms(), actor=page.user)
            except Refusal as refusal:
                status = refuse(form, refusal, _PLACES.get(refusal.code))
            else:
                return page.redirect("canary-check", judge.pk, run.pk)
    rows = Paginator(checks_of(judge), PAGE_SIZE).get_page(page.request.GET.get("page"))
    context = {
        "judge": judge,
        "version": version,
        "form": form,
        "asks_model": True,
        "canaries": [variant for variant in VARIANTS if not variant.is_harmless],
        "rows": rows,
        "checks": [check_row(run) for run in rows],
        "query": "",
    }
    return page.render("frontend/canaries.html", context, status=status)


def check_row(run: Run) -> dict[str, Any]:
    """A check as lists show it."""
    result = canary_result(run)
    towards = rate_rows(result)[0]
    return {
        "run": run,
        "tone": TONES[RunState(run.state)],
        "samples": len(run.scope["samples"]),
        "units": result["units"],
        "attacks": towards["attacks"],
        "harmless": towards["harmless"],
    }


@project_view("judges", post="judges.run")
def estimate(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What the form, as far as it is filled in, would ask for. Stores nothing."""
    _judge, version = _checkable(page, judge_id)
    if version is None:
        raise Http404
    form = _form(page, version)
    return estimate_page(page, form, lambda: estimate_canaries(version=version, **form.wanted()))


@project_view("judges", get="judges.read")
def check(page: ProjectPage, judge_id: int, run_id: int) -> HttpResponse:
    """While it goes on, how far it has come; then what it came to. A browser asks again for the middle part of it."""
    judge = one_judge(page.project, judge_id)
    run = one_check(judge, run_id)
    progress = progress_of(run)
    context = {
        "judge": judge,
        "run": run,
        "tone": TONES[RunState(run.state)],
        "progress": progress,
        "percent": int(100 * progress.share),
        "eta": duration(progress.eta_seconds),
        "said": run_said(run, progress),
        "goes_on": run.state == RunState.RUNNING,
        "cost": money(progress.cost, progress.currency),
        "can_cancel": page.may("judges.run") and run.state not in (RunState.DONE, RunState.CANCELLED),
        **({} if run.state == RunState.RUNNING else _result(page, run)),
    }
    return page.render("frontend/canary_check.html", context)


def _result(page: ProjectPage, run: Run) -> dict[str, Any]:
    result = canary_result(run)
    examples = flip_examples(run, page.user) if page.may("judges.run") else None
    titles = {variant.key: variant.title for variant in VARIANTS}
    return {
        "result": result,
        "outcome": outcome_said(result),
        "basis": basis_said(result),
        "coverage": coverage_said(result) if result["coverage"]["asked"] else "",
        "rates": rate_rows(result),
        "variants": variant_rows(result),
        "examples": examples,
        "flips": [{**one, "by": titles[one["variant"]]} for one in examples["shown"]] if examples else [],
    }


def _checkable(page: ProjectPage, judge_id: int) -> tuple[Judge, JudgeVersion | None]:
    """With the version in use, if there is one. 404 for a judge of a kind that can't be checked."""
    judge = one_judge(page.project, judge_id)
    version = current_version(judge)
    if version is None and not judge.versions.exists():
        raise Http404
    if not can_be_checked(version or judge.versions.first()):
        raise Http404(_("Only LLM judges are checked with canaries."))
    return judge, version


def _form(page: ProjectPage, version: JudgeVersion) -> CanaryForm:
    currency = None if version.endpoint is None else version.endpoint.currency
    return CanaryForm(page.data, currency=currency, initial={"seed": new_seed()})
