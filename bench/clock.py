"""The clock jumps while people label and a judge runs: forward one day, and then back one hour.

    python -m bench.clock [machine|application]

machine: of all processes, PostgreSQL and Redis included. application: only of web and worker, so that they are a day
and then 23 hours ahead of the database. libfaketime answers them when they ask for the time (not for how long something
took: no real jump changes that). Labels are held against a journal, as in `bench.under_faults`; people pull them from a
queue, and after a jump somebody asks for a report. A day logs everybody out, after 12 hours; here sessions last longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.at_work import at_work, compare, desks_of
from bench.judges import endpoint_server, is_done, llm_version, samples_with_words_of_their_own, wait, worker
from bench.stage import (
    ROOT,
    demo_samples,
    figure,
    free_port,
    heading,
    import_rows,
    make_project,
    own_folder,
    same_services,
    web,
)

JUMPS = (("forward one day", "+24h"), ("back one hour", "+23h"))
EACH_SECONDS = 30
LATENCY, AT_ONCE = 0.2, 4
SAMPLES = 600
ANNOTATORS, TASKS_EACH = 8, 150


class Clock:
    """Of every process that is started from here on."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "clock"
        self.show("+0")
        spec = find_spec("libfaketime")
        assert spec is not None
        assert spec.submodule_search_locations
        library = Path(spec.submodule_search_locations[0]) / "vendor" / "libfaketime" / "src" / "libfaketime.so.1"
        os.environ.update(
            LD_PRELOAD=str(library),
            FAKETIME_TIMESTAMP_FILE=str(self._path),
            FAKETIME_CACHE_DURATION="1",
            FAKETIME_DONT_FAKE_MONOTONIC="1",
            NO_FAKE_STAT="1",
        )

    def show(self, offset: str) -> None:
        self._path.write_text(f"{offset}\n")


def main() -> None:
    if not sys.argv[1:]:
        # Django's settings name one database for the life of a process.
        each = [[sys.executable, "-m", "bench.clock", whose] for whose in ("machine", "application")]
        sys.exit(max(subprocess.run(command, cwd=ROOT).returncode for command in each))
    (whose,) = sys.argv[1:]
    port = free_port()
    os.environ["JUDGE_PRIVATE_HOSTS"] = f"127.0.0.1:{port}"
    with own_folder() as folder, endpoint_server(port, LATENCY), ExitStack() as stack:
        clock = Clock(folder) if whose == "machine" else None
        stack.enter_context(same_services())
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        from django.contrib.sessions.models import Session
        from django.db.models import F

        from annotate.projects.write import create_project

        project = create_project(slug="bench", spec={"name": "bench", "criteria": ["support"]})
        import_rows(project, "samples", samples_with_words_of_their_own(SAMPLES), folder)
        version = llm_version(project, port, at_once=AT_ONCE)
        people = make_project(
            "people",
            samples=demo_samples(ANNOTATORS * TASKS_EACH),
            criteria=["relevancy"],
            annotators=ANNOTATORS,
            folder=folder,
            strategy="pull",
        )
        Session.objects.update(expire_date=F("expire_date") + timedelta(days=30))
        clock = clock or Clock(folder)
        stack.enter_context(worker())
        running = stack.enter_context(web())
        heading(f"The clock of the {whose}")
        desks = desks_of(running.port, "people", people, folder)
        with at_work(desks):
            run = _jump(clock, version)
        lines = desks[0].journal.lines()
        sent = [line["status"] for line in lines if line["what"] == "reply"]
        figure("requests that failed", f"{len(sent) - sent.count(200)} of {len(sent)}", "0")
        kept = compare(lines, [line for desk in desks for line in desk.refused])
        sys.exit(0 if _scored_once(run) and kept else 1)


def _jump(clock: Clock, version: Any) -> Any:
    """Returns the run."""
    from judges.runs.write import start_run

    run = start_run(version=version, scope={"all": True})
    wait(lambda: _done_of(run) > 20)
    _phase("before", run)
    for name, offset in JUMPS:
        clock.show(offset)
        _phase(name, run)
    wait(lambda: is_done(run))
    return run


def _phase(name: str, run: Any) -> None:
    """A while by that clock, in which somebody asks for a report."""
    from annotate.models import Job, Project, User
    from judges.reports.requests import request_job

    before, began = _done_of(run), time.monotonic()
    criterion = Project.objects.get(slug="people").criteria.get(key="relevancy")
    job, _is_new = request_job(criterion=criterion, user=User.objects.order_by("pk")[0])
    wait(lambda: Job.objects.get(pk=job.pk).status not in ("waiting", "running"))
    job.refresh_from_db()
    report = f"{job.status} after {time.monotonic() - began:.1f} s"
    time.sleep(max(0.0, began + EACH_SECONDS - time.monotonic()))
    rate = (_done_of(run) - before) / (time.monotonic() - began)
    figure(f"{name}: the run", f"{rate:.1f} units/s of {AT_ONCE / LATENCY:.0f}")
    figure(f"{name}: a report", report, "done")


def _done_of(run: Any) -> int:
    return int(run.asks.filter(state="done").count())


def _scored_once(run: Any) -> bool:
    from judges.models import Score

    scores = Score.objects.filter(run=run, status="ok")
    units = scores.values("sample", "unit", "repeat").distinct().count()
    lost = run.asks.exclude(state="done", status="ok").count()
    figure("units of the run", f"{run.asks.count():,}, {lost} lost, {scores.count() - units} scored twice", "0 and 0")
    return not lost and scores.count() == units == run.asks.count()


if __name__ == "__main__":
    main()
