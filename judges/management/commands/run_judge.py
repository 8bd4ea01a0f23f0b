"""manage.py run_judge SLUG JUDGE [--batch B] [--repeats N] [--again] [--budget X] [--wait]"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from random import Random
from typing import Any

from django.core.management.base import CommandError

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Refusal
from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from judges.core.scores_read import current_version
from judges.models import Run, RunState
from judges.runs.places import place_of
from judges.runs.read import RunProgress, findings_of, progress_of
from judges.runs.work import work
from judges.runs.write import start_run
from judges.versions.read import judge_named

# It ended, but not as done; and it didn't begin.
NOT_DONE, NOT_STARTED = 1, 2
_LOOK_SECONDS = 0.5
# For so long a worker may take to come before this process works the run itself.
_PATIENCE_SECONDS = 3.0


class Command(OneLineCommand):
    help = (
        "Runs the version of a judge that is in use. With --wait it shows how far the run has come; when no worker is "
        "there, this process works it. Exit code 0: the run is done, or without --wait: it is started; 1: it was "
        "stopped, paused or cancelled; 2: it could not be started."
    )
    refused = NOT_STARTED

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("judge", help="the judge's name")
        scope = parser.add_mutually_exclusive_group()
        scope.add_argument("--batch", type=int, metavar="NUMBER", help="only the samples of this batch")
        scope.add_argument("--pipeline", metavar="VERSION", help="only the samples of this version of the pipeline")
        parser.add_argument("--repeats", type=int, default=1, metavar="N", help="ask about each unit so often")
        parser.add_argument("--again", action="store_true", help="ask once more about what has been asked already")
        parser.add_argument("--fresh", action="store_true", help="use no reply that is kept from earlier")
        parser.add_argument("--budget", metavar="AMOUNT", help="stop before more is spent, in the endpoint's currency")
        parser.add_argument("--wait", action="store_true", help="until the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        run = _started(options)
        to_ask = f"{run.planned:,} to ask" if run.is_laid else "the worker looks what there is to ask"
        self.stdout.write(f"Run {run.pk} of “{options['judge']}”: {to_ask}.")
        if options["wait"]:
            try:
                self._wait(run)
            except Refusal as refusal:
                raise CommandError(refusal.message, returncode=NOT_DONE) from refusal

    def _wait(self, run: Run) -> None:
        without_worker_since: float | None = None
        shown = ""
        while True:
            run.refresh_from_db()
            progress = progress_of(run)
            if (line := _line(progress, findings_of(run, reader=SYSTEM) or {})) != shown:
                self.stdout.write(line)
                self.stdout.flush()
                shown = line
            if run.state != RunState.RUNNING:
                break
            if not progress.is_waiting_for_worker:
                without_worker_since = None
            elif without_worker_since is None:
                without_worker_since = time.monotonic()
            elif time.monotonic() - without_worker_since > _PATIENCE_SECONDS:
                self.stdout.write("No worker is there; it is worked here.")
                work(place_of(run), rng=Random(), in_worker=False)
                continue
            time.sleep(_LOOK_SECONDS)
        if run.state != RunState.DONE:
            raise CommandError(
                run.stop_message or f"The run is {run.get_state_display().lower()}.", returncode=NOT_DONE
            )


def _started(options: dict[str, Any]) -> Run:
    project = project_named(options["slug"])
    judge = judge_named(project, options["judge"])
    version = current_version(judge)
    if version is None:
        raise Refusal("no_version", f"No version of “{judge.name}” is in use.")
    scope = {how: options[how] for how in ("batch", "pipeline") if options[how] is not None}
    return start_run(
        version=version,
        scope=scope or {"all": True},
        repeats=options["repeats"],
        again=options["again"],
        fresh=options["fresh"],
        budget=_amount(options["budget"]),
    )


def _amount(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        raise Refusal("bad_budget", "--budget takes an amount, such as 2.50.") from None


def _line(progress: RunProgress, findings: dict[str, int]) -> str:
    parts = [f"{progress.done:,} of {'about ' if progress.to_come else ''}{progress.expected:,} done"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    parts += [f"{count:,} with {finding.replace('_', ' ')}" for finding, count in findings.items()]
    if progress.already:
        parts.append(f"{progress.already:,} scored by another run first")
    if progress.dropped:
        parts.append(f"{progress.dropped:,} dropped, as their samples are gone")
    if progress.cost:
        parts.append(f"{progress.cost.normalize():f} {progress.currency}")
    if progress.unanswered:
        parts.append(f"{progress.unanswered:,} requests without a reply that may have been paid")
    if progress.per_second:
        parts.append(f"{progress.per_second:,.1f} per second")
    if progress.eta_seconds is not None:
        parts.append(f"about {progress.eta_seconds:,.0f} s left")
    return ", ".join(parts)
