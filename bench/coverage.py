"""Do intervals that claim 95 % hold the truth in 95 % of cases? By simulation, into docs/coverage.md.

    python -m bench.coverage [--runs-percent 100] [--section kappa] [--processes 2]

Seeds are fixed per cell, so the same cell gives the same figures whatever else runs. With ``--section`` or fewer runs
the table goes to the screen only.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

# One thread per process: they would only wait for each other. Must be said before numpy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from bench.coverage_cells import cells

PAGE = Path(__file__).resolve().parent.parent / "docs" / "coverage.md"
SEED = 20260901
LOWEST, HIGHEST = 92.0, 97.0

INTRODUCTION = """\
# Do the intervals keep what they promise?

Made by `python -m bench.coverage` (see bench/README.md); don't edit. Data are made whose true value is known, the
functions of `alignment/` make their 95 % intervals, and it is counted how often these hold the truth. Each cell has
{runs} runs; with 1,000 a true 95.0 % comes out between 93.6 and 96.4.

**How to read a cell.** `94.8 ±0.35`: 94.8 % of the intervals held the truth, and their mean half-width was 0.35.
`(9)` behind it: 9 % of the runs had no interval, and don't count. **Bold** is outside 92 to 97 %. Above 97 % an
interval is wider than it must be; below 92 % it claims more than it knows.

**auto** is what every report uses. *influence* and *bootstrap* are the textbook's intervals, for comparison.
"""

SECTIONS = {
    "kappa": """Cohen's kappa, two categories

Two raters with the same share of the rarer category. With five units per sample, each unit repeats with probability .5
what its sample's own draw was.""",
    "alpha": """Krippendorff's alpha (nominal) and Gwet's AC1, two categories

The same data.""",
    "quadratic": """Quadratic kappa, four levels

Each rater sees a hidden level and names, with the probability of a slip, the one above or below.""",
    "shares": """Shares

TPR, TNR, accuracy, percent agreement. With one unit per sample, auto is Wilson's interval.""",
    "scores": """ROC AUC and Spearman's correlation

Normal scores two standard deviations apart for passes and fails; 20 % are passes.""",
    "corrected": """The corrected rate (Rogan–Gladen)

A judge with TPR .9 and TNR .8; 70 % of the answers are positive. *Labelled only* resamples the labelled samples and
takes the judged share for certain. Runs in which the judge shows no signal are refused, and have no interval.""",
    "predicted": """The predicted mean (PPI++)

1,000 samples without labels. Skill 0 is a judge that says anything, .9 one that mostly follows people.""",
    "drawn": """Draws with unequal chances

Of 2,000 samples, those of which the judge is unsure are drawn more often. Weighted figures are for all samples; the
unweighted ones, from the same labels, are wrong about them.""",
}


class Tally(NamedTuple):
    """One method in one cell: shares in percent, ``held`` of the runs with an interval."""

    held: float
    without: float
    half_width: float


class Job(NamedTuple):
    index: int
    make: Any
    given: tuple[Any, ...]
    runs: int


def simulate(job: Job) -> tuple[int, dict[str, Tally]]:
    """All runs of a cell."""
    warnings.simplefilter("error")
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(job.index,)))
    found: dict[str, list[tuple[float, float | None, float | None]]] = defaultdict(list)
    for _ in range(job.runs):
        for method, (truth, estimate) in job.make(rng, *job.given).items():
            found[method].append((truth, estimate.low, estimate.high))
    return job.index, {method: tally(runs) for method, runs in found.items()}


def tally(runs: list[tuple[float, float | None, float | None]]) -> Tally:
    there = [(truth, low, high) for truth, low, high in runs if low is not None and high is not None]
    held = [low <= truth <= high for truth, low, high in there]
    half = [(high - low) / 2 for _, low, high in there]
    return Tally(100 * float(np.mean(held)), 100 * (1 - len(there) / len(runs)), float(np.mean(half)))


def cell_text(found: Tally) -> str:
    held = f"{found.held:.1f}"
    if not LOWEST <= found.held <= HIGHEST:
        held = f"**{held}**"
    text = f"{held} ±{found.half_width:.2f}"
    return f"{text} ({found.without:.0f})" if found.without >= 0.5 else text


def table(rows: list[tuple[dict[str, Any], dict[str, Tally]]]) -> str:
    labels, methods = list(rows[0][0]), list(rows[0][1])
    head = "| " + " | ".join(labels + methods) + " |"
    lines = [head, "|" + "---|" * (len(labels) + len(methods))]
    for row, found in rows:
        figures = [str(value) for value in row.values()] + [cell_text(found[method]) for method in methods]
        lines.append("| " + " | ".join(figures) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs-percent", type=int, default=100)
    parser.add_argument("--section", choices=list(SECTIONS))
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    began = time.perf_counter()
    listed = list(cells())
    jobs = [
        Job(index, make, given, max(1, runs * options.runs_percent // 100))
        for index, (section, _, (make, given), runs) in enumerate(listed)
        if options.section in (None, section)
    ]
    with get_context("spawn").Pool(options.processes) as pool:
        found = dict(pool.imap_unordered(simulate, jobs))
    everyone = sorted({job.runs for job in jobs})
    parts = [INTRODUCTION.format(runs=f"{everyone[0]:,} to {everyone[-1]:,}" if len(everyone) > 1 else everyone[0])]
    for section, text in SECTIONS.items():
        rows = [(listed[job.index][1], found[job.index]) for job in jobs if listed[job.index][0] == section]
        if rows:
            parts.append(f"## {text}\n\n{table(rows)}\n")
    page = "\n".join(parts)
    if options.section or options.runs_percent < 100:
        print(page)
    else:
        PAGE.write_text(page, encoding="utf-8")
        print(f"Wrote {PAGE}")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
