"""How fast retrieval over all relevant documents is measured, beside `ir-measures` alone.

    python -m bench.retrieval_speed [--questions 50000] [--documents 100]

A ranking of so many documents for each question, with twenty judged, on grades from 0 to 3. `ir-measures` is given the
same numbers as the dictionaries that it asks for, and computes the same measures of each question, without intervals.
Then a tenth of the questions, for the growth. No services: `alignment` alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import ir_measures
import numpy as np
from ir_measures import AP, RR, Judged, P, R, Rprec, Success, nDCG

from alignment import retrieval_figures
from bench.import_speed import peak_mib
from bench.stage import figure, heading

SEED = 20260901
K = 10
JUDGED = 20
MEASURES = [P @ K, R @ K, Success @ K, RR, AP, nDCG @ K, Rprec, Judged @ K]


def truth(questions: int, documents: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Grades and rankings; half of what is judged is retrieved."""
    rng = np.random.default_rng(SEED)
    names = [f"doc-{number}" for number in range(documents + JUDGED // 2)]
    grades, rankings = {}, {}
    for number in range(questions):
        order = rng.permutation(len(names))
        judged = order[rng.permutation(len(names))[:JUDGED]]
        grades[f"q{number}"] = dict(zip((names[at] for at in judged), rng.integers(0, 4, JUDGED).tolist(), strict=True))
        rankings[f"q{number}"] = [names[at] for at in order[:documents]]
    return grades, rankings


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of processors."""
    began, busy = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - began, time.process_time() - busy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=50_000)
    parser.add_argument("--documents", type=int, default=100)
    asked = parser.parse_args()
    heading(f"{asked.questions:,} questions, {asked.documents} documents for each")
    grades, rankings = truth(asked.questions, asked.documents)

    def alone() -> None:
        run = {
            question: {document: -float(rank) for rank, document in enumerate(ranking)}
            for question, ranking in rankings.items()
        }
        for _ in ir_measures.iter_calc(MEASURES, grades, run):
            pass

    few = dict(list(rankings.items())[: asked.questions // 10])
    _, tenth = timed(lambda: retrieval_figures({name: grades[name] for name in few}, few, k=K))
    plain, of_processors = timed(alone)
    figure("ir-measures alone", f"{plain:.2f} s ({of_processors:.2f} s of processors)")
    ours, busy = timed(lambda: retrieval_figures(grades, rankings, k=K))
    figure("with means and intervals", f"{ours:.2f} s ({busy:.2f} s of processors)")
    # By processor time, which other programs change less.
    figure("as a multiple", f"{busy / of_processors:.2f}", "2")
    figure("ten times the questions", f"{busy / tenth:.1f} times as long", "12")
    figure("peak memory", f"{peak_mib():,.0f} MiB")


if __name__ == "__main__":
    main()
