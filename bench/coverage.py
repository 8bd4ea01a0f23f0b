"""Do intervals that claim 95 % hold the truth in 95 % of cases? By simulation, as Markdown.

    .venv/bin/python -m bench.coverage > docs/coverage.md
    .venv/bin/python -m bench.coverage --section kappa --runs-percent 20 --processes 1

Every cell has a seed of its own, so it gives the same figures whatever else runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import defaultdict
from multiprocessing import get_context
from typing import Any, NamedTuple

# One thread per process: they would only wait for each other. Must be said before numpy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from bench.coverage_cells import Make, cells

SEED = 20260901
LOWEST, HIGHEST = 92.0, 97.0

INTRODUCTION = """\
# Do the intervals keep what they promise?

Made by `python -m bench.coverage` (see bench/README.md); don't edit. Data are made whose true value is known, the
functions of `alignment/` make their 95 % intervals, and it is counted how often these hold the truth. Each cell has
{runs} runs: with 1,000 a true 95.0 % comes out between 93.6 and 96.4, with 2,000 between 94.0 and 96.0.

**How to read a cell.** `94.8 ±0.35`: 94.8 % of the intervals held the truth, and their mean half-width was 0.35.
`(9)` behind it: 9 % of the runs had no interval, and don't count; where most had none, the rest are few, and chosen.
**Bold** is outside 92 to 97 %: above, an interval is wider than it must be; below, it claims more than it knows.
`off +0.02`: the estimates were 0.02 too high on average.

What is promised, and how often that held, is on [another page](promises.md).
"""

#: Sections in order: heading, text, and whether cells say how far off the estimates are on average.
SECTIONS: dict[str, tuple[str, str, bool]] = {
    "kappa": (
        "Cohen's kappa, two categories",
        """Two raters with the same share of the rarer category. With five units per sample, each unit repeats with
probability .5 what its sample's own draw was. Reports take the jackknife on the arctanh scale, with no interval where
fewer than five samples hold the rarer category; influence functions stand beside it.""",
        False,
    ),
    "alpha": (
        "Krippendorff's alpha (nominal) and Gwet's AC1, two categories",
        """The same data; by the jackknife, as in reports.""",
        False,
    ),
    "quadratic": (
        "Quadratic kappa, four levels",
        """Each rater sees a hidden level and names, with the probability of a slip, the one above or below.""",
        False,
    ),
    "shares": (
        "Shares",
        """TPR, TNR, accuracy, percent agreement. As in reports: exact (Clopper-Pearson), with five units per
sample of as many single trials as have the same error. An exact interval of few trials holds too often.""",
        False,
    ),
    "scores": (
        "ROC AUC and Spearman's correlation",
        """Scores are normal with standard deviation 1; those of passes and of fails lie *apart*. As in reports: for the
AUC influence functions on the logit scale; for Spearman the bootstrap with 30 samples, influence functions with
more.""",
        False,
    ),
    "corrected": (
        "The corrected rate (Rogan–Gladen)",
        """A judge with TPR .9 and TNR .8; 70 % of the answers are positive. Reports take
*exact* (Fieller's, of exact shares). *Labelled only*, which many tools do, resamples the labelled samples and takes the
judged share for certain. Runs in which the judge shows no signal are refused, and have no interval.""",
        False,
    ),
    "predicted": (
        "The predicted mean (PPI++)",
        """1,000 samples without labels. Skill 0 is a judge that says anything, .9 one that mostly follows people.""",
        False,
    ),
    "drawn": (
        "What to label next: weighted (Hájek) and unweighted figures of the same labels",
        """Of 2,000 samples, those of which the judge is unsure are drawn more often. Weighted figures are for all
samples; the unweighted ones, of the same labels, are wrong about them.""",
        True,
    ),
}


class Tally(NamedTuple):
    """One method in one cell: percent ``held`` of the runs with an interval, percent ``without`` one."""

    held: float
    without: float
    half_width: float
    off: float


class Job(NamedTuple):
    index: int
    make: Make
    given: tuple[Any, ...]
    runs: int


def simulate(job: Job) -> tuple[int, dict[str, Tally]]:
    """All runs of a cell."""
    warnings.simplefilter("error")
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(job.index,)))
    found: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for _ in range(job.runs):
        for method, (truth, estimate) in job.make(rng, *job.given).items():
            figures = (estimate.value, estimate.low, estimate.high)
            found[method].append((truth, *(np.nan if figure is None else figure for figure in figures)))
    return job.index, {method: tally(np.array(runs)) for method, runs in found.items()}


def tally(runs: np.ndarray) -> Tally:
    truth, value, low, high = runs.T
    there = ~np.isnan(low)
    held = (low <= truth) & (truth <= high)
    return Tally(
        held=100 * float(held[there].mean()) if there.any() else np.nan,
        without=100 * float((~there).mean()),
        half_width=float((high - low)[there].mean() / 2) if there.any() else np.nan,
        off=float(np.nanmean(value - truth)),
    )


def cell_text(found: Tally | None, off: bool) -> str:
    if found is None:
        return "—"
    if np.isnan(found.held):
        return "none"
    held = f"{found.held:.1f}"
    if not LOWEST <= round(found.held, 1) <= HIGHEST:
        held = f"**{held}**"
    text = f"{held} ±{found.half_width:.2f}"
    if found.without >= 0.5:
        text += f" ({found.without:.0f})"
    return f"{text}, off {found.off:+.3f}" if off else text


def table(rows: list[tuple[dict[str, Any], dict[str, Tally]]], off: bool) -> str:
    labels, methods = list(rows[0][0]), list(dict.fromkeys(method for _, found in rows for method in found))
    lines = ["| " + " | ".join(labels + methods) + " |", "|" + "---|" * (len(labels) + len(methods))]
    for row, found in rows:
        figures = [str(value) for value in row.values()] + [cell_text(found.get(method), off) for method in methods]
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
        Job(index, cell.make, cell.given, max(1, cell.runs * options.runs_percent // 100))
        for index, cell in enumerate(listed)
        if options.section in (None, cell.section)
    ]
    with get_context("spawn").Pool(options.processes) as pool:
        found = dict(pool.imap_unordered(simulate, jobs))
    counts = sorted({job.runs for job in jobs})
    runs = f"{counts[0]:,}" + (f" to {counts[-1]:,}" if len(counts) > 1 else "")
    print(INTRODUCTION.format(runs=runs))
    for section, (heading, text, off) in SECTIONS.items():
        rows = [(listed[job.index].row, found[job.index]) for job in jobs if listed[job.index].section == section]
        if rows:
            print(f"## {heading}\n\n{text}\n\n{table(rows, off)}\n")
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
