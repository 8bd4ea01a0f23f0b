"""manage.py demo_table: what `make run` prints about the demo project, made by the worker."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.utils import timezone

from annotate.core.blindness import SYSTEM
from annotate.core.text_tables import interval, text_table
from annotate.demo import DEMO_LOGINS, DEMO_SLUG
from annotate.management.base import OneLineCommand
from annotate.models import Criterion, Project, User
from annotate.projects.read import criterion_named, project_named
from judges.kinds.registry import runnable_kinds
from judges.models import AlignmentReport, Judge
from judges.reports.read import report_state
from judges.reports.requests import request_report

WAIT_SECONDS = 60
MODEL_COMMAND = ".venv/bin/python -m tests.openai_server --port 8001"
CRITERION = "support"


class Command(OneLineCommand):
    help = "Have the worker make the demo's report; print its judges and the demo's logins."

    def handle(self, *args: Any, **options: Any) -> None:
        if not User.objects.exists():
            self.stdout.write("\nThere is no account yet. Make the first: .venv/bin/python manage.py createsuperuser")
        if not Project.objects.filter(slug=DEMO_SLUG).exists():
            return
        criterion = criterion_named(project_named(DEMO_SLUG), CRITERION)
        self.stdout.write(demo_table(_report_of_the_worker(criterion)))
        self.stdout.write(_what_runs_here(criterion.project))
        self.stdout.write("\nLog in as\n")
        self.stdout.write(text_table(["role", "user", "password"], [list(map(str, row)) for row in DEMO_LOGINS]))


def demo_table(report: AlignmentReport) -> str:
    judges, people = report.result["judges"], report.result["people"]
    named = [*((row["title"], row["kappa"]) for row in judges), ("between annotators", people)]
    rows = [[title, interval(kappa), kappa["n"], kappa["clusters"]] for title, kappa in named]
    head = f"{report.result['project']['name']}, criterion “{report.result['criterion']['key']}”: judges vs. annotators"
    return "\n\n".join([head, text_table(["judge", "kappa [95% interval]", "units", "samples"], rows)])


def _what_runs_here(project: Project) -> str:
    """Nothing in a demo from before there was anything."""
    runnable = Judge.objects.filter(project=project, kind__in=runnable_kinds())
    alone, asking = (runnable.filter(versions__endpoint__isnull=needs_none) for needs_none in (True, False))
    lines = []
    if alone:
        lines.append(f"Run here, again by a click: {_names(alone)}.")
    if asking:
        lines.append(f"Asks a model at http://127.0.0.1:8001, which {MODEL_COMMAND} stands in for: {_names(asking)}.")
    return "\n".join(["", *lines]) if lines else ""


def _names(judges: QuerySet[Judge]) -> str:
    return ", ".join(judges.order_by("name").values_list("name", flat=True).distinct())


def _report_of_the_worker(criterion: Criterion) -> AlignmentReport:
    """The present report when there is one, so that a second start needs no worker; else the one it makes now."""
    state, since = report_state(criterion, reader=SYSTEM), timezone.now()
    if state.report is None or state.is_out_of_date:
        request_report(criterion=criterion)
    deadline = time.monotonic() + WAIT_SECONDS
    while state.report is None or state.is_out_of_date:
        if time.monotonic() >= deadline:
            raise CommandError(
                f"No worker made the report within {WAIT_SECONDS} s (asked at {since:%H:%M:%S}). "
                "Is one running? Start it with: celery -A config worker"
            )
        time.sleep(0.2)
        state = report_state(criterion, reader=SYSTEM)
    return state.report
