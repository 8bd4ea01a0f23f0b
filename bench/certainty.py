"""What the procedures achieve: simulations with known truth and a fixed seed; they print docs/certainty.md.

    python -m bench.certainty [--runs 1.0] > docs/certainty.md

Nothing here needs a database or a browser. ``--runs`` scales how often everything is drawn, for a quick look. The same
versions of numpy and scipy give the same page.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr

from alignment import (
    CrossFit,
    DriftWatch,
    at_threshold,
    calibration_figures,
    cross_fit,
    dev_test_split,
    risk_coverage,
    sweep,
    watch_drift,
)
from alignment.base.arrays import Bools, Floats, Ints
from bench.promises.regions import SHAPES, Region, certified, luck
from bench.promises.streaks import audit

SEED = 20260601

INTRODUCTION = f"""\
# What dev and test, regions, drift and calibration achieve

Made by `python -m bench.certainty > docs/certainty.md` (see bench/README.md), seed {SEED}; don't edit. Each
table draws data of which the truth is known, again and again. What is promised, and how often that held, is on [another
page](promises.md); this one says what comes of it. A share p of R runs is itself uncertain by about ± 2√(p(1 − p)/R).
"""
OPTIMISM = """\
## Dev and test against best on all

A judge's scores are normal with standard deviation 1, higher by *strength* for what people pass (half of the units; 0
is a judge that knows nothing). *Best on all* chooses the threshold of greatest kappa and measures on the same samples;
*dev and test* chooses on one half and measures on the other; *cross-fitted* lets each fifth of all be judged by a
threshold chosen on the rest. **Optimism** is the kappa shown less the true kappa of the threshold in question (for
cross-fitting: of the one chosen on all), on average. It should be 0. **Held** is how often the 95 % interval of the
test half held the true kappa. Runs in which kappa or a calibration is undefined are left out: cross-fitting refuses a
tenth of the judges that know nothing, the unlucky ones, which leaves it a little above 0 with 40 samples.
"""
REGIONS = """\
## How often there is a region

The judge errs the less the farther a score lies from the threshold (*sharp*, *fair*, *blunt*). *Pass*: the share that
people pass. How decisions lie in groups is said [beside the promise](promises.md#what-a-judge-may-decide-alone), which
is about regions that are wrong to certify. Steps come from a dev part of the same size. *Kept*: the share of decisions
that the region leaves to the judge, 0 where there is none.
"""
POWER = """\
## How soon drift is found

When 5 % were certified. Before the change 3 % are wrong; up to 2,000 samples come after it. First until the gate stops,
since it may be a change or a streak, then until the alarm, which holds for both.
"""
INTERVALS = """\
## Intervals of calibration figures

How often 95 % intervals held the truth, for probabilities that are somewhat too sure (Brier, log loss), and for the
area under risk over coverage.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    share = parser.parse_args().runs
    parts = [INTRODUCTION]
    for number, section in enumerate((optimism, regions, drift, intervals)):
        started = time.monotonic()
        # Each section has a stream of its own: changing one leaves the others as they are.
        parts.extend(section(np.random.default_rng([SEED, number]), share))
        print(f"{section.__name__}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(parts), end="")


# Dev and test


def optimism(rng: np.random.Generator, share: float) -> Iterator[str]:
    yield OPTIMISM
    rows = []
    runs = _times(1000, share)
    for strength, samples, per_sample in ((0, 40, 1), (0, 100, 1), (1, 40, 1), (1, 100, 1), (1, 400, 1), (1, 100, 5)):
        shown = {name: [] for name in ("all", "test", "crossed")}
        held = tried = 0
        for _ in range(runs):
            score, human, cluster = _scores(rng, strength, samples, per_sample)
            best = sweep(score, human)
            dev = dev_test_split(cluster.tolist(), human.tolist(), int(rng.integers(2**31)))
            chosen = sweep(score[dev], human[dev])
            if best.best_threshold is None or best.best_kappa is None or chosen.best_threshold is None:
                continue
            truth = _true_kappa(best.best_threshold, strength)
            shown["all"].append(best.best_kappa - truth)
            crossed = cross_fit("threshold", score, human, cluster, rng=rng)
            if isinstance(crossed, CrossFit):
                kappa = calibration_figures(crossed.verdict, human, cluster, interval="none").kappa.value
                shown["crossed"].append((kappa or 0.0) - truth)
            found = at_threshold(score[~dev], human[~dev], cluster[~dev], chosen.best_threshold, rng=rng).kappa
            truth = _true_kappa(chosen.best_threshold, strength)
            if found.value is not None:
                shown["test"].append(found.value - truth)
            if found.low is not None and found.high is not None:
                tried += 1
                held += found.low <= truth <= found.high
        cells = [
            f"{np.mean(values):+.3f} ± {2 * np.std(values) / np.sqrt(len(values)):.3f}" for values in shown.values()
        ]
        rows.append([strength, samples, per_sample, *cells, _percent(held, tried)])
    yield _table(
        ["strength", "samples", "units each", "best on all", "dev and test", "cross-fitted", "held"],
        rows,
        f"{runs:,} runs",
    )


def _scores(rng: np.random.Generator, strength: float, samples: int, per_sample: int) -> tuple[Floats, Bools, Ints]:
    cluster = np.repeat(np.arange(samples), per_sample)
    human = rng.random(cluster.size) < 0.5
    return strength * human + luck(rng, cluster, 0.5 if per_sample > 1 else 0.0), human, cluster


def _true_kappa(threshold: float, strength: float) -> float:
    """With half of the units passing, kappa is TPR + TNR - 1."""
    return float(ndtr(threshold) - ndtr(threshold - strength))


# Regions


def regions(rng: np.random.Generator, share: float) -> Iterator[str]:
    runs = _times(500, share)
    yield REGIONS
    scenarios = [
        *((judge, 0.5, groups, "single") for judge in ("sharp", "fair", "blunt") for groups in (100, 300, 1000)),
        *((judge, 0.8, groups, shape) for judge in ("sharp", "fair") for groups in (300, 1000) for shape in SHAPES),
        *((judge, 0.8, 3000, "drawn") for judge in ("sharp", "fair")),
    ]
    rows = []
    for judge, passed, groups, shape in scenarios:
        kept = np.array([certified(rng, Region(judge, passed, groups, shape))[0] for _ in range(runs)])
        found = _percent(np.count_nonzero(kept), runs)
        rows.append([judge, f"{passed:.0%}", groups, shape, found, f"{kept.mean():.0%}"])
    yield _table(["judge", "pass", "groups", "decisions", "a region", "kept on average"], rows, f"{runs:,} runs")


# Drift


def drift(rng: np.random.Generator, share: float) -> Iterator[str]:
    yield POWER
    rows = []
    runs = _times(300, share)
    for true in (0.075, 0.1, 0.15, 0.25, 0.9):
        cells = []
        for good in (0, 200, 1000):
            delays: list[tuple[float, float]] = []
            for _ in range(runs):
                rate = np.concatenate([np.full(good, 0.03), np.full(2000, true)])
                watch = watch_drift(*audit(rng, rate, "single"), np.arange(rate.size), 0.05)
                alarm = np.inf if watch.alarm is None else watch.alarm
                if good <= min(_stop(watch), alarm):
                    delays.append((min(_stop(watch), alarm) - good + 1, alarm - good + 1))
            stop, alarm = np.median(delays, axis=0)
            found = _percent(np.isfinite(delays)[:, 1].sum(), len(delays))
            cells.append(f"{stop:,.0f}, {alarm:,.0f} ({found})")
        rows.append([f"{true:.1%}", *cells])
    yield _table(
        ["wrong after the change", "changed from the start", "after 200 samples", "after 1,000 samples"],
        rows,
        f"Samples until the alarm, median of {runs:,} runs (share found within 2,000)",
    )


def _stop(watch: DriftWatch) -> float:
    """The first look at which as much was wrong as would be an alarm, had errors not come in a row."""
    reached = np.flatnonzero(watch.log_e >= np.log(20))
    return float(reached[0]) if reached.size else np.inf


# Intervals


def intervals(rng: np.random.Generator, share: float) -> Iterator[str]:
    yield INTERVALS
    runs = _times(1000, share)
    large = _forecasts(rng, 1_000_000, 1)
    truth = _figures(*large, None)
    rows = []
    for samples, per_sample in ((40, 1), (100, 1), (400, 1), (2000, 1), (100, 5), (400, 5)):
        held = dict.fromkeys(truth, 0)
        tried = dict.fromkeys(truth, 0)
        for _ in range(runs):
            found = _figures(*_forecasts(rng, samples, per_sample), rng)
            for name, estimate in found.items():
                if estimate.low is not None:
                    tried[name] += 1
                    held[name] += estimate.low <= truth[name].value <= estimate.high
        rows.append([samples, per_sample, *(_percent(held[name], tried[name]) for name in truth)])
    yield _table(["samples", "units each", *truth], rows, f"{runs:,} runs")


def _forecasts(rng: np.random.Generator, samples: int, per_sample: int) -> tuple[Floats, Bools, Ints]:
    """Probabilities of which the true ones lie nearer to one half by a third, on the scale of the normal quantile."""
    cluster = np.repeat(np.arange(samples), per_sample)
    height = 1.5 * rng.normal(size=cluster.size)
    passed = luck(rng, cluster, 0.5 if per_sample > 1 else 0.0) < height / 1.5
    return ndtr(height), passed, cluster


def _figures(probability: Floats, human: Bools, cluster: Ints, rng: np.random.Generator | None) -> dict[str, Any]:
    """With the intervals of reports where there is a generator, else without any."""
    how: dict[str, Any] = {"interval": "none"} if rng is None else {"interval": "auto", "rng": rng}
    figures = calibration_figures(probability >= 0.5, human, cluster, probability=probability, **how)
    aurc = risk_coverage(probability, human, cluster, 0.5, **how).aurc
    return {
        "kappa": figures.kappa,
        "Brier": figures.brier,
        "log loss": figures.log_loss,
        "AURC": aurc,
    }


# The page


def _times(runs: int, share: float) -> int:
    return max(20, round(runs * share))


def _percent(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "—"


def _table(head: list[str], rows: list[list[object]], note: str) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + f"\n\n{note}.\n"


if __name__ == "__main__":
    main()
