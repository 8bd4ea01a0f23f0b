"""Runs of judges: the list, and one of them while it goes on and afterwards."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from frontend.forms.runs import ResumeForm
from frontend.views.base import ProjectPage, project_view
from frontend.views.run_failures import failure_groups
from frontend.views.run_reports import reports_after
from frontend.views.run_words import TONES, about, amount, duration, rate, run_said, scope_words
from judges.models import WITHOUT_SCORES, Run, RunState
from judges.selectors.runs import RunProgress, one_run, progress_of, runs_of
from judges.selectors.shown import money
from judges.services.runs import cancel_run, pause_run, resume_run

PAGE_SIZE = 50
ENDED = (RunState.DONE, RunState.CANCELLED)
CAN_GO_ON = (RunState.PAUSED, RunState.STOPPED)


@project_view("judges", get="judges.read")
def runs(page: ProjectPage) -> HttpResponse:
    found, query = runs_of(page.project), ""
    judge = page.request.GET.get("judge", "")
    if judge.isdecimal():
        found, query = found.filter(version__judge=int(judge)), f"judge={judge}&"
    rows = Paginator(found, PAGE_SIZE).get_page(page.request.GET.get("page"))
    shown = [run_row(run) for run in rows]
    return page.render("frontend/runs.html", {"rows": rows, "runs": shown, "query": query})


def run_row(run: Run) -> dict[str, Any]:
    """A run as lists show it."""
    return {
        "run": run,
        "tone": TONES[RunState(run.state)],
        "scope": scope_words(run.scope),
        "cost": money(run.cost, _currency(run)) if run.cost else "",
    }


@project_view("judges", get="judges.read")
def run(page: ProjectPage, run_id: int) -> HttpResponse:
    found = one_run(page.project, run_id)
    progress = progress_of(found)
    has_ended = found.state in ENDED
    may_run = page.may("judges.run")
    endpoint = found.version.endpoint
    scores = found.purpose not in WITHOUT_SCORES
    context = {
        **_state(page, found, progress),
        "scope": scope_words(found.scope),
        "tone": TONES[RunState(found.state)],
        "has_ended": has_ended,
        "may_run": may_run,
        "can_pause": may_run and found.state == RunState.RUNNING,
        "can_resume": may_run and found.state in CAN_GO_ON,
        "can_cancel": may_run and not has_ended,
        "resume_form": ResumeForm(currency=endpoint.currency, initial={"budget": found.budget}) if endpoint else None,
        "failures": failure_groups(page, found, progress, with_replies=may_run),
        "reports": reports_after(page, found) if has_ended and scores and progress.by_status.get("ok") else [],
    }
    return page.render("frontend/run.html", context)


@project_view("judges", get="judges.read")
def progress(page: ProjectPage, run_id: int) -> HttpResponse:
    """The part of the page that a browser asks for again: nothing (204) when it would look the same, and the whole page
    once the run is in another state."""
    found = one_run(page.project, run_id)
    context = _state(page, found, progress_of(found))
    asked = page.request.GET
    if asked.get("state") == found.state and asked.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    # What a screen reader hears, which the part that is replaced does not carry: only when it changed.
    context["say"] = asked.get("said") != context["said_mark"]
    reply = page.render("frontend/partials/run_progress.html", context)
    if asked.get("state") != found.state:
        reply["HX-Refresh"] = "true"
    return reply


def _state(page: ProjectPage, found: Run, progress: RunProgress) -> dict[str, Any]:
    said = run_said(found, progress)
    shown: dict[str, Any] = {
        "project": page.project,
        "run": found,
        "progress": progress,
        "percent": 100 * progress.done // progress.expected if progress.expected else 0,
        "scored": progress.by_status.get("ok", 0),
        "about": about(progress.expected),
        "left": amount(progress.left, progress),
        "never": amount(progress.never, progress),
        "goes_on": found.state == RunState.RUNNING,
        "rate": rate(progress.per_second) if found.state == RunState.RUNNING else "",
        "eta": duration(progress.eta_seconds) if found.state == RunState.RUNNING else "",
        "cost": money(progress.cost, progress.currency),
        "budget": money(found.budget, progress.currency),
    }
    body = render_to_string("frontend/partials/run_board.html", shown)
    return {**shown, "said": said, "said_mark": _mark(said), "body": body, "seen": _mark(body)}


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _currency(run: Run) -> str | None:
    return run.version.endpoint.currency if run.version.endpoint else None


@project_view("judges", get="judges.run", post="judges.run")
def step(page: ProjectPage, run_id: int, step: str) -> HttpResponse:
    """POST does it; GET asks, before a run is cancelled."""
    found = one_run(page.project, run_id)
    if step == "cancel" and page.request.method != "POST":
        if found.state in ENDED:
            return page.redirect("run", found.pk)
        progress = progress_of(found)
        left = about(progress.waiting + (progress.to_come or 0))
        return page.render("frontend/run_cancel.html", {"run": found, "progress": progress, "about": left})
    if step not in ("pause", "resume", "cancel"):
        raise Http404
    if page.request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if step == "pause":
        page.attempt(lambda: pause_run(run=found, actor=page.user), _("The run is paused."))
    elif step == "cancel":
        page.attempt(lambda: cancel_run(run=found, actor=page.user), _("The run is cancelled."))
    else:
        _resume(page, found)
    return page.redirect("run", found.pk)


def _resume(page: ProjectPage, found: Run) -> None:
    budget = {}
    if found.version.endpoint is not None:
        form = ResumeForm(page.request.POST, currency=found.version.endpoint.currency)
        if not form.is_valid():
            messages.error(page.request, _("“%(text)s” is no amount.") % {"text": page.request.POST["budget"][:40]})
            return
        budget = {"budget": form.cleaned_data["budget"]}
    page.attempt(lambda: resume_run(run=found, actor=page.user, **budget), _("The run goes on."))
