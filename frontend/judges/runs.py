"""Runs of judges: the list, and one of them while it goes on and afterwards.

What failed in a run: by how it failed, with the words that came instead of a score.

From a run to what people are held against: the reports on which its scores count.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from annotate.core.blindness import why_held_back
from annotate.core.units import has_unit, unit_anchor, unit_number, unit_title
from annotate.models import Sample
from annotate.projects.read import current_criteria
from annotate.samples.read import samples_named
from frontend.base.pages import ProjectPage, project_view
from frontend.judges.run_start import ResumeForm
from frontend.judges.run_words import TONES, about, amount, duration, rate, run_said, scope_words
from frontend.judges.table import coverage_of
from frontend.reports.parts import judge_url
from frontend.reports.shown import money
from judges.models import WITHOUT_SCORES, Run, RunState, ScoreStatus
from judges.reports.read import report_state
from judges.runs.read import Failure, RunProgress, failures, one_run, progress_of, runs_of
from judges.runs.write import cancel_run, pause_run, resume_run


@dataclass(frozen=True, slots=True)
class FailureRow:
    """raw: what the model said; "" for those who may not see it."""

    sample: str
    title: str
    url: str
    repeat: int
    detail: str
    raw: str


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """count: of all that failed in this way; rows: the first of them."""

    status: str
    label: str
    count: int
    rows: list[FailureRow]


def failure_groups(page: ProjectPage, run: Run, progress: RunProgress, *, with_replies: bool) -> list[FailureGroup]:
    if not progress.failed:
        return []
    found = failures(run, reader=page.user)
    named = samples_named(page.project, {one.sample for one in found}).only("pk", "external_id", "claims")
    samples = {sample.external_id: sample for sample in named}
    groups = []
    for status, count in sorted(progress.by_status.items(), key=lambda item: -item[1]):
        if status == ScoreStatus.OK:
            continue
        rows = [_row(page, one, samples[one.sample], with_replies) for one in found if one.status == status]
        groups.append(FailureGroup(status, str(ScoreStatus(status).label), count, rows))
    return groups


def _row(page: ProjectPage, failure: Failure, sample: Sample, with_replies: bool) -> FailureRow:
    is_claim = failure.unit.startswith("claim:") and has_unit(sample, failure.unit)
    return FailureRow(
        sample=failure.sample,
        title=unit_title(failure.unit, unit_number(sample, failure.unit) if is_claim else None),
        url=f"{page.url('sample', sample.pk)}#{unit_anchor(failure.unit)}",
        repeat=failure.repeat,
        detail=why_held_back() if failure.held_back else failure.detail,
        raw=failure.raw if with_replies else "",
    )


@dataclass(frozen=True, slots=True)
class ReportAfter:
    """url: of the judge in an up-to-date report; "" where a new report has to be made first."""

    key: str
    name: str
    url: str


def reports_after(page: ProjectPage, run: Run) -> list[ReportAfter]:
    """Of the criteria that the run's version is held against by name; of all on the same kind of unit when there is
    none of that name."""
    measures, _coverage = coverage_of([run.version])[run.version.pk]
    criteria = list(current_criteria(page.project))
    named = {one.dimension: one for one in measures}
    held = [criterion for criterion in criteria if criterion.key in named]
    held = held or [criterion for criterion in criteria if criterion.unit in {one.unit for one in measures}]
    found = []
    for criterion in held:
        state = report_state(criterion)
        url = ""
        if state.report is not None and not state.is_out_of_date:
            for row in state.report.result["judges"]:
                if row["judge"] == run.version.judge.name:
                    url = judge_url(page, criterion.key, row["judge"], row["dimension"])
                    break
        found.append(ReportAfter(criterion.key, criterion.name, url))
    return found


ENDED = (RunState.DONE, RunState.CANCELLED)
CAN_GO_ON = (RunState.PAUSED, RunState.STOPPED)


@project_view("judges", get="judges.read")
def runs(page: ProjectPage) -> HttpResponse:
    found, query = runs_of(page.project), ""
    judge = page.request.GET.get("judge", "")
    if judge.isdecimal():
        found, query = found.filter(version__judge=int(judge)), f"judge={judge}&"
    rows = page.rows(found)
    shown = [run_row(run) for run in rows]
    return page.render("judges/runs.html", {"rows": rows, "runs": shown, "query": query})


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
    return page.render("judges/run.html", context)


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
    reply = page.render("judges/partials/run_progress.html", context)
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
    body = render_to_string("judges/partials/run_board.html", shown)
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
        return page.render("judges/run_cancel.html", {"run": found, "progress": progress, "about": left})
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
