"""manage.py run_judge SLUG JUDGE [--batch B] [--repeats N] [--again] [--budget X] [--wait]"""

from __future__ import annotations

from argparse import ArgumentParser
from random import Random
from typing import Any

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Refusal
from annotate.projects.read import project_named
from judges.core.scores_read import current_version
from judges.management.runs import RunCommand, amount_of
from judges.models import Run
from judges.runs.places import place_of
from judges.runs.read import RunProgress, findings_of, progress_of
from judges.runs.work import work
from judges.runs.write import start_run
from judges.versions.read import judge_named


class Command(RunCommand):
    help = (
        "Run the active version of a judge. --wait shows progress, and runs it in this process if there is no "
        "worker. Exit code 0: the run is done (without --wait: started); 1: it was "
        "stopped, paused or cancelled; 2: it could not start."
    )
    working = "running"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("judge", help="the judge's name")
        scope = parser.add_mutually_exclusive_group()
        scope.add_argument("--batch", type=int, metavar="NUMBER", help="only the samples of this batch")
        scope.add_argument("--pipeline", metavar="VERSION", help="only the samples of this pipeline version")
        parser.add_argument("--repeats", type=int, default=1, metavar="N", help="score each unit this many times")
        parser.add_argument("--again", action="store_true", help="score units again that have scores")
        parser.add_argument("--fresh", action="store_true", help="ignore cached replies")
        parser.add_argument("--budget", metavar="AMOUNT", help="stop at this budget, in the endpoint's currency")
        parser.add_argument("--wait", action="store_true", help="wait until the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        run = _started(options)
        to_ask = f"{run.planned:,} to process" if run.is_laid else "the worker is counting what to process"
        self.stdout.write(f"Run {run.pk} of “{options['judge']}”: {to_ask}.")
        if options["wait"]:
            self.wait(run, lambda: _look(run), lambda: work(place_of(run), rng=Random(), in_worker=False))


def _look(run: Run) -> tuple[RunProgress, str]:
    progress = progress_of(run)
    return progress, _line(progress, findings_of(run, reader=SYSTEM) or {})


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
        budget=amount_of(options["budget"]),
    )


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
