"""manage.py ask_target SLUG VERSION --set SET [--repeats N] [--failed-only] [--budget X] [--requests N] [--wait]"""

from __future__ import annotations

from random import Random
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.http import Http404

from annotate.core.errors import Refusal
from annotate.files.import_jobs import check_version
from annotate.projects.read import project_named
from judges.management.runs import NOT_DONE, RunCommand, amount_of
from systems.models import TargetRun
from systems.responses.versions import versions_named
from systems.targets.read import TargetProgress, frozen_asked, progress_of
from systems.targets.runs import Limits, Starting, start_run
from systems.targets.work import work


class Command(RunCommand):
    help = (
        "Ask a version of the system, at its target, the questions of a test set that it has no response to. --wait "
        "shows progress, and asks in this process if there is no worker. Exit code 0: everything was answered (without "
        "--wait: started); 1: some requests failed, or the run was stopped, paused or cancelled; 2: it could not start."
    )
    working = "asking"

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
            place = run.version.project_id
            come = self.wait(run, lambda: _look(run), lambda: work(place, rng=Random(), in_worker=False))
            if come.failed:
                said = f"{come.failed:,} requests failed. --failed-only asks them again."
                raise CommandError(said, returncode=NOT_DONE)


def _look(run: TargetRun) -> tuple[TargetProgress, str]:
    progress = progress_of(run)
    return progress, _line(progress)


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
            limits=Limits(amount_of(options["budget"]), options["requests"]),
        )


def _line(progress: TargetProgress) -> str:
    parts = [f"{progress.done:,} of {progress.planned:,} done"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.kept:
        parts.append(f"{progress.kept:,} from replies of before")
    if progress.cost:
        parts.append(f"cost {progress.cost.normalize():f}")
    return ", ".join(parts)
