"""Runs of judges: the list, and one of them while it goes on and afterwards, with what failed in it and the reports on
which its scores count."""

from __future__ import annotations

import hashlib
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from annotate.core.blindness import why_held_back
from annotate.core.units import has_unit, unit_anchor, unit_number, unit_title
from annotate.models import Criterion, Sample
from annotate.projects.read import rated_criteria
from annotate.samples.read import samples_named
from frontend.base.pages import ProjectPage, project_view
from frontend.judges.run_start import ResumeForm, new_budget
from frontend.judges.run_words import TONES, about, amount, rate, run_context, scope_words
from frontend.judges.table import coverage_of
from frontend.reports.parts import judge_url
from frontend.reports.shown import money
from judges.models import WITHOUT_SCORES, Finding, Run, RunState, ScoreStatus
from judges.reports.read import report_state
from judges.runs.read import Failure, RunProgress, failures, findings_of, one_run, progress_of, runs_of
from judges.runs.write import cancel_run, pause_run, resume_run


def failure_groups(page: ProjectPage, run: Run, progress: RunProgress) -> list[dict[str, Any]]:
    """By how they failed: how many in all, and the first of them."""
    if not progress.failed:
        return []
    found = failures(run, reader=page.user)
    named = samples_named(page.project, {one.sample for one in found}).only("pk", "external_id", "claims", "abstained")
    samples = {sample.external_id: sample for sample in named}
    groups = []
    for status, count in sorted(progress.by_status.items(), key=lambda item: -item[1]):
        if status == ScoreStatus.OK:
            continue
        rows = [_row(page, one, samples[one.sample]) for one in found if one.status == status]
        groups.append({"status": status, "label": str(ScoreStatus(status).label), "count": count, "rows": rows})
    return groups


def _row(page: ProjectPage, failure: Failure, sample: Sample) -> dict[str, Any]:
    is_claim = failure.unit.startswith("claim:") and has_unit(sample, failure.unit)
    return {
        "sample": failure.sample,
        "title": unit_title(failure.unit, unit_number(sample, failure.unit) if is_claim else None),
        "url": f"{page.url('sample', sample.pk)}#{unit_anchor(failure.unit)}",
        "repeat": failure.repeat,
        "detail": failure.detail or (why_held_back() if failure.held_back else ""),
        "raw": failure.raw,
    }


def reports_after(page: ProjectPage, run: Run) -> list[tuple[Criterion, str]]:
    """The criteria that the run's version is compared on by name, or all on the same kind of unit when there is none of
    that name; each with the judge's address in an up-to-date report, "" where a new one has to be made first."""
    measures, _coverage = coverage_of([run.version])[run.version.pk]
    criteria = list(rated_criteria(page.project))
    held = [one for one in criteria if one.key in {measured.dimension for measured in measures}]
    held = held or [one for one in criteria if one.unit in {measured.unit for measured in measures}]
    found = []
    for criterion in held:
        state = report_state(criterion, reader=page.user)
        judges = [] if state.report is None or state.is_out_of_date else state.report.result["judges"]
        row = next((row for row in judges if row["judge"] == run.version.judge.name), None)
        url = "" if row is None else judge_url(page, criterion.key, row["judge"], row["dimension"])
        found.append((criterion, url))
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
    endpoint = run.version.endpoint
    return {
        "run": run,
        "tone": TONES[RunState(run.state)],
        "scope": scope_words(run.scope),
        "cost": money(run.cost, endpoint.currency if endpoint else None) if run.cost else "",
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
        "has_ended": has_ended,
        "may_run": may_run,
        "can_pause": may_run and found.state == RunState.RUNNING,
        "can_resume": may_run and found.state in CAN_GO_ON,
        "can_cancel": may_run and not has_ended,
        "resume_form": ResumeForm(currency=endpoint.currency, initial={"budget": found.budget}) if endpoint else None,
        "failures": failure_groups(page, found, progress),
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
    findings = findings_of(found, reader=page.user)
    shown: dict[str, Any] = {
        "project": page.project,
        **run_context(found, progress),
        "percent": 100 * progress.done // progress.expected if progress.expected else 0,
        "scored": progress.by_status.get("ok", 0),
        "findings": [(Finding(finding).label, n) for finding, n in (findings or {}).items()],
        "about": about(progress.expected),
        "left": amount(progress.left, progress),
        "never": amount(progress.never, progress),
        "rate": rate(progress.per_second) if found.state == RunState.RUNNING else "",
        "budget": money(found.budget, progress.currency),
        "at_most": money(progress.at_most, progress.currency) if progress.at_most else "",
    }
    body = render_to_string("judges/partials/run_board.html", shown)
    return {**shown, "said_mark": _mark(shown["said"]), "body": body, "seen": _mark(body)}


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
        page.attempt(lambda: pause_run(run=found, actor=page.user), _("Run paused."))
    elif step == "cancel":
        page.attempt(lambda: cancel_run(run=found, actor=page.user), _("Run cancelled."))
    else:
        endpoint = found.version.endpoint
        page.attempt(
            lambda: resume_run(run=found, budget=new_budget(page, endpoint), actor=page.user), _("Run resumed.")
        )
    return page.redirect("run", found.pk)
