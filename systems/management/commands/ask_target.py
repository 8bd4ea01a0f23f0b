"""manage.py ask_target SLUG VERSION --set SET [--repeats N] [--failed-only] [--budget X] [--requests N] [--wait]"""

from __future__ import annotations

import time
from decimal import Decimal, InvalidOperation
from random import Random
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.http import Http404

from annotate.core.errors import Refusal
from annotate.files.import_jobs import check_version
from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from judges.models import RunState
from systems.models import TargetRun
from systems.responses.versions import versions_named
from systems.targets.read import TargetProgress, frozen_asked, progress_of
from systems.targets.runs import Limits, Starting, start_run
from systems.targets.work import work

# It ended, but not as done, or some of its requests failed; and it didn't begin.
NOT_DONE, NOT_STARTED = 1, 2
_LOOK_SECONDS = 0.5
# For so long a worker may take to come before this process asks by itself.
_PATIENCE_SECONDS = 3.0


class Command(OneLineCommand):
    help = (
        "Ask a version of the system, at its target, the questions of a test set that it has no response to. --wait "
        "shows progress, and asks in this process if there is no worker. Exit code 0: everything was answered (without "
        "--wait: started); 1: some requests failed, or the run was stopped, paused or cancelled; 2: it could not start."
    )
    refused = NOT_STARTED

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project")
        parser.add_argument("version", help="the version of the system; it is made if it isn't there")
        parser.add_argument("--set", required=True, help="the test set: a number such as support@1, or its newest")
        parser.add_argument("--repeats", type=int, default=1, metavar="N", help="ask each question this many times")
        parser.add_argument("--failed-only", action="store_true", help="ask again what failed, and nothing else")
        parser.add_argument("--budget", metavar="AMOUNT", help="stop at this cost, in the currency of the prices")
        parser.add_argument("--requests", type=int, metavar="N", help="stop after so many requests")
        parser.add_argument("--wait", action="store_true", help="wait until the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        started = _started(options)
        run, what = started.run, f"“{options['version']}” on {started.run.frozen_set.manifest['set']}"
        how = f"{run.planned:,} to ask" if started.is_new else "it is under way already"
        self.stdout.write(f"Run {run.pk} of {what}: {how}.")
        if options["wait"]:
            try:
                self._wait(run)
            except Refusal as refusal:
                raise CommandError(refusal.message, returncode=NOT_DONE) from refusal

    def _wait(self, run: TargetRun) -> None:
        without_worker_since: float | None = None
        shown = ""
        while True:
            run.refresh_from_db()
            progress = progress_of(run)
            if (line := _line(progress)) != shown:
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
                self.stdout.write("No worker found; asking in this process.")
                work(run.version.project_id, rng=Random(), in_worker=False)
                continue
            time.sleep(_LOOK_SECONDS)
        if run.state != RunState.DONE:
            raise CommandError(
                run.stop_message or f"The run is {run.get_state_display().lower()}.", returncode=NOT_DONE
            )
        if progress.failed:
            raise CommandError(
                f"{progress.failed:,} requests failed. --failed-only asks them again.", returncode=NOT_DONE
            )


def _started(options: dict[str, Any]) -> Starting:
    project = project_named(options["slug"])
    name = check_version(options["version"])
    try:
        frozen = frozen_asked(project, options["set"])
    except Http404 as error:
        raise Refusal("unknown_set", str(error)) from error
    with transaction.atomic():
        return start_run(
            actor=None,
            version=versions_named(project, [name])[name],
            frozen_set=frozen,
            repeats=options["repeats"],
            only_failed=options["failed_only"],
            limits=Limits(_amount(options["budget"]), options["requests"]),
        )


def _amount(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        raise Refusal("bad_budget", "--budget takes an amount, such as 2.50.") from None


def _line(progress: TargetProgress) -> str:
    parts = [f"{progress.done:,} of {progress.planned:,} done"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.kept:
        parts.append(f"{progress.kept:,} from replies of before")
    if progress.cost:
        parts.append(f"cost {progress.cost.normalize():f}")
    return ", ".join(parts)
