"""The heavy work on a large project: each part in a process of its own, with its time and its peak of memory.

    python -m bench.heavy DATA_DIR [part …]

DATA_DIR: a stopped installation of `bench.scale_data`, or better a copy of one, as rows are added. Without parts all of
them, in this order: next task, agreement, exports, reports, batch, run, import.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from bench.import_speed import peak_mib
from bench.scale_data import SLUG, samples
from bench.stage import ROOT, figure, heading, import_rows, median, own_services, percentile, same_services

PEOPLE, TAKES = 20, 15
MORE = 10_000
TURNS = 3


@contextmanager
def measured(name: str, aim: str = "") -> Iterator[list[str]]:
    """What is put into the list stands beside time and memory."""
    before, began, busy = peak_mib(), time.perf_counter(), time.process_time()
    said: list[str] = []
    yield said
    clock, spent = time.perf_counter() - began, time.process_time() - busy
    figure(
        name, f"{clock:.1f} s ({spent:.1f} s of ours), peak {peak_mib():,.0f} MiB ({before:,.0f}) {' '.join(said)}", aim
    )


def project() -> Any:
    from annotate.models import Project

    return Project.objects.get(slug=SLUG)


def next_task() -> None:
    """Of the queue and of given lists, by people who have labelled for months."""
    from annotate.models import Task
    from annotate.tasks.task_queue import take_task

    for batch in project().batches.filter(status="open").order_by("number"):
        times = []
        for user in batch.annotators.order_by("pk")[:PEOPLE]:
            for turn in range(TAKES):
                began = time.perf_counter()
                task = take_task(user=user, project=batch.project, batch_number=batch.number)
                if task is None:
                    break
                if turn > 1:
                    times.append((time.perf_counter() - began) * 1000)
                Task.objects.filter(pk=task["id"]).update(status="skipped", skip_reason="measured")
        done = Task.objects.filter(annotator=user, status="submitted").count()
        said = f"p50 {median(times):.1f} ms   p95 {percentile(times, 95):.1f} ms   {done:,} tasks each before"
        figure(f"next task, {batch.strategy}", said, "p95 ≤ 20 ms")


def agreement() -> None:
    from annotate.core.blindness import SYSTEM
    from annotate.verdicts.evidence_read import agreement as agreement_of

    for criterion in project().criteria.order_by("key"):
        with measured(f"agreement, {criterion.key}") as said:
            found = agreement_of(criterion, reader=SYSTEM)
            said.append(f"{found['ratings']:,} ratings, {len(found['pairs']):,} pairs")


def _exported(file_format: str, rows: str | None) -> None:
    from annotate.files.releases import make_release

    with measured(f"export of {rows or 'verdicts'}, {file_format}", "≤ 300 MB") as said:
        began = time.perf_counter()
        release = make_release(
            project=project(), user=None, file_format=file_format, filters={"rows": rows} if rows else {}
        )
        count = release.manifest["rows"]
        said.append(f"{count:,} rows, {count / (time.perf_counter() - began):,.0f}/s")


def _reported(key: str) -> None:
    from judges.reports.write import freeze_report

    with measured(f"report, {key}", "≤ 60 s, ≤ 2 GB") as said:
        report = freeze_report(criterion=project().criteria.get(key=key))
        said.append(f"{len(report.evidence) / 1e6:,.0f} MB of evidence")


def batch() -> None:
    from annotate.batches.steps import open_batch
    from annotate.batches.write import create_batch

    where = project()
    tenth = where.samples.count() // 10
    people = [one.user for one in where.memberships.filter(role="annotator").select_related("user")]
    given = {"criteria": list(where.criteria.all()), "annotators": people, "overlap": 2, "seed": 1}
    with measured(f"batch of {tenth:,}, created"):
        made = create_batch(project=where, name="Tenth", selection={"method": "random", "n": tenth}, **given)
    with measured(f"batch of {tenth:,}, opened") as said:
        open_batch(batch=made)
        said.append(f"{made.tasks.count():,} tasks")


def run() -> None:
    """Until what is to be asked first can be taken."""
    from judges.runs.queue import take
    from judges.runs.write import cancel_run, start_run
    from judges.versions.write import create_judge

    config = {"measure": "token_overlap", "unit": "claim", "dimension": "overlap"}
    judge = create_judge(project=project(), name="overlap", kind="lexical", config=config)
    with measured("run of a judge on all, started"):
        started = start_run(version=judge.versions.get(), scope={"all": True})
    with measured("  its first asks"):
        take(started.pk, 64)
    cancel_run(run=started, actor=None)


def imported() -> None:
    """10,000 more samples, and as many into an empty project, in turns."""
    from annotate.projects.write import create_project

    folder = Path(os.environ["DATA_DIR"])
    times: dict[str, list[float]] = {"more": [], "empty": []}
    for turn in range(TURNS):
        empty = create_project(slug=f"empty-{turn}", spec={"name": "Empty", "criteria": ["support"]})
        for name, where in (("more", project()), ("empty", empty)):
            rows = [{**row, "id": f"{turn}-{row['id']}"} for row in islice(samples(MORE), MORE)]
            began = time.perf_counter()
            import_rows(where, "samples", rows, folder)
            times[name].append(time.perf_counter() - began)
    figure("import, more and into an empty one", f"{min(times['more']):.1f} s, {min(times['empty']):.1f} s")
    figure("  of the best of each", f"{min(times['more']) / min(times['empty']):.2f} times as long", "≤ 1.5")


PARTS: dict[str, Callable[[], None]] = {
    "next-task": next_task,
    "agreement": agreement,
    "export-verdicts": lambda: _exported("jsonl", None),
    "export-samples": lambda: _exported("jsonl", "samples"),
    "report-grade": lambda: _reported("grade"),
    "report-support": lambda: _reported("support"),
    "batch": batch,
    "run": run,
    "import": imported,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=list(PARTS))
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        with same_services():
            PARTS[asked.parts[0]]()
        return
    with own_services(asked.folder):
        heading(f"{project().samples.count():,} samples")
        for part in asked.parts:
            subprocess.run(
                [sys.executable, "-m", "bench.heavy", str(asked.folder), part, "--here"], cwd=ROOT, check=False
            )


if __name__ == "__main__":
    main()
