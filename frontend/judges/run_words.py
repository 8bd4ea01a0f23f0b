"""Runs in sentences: over what, how it stands, why it stopped and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from frontend.reports.shown import money
from judges.models import WITHOUT_SCORES, Run, RunState, ScoreStatus
from judges.runs.read import RunProgress

# The tone of a badge, as base.css names them.
TONES = {
    RunState.RUNNING: "info",
    RunState.PAUSED: "warn",
    RunState.STOPPED: "error",
    RunState.CANCELLED: "",
    RunState.DONE: "ok",
}
MINUTE, HOUR, DAY = 60, 3600, 86_400


def scope_words(scope: Mapping[str, Any]) -> str:
    """The samples that a run is over; "" for an import, which has no scope."""
    if "batch" in scope:
        return _("batch %(n)s") % {"n": scope["batch"]}
    if "pipeline" in scope:
        return _("pipeline version %(name)s") % {"name": scope["pipeline"]}
    if "samples" in scope:
        n = len(scope["samples"])
        return ngettext("%(n)s selected sample", "%(n)s selected samples", n) % {"n": intcomma(n)}
    return _("all samples") if scope else ""


def status_words(failed: Mapping[str, int]) -> str:
    """“Refused: 3, Timed out: 1”."""
    return ", ".join(f"{ScoreStatus(status).label}: {n}" for status, n in failed.items())


def run_said(run: Run, progress: RunProgress) -> str:
    """How it stands, in a sentence that stays the same while it goes on."""
    if run.state == RunState.RUNNING:
        if progress.is_waiting_for_worker:
            return _(
                "Waiting for the worker. If this takes long, no worker is running. The run continues once one starts."
            )
        return _("Running. You can leave this page; the run continues.")
    if run.purpose in WITHOUT_SCORES:
        return _said_without_scores(run, progress)
    if run.state == RunState.PAUSED:
        return _("Paused. Scores are kept. Resume to process the rest.")
    if run.state == RunState.STOPPED:
        return _("Stopped by an error. Scores are kept. Fix the cause, then resume.")
    if run.state == RunState.CANCELLED:
        return _("Cancelled. Existing scores are kept.")
    if not progress.planned:
        return _("Nothing to process: all units already had scores.")
    if progress.failed:
        return _("Done. Failed units have no score. Start another run to retry them.")
    return _("Done. All units have scores.")


def _said_without_scores(run: Run, progress: RunProgress) -> str:
    if run.state == RunState.PAUSED:
        return _("Paused. Results are kept. Resume to process the rest.")
    if run.state == RunState.STOPPED:
        return _("Stopped by an error. Results are kept. Fix the cause, then resume.")
    if run.state == RunState.CANCELLED:
        return _("Cancelled. Existing results are kept.")
    if not progress.planned:
        return _("Nothing to process in these samples.")
    if progress.failed:
        return _("Done. Failed replies are listed below and count as missing.")
    return _("Done. All requests succeeded.")


def run_context(run: Run, progress: RunProgress) -> dict[str, Any]:
    """How a run stands, as every page shows it that tells of one."""
    goes_on = run.state == RunState.RUNNING
    return {
        "run": run,
        "tone": TONES[RunState(run.state)],
        "progress": progress,
        "said": run_said(run, progress),
        "goes_on": goes_on,
        "expected": amount(progress.expected, progress),
        "eta": duration(progress.eta_seconds) if goes_on else "",
        "cost": money(progress.cost, progress.currency),
    }


def about(count: int) -> int:
    """Rounded up to two digits: it is an estimate, and nothing that is counted is above it."""
    step = 10 ** max(0, len(str(count)) - 2)
    return -(-count // step) * step


def amount(count: int, progress: RunProgress) -> str:
    """As people read it; "about …" as long as what is still to come is estimated."""
    return estimated(count, is_estimated=bool(progress.to_come))


def estimated(count: int, *, is_estimated: bool) -> str:
    """As people read it; "about …" if it was reckoned from a part."""
    if not (count and is_estimated):
        return str(intcomma(count))
    return _("about %(n)s") % {"n": intcomma(about(count))}


def duration(seconds: float | None) -> str:
    """About how long, in one unit; "" when nobody knows."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    if seconds < MINUTE:
        n = max(1, round(seconds))
        return ngettext("%(n)d second", "%(n)d seconds", n) % {"n": n}
    if seconds < HOUR:
        n = round(seconds / MINUTE)
        return ngettext("%(n)d minute", "%(n)d minutes", n) % {"n": n}
    if seconds < 2 * DAY:
        n = round(seconds / HOUR)
        return ngettext("%(n)d hour", "%(n)d hours", n) % {"n": n}
    n = round(seconds / DAY)
    return ngettext("%(n)d day", "%(n)d days", n) % {"n": n}


def rate(per_second: float | None) -> str:
    """How fast it goes; "" when nobody knows."""
    if not per_second:
        return ""
    if per_second >= 1:
        return _("%(n)s per second") % {"n": intcomma(f"{per_second:.3g}" if per_second < 100 else round(per_second))}
    return _("%(n)s per minute") % {"n": f"{60 * per_second:.2g}"}
