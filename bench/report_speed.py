"""How long a report takes in the worker, and its pages from what is frozen.

    python -m bench.report_speed [--samples 5000] [--per-unit 3]

5 judges, 10 raters, 5 options in order of which two pass; every answer is rated by 3 of the raters, or by as many as
one asks for. Judges follow the hidden value with more or less noise. Metadata of 2, 4 and 12 values make the slices.
The worker's own process is this one; what is loaded once per process is timed apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.import_speed import peak_mib
from bench.stage import figure, heading, import_rows, own_services, pages, session_of, web

SEED = 20260901
RATERS, JUDGES = 10, 5
CRITERION = "grade"
PARTS = ("", "judge/", "annotators/", "compare/", "triage/", "planner/")


def samples(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {
            "id": f"s{number:06}",
            "question": f"What does rule {number} say?",
            "answer": f"Rule {number} says what it says. " * 5,
            "metadata": {"long": bool(number % 2), "source": f"desk {number % 4}", "topic": f"topic {number % 12}"},
        }


def labels(truth: np.ndarray, per_unit: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for number, value in enumerate(truth):
        for rater in rng.permutation(RATERS)[:per_unit]:
            said = int(np.clip(value + rng.choice([-1, 0, 0, 0, 1]), 1, 5))
            yield {"sample_id": f"s{number:06}", "rater": f"rater {rater}", "criterion": CRITERION, "value": said}


def scores(truth: np.ndarray, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for judge in range(JUDGES):
        said = np.round((truth + rng.normal(0, 0.4 + 0.5 * judge, truth.size)) / 6, 4)
        for number, value in enumerate(said):
            row = {"sample_id": f"s{number:06}", "judge": f"judge {judge}", "unit": "answer", "criterion": CRITERION}
            yield {**row, "score": float(value)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--per-unit", type=int, default=3, help=f"raters of each answer, at most {RATERS}")
    asked = parser.parse_args()
    with own_services() as folder:
        from django.db import connection

        from annotate.models import User
        from annotate.models.project import Role
        from annotate.projects.write import create_project, set_member

        options = [{"value": value} for value in range(1, 6)]
        spec = {"key": CRITERION, "unit": "answer", "scale": "ordinal", "prompt": "How good?", "options": options}
        project = create_project(slug="reports", spec={"name": "Reports", "criteria": [{**spec, "pass": [4, 5]}]})
        rng = np.random.default_rng(SEED)
        truth = rng.integers(1, 6, asked.samples)
        import_rows(project, "samples", samples(asked.samples), folder)
        import_rows(project, "labels", labels(truth, asked.per_unit, rng), folder)
        import_rows(project, "scores", scores(truth, rng), folder)
        admin = User.objects.create_user("admin")
        set_member(project=project, user=admin, role=Role.ADMIN)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        heading(f"{JUDGES} judges, {RATERS} raters, {asked.samples:,} samples, {asked.per_unit} labels each")
        _freeze(project)
        with web() as running:
            pages(running, session_of(admin), f"/p/reports/reports/{CRITERION}/", PARTS)


def _freeze(project: Any) -> None:
    began = time.perf_counter()
    from frontend.reports.plots.differences import differences_plot  # noqa: F401
    from judges.reports.write import freeze_report

    figure("load the statistics", f"{time.perf_counter() - began:.2f} s")
    criterion = project.criteria.get(key=CRITERION)
    for name in ("first report of a process", "second"):
        criterion.reports.all().delete()
        began, busy = time.perf_counter(), time.process_time()
        report = freeze_report(criterion=criterion)
        clock, spent = time.perf_counter() - began, time.process_time() - busy
        figure(name, f"{clock:.2f} s ({spent:.2f} s of processors)", "5 s")
    result, plots = len(str(report.result)), sum(map(len, report.plots.values()))
    figure("frozen", f"{result / 1000:,.0f} kB of figures, {plots / 1000:,.0f} kB in {len(report.plots)} plots")
    figure("peak memory", f"{peak_mib():,.0f} MiB")


if __name__ == "__main__":
    main()
