"""Do the promises of the statistics hold? Simulations with known truth and a fixed seed; they print docs/certainty.md.

    python -m bench.certainty [--runs 1.0] > docs/certainty.md

Nothing here needs a database or a browser. ``--runs`` scales how often everything is drawn, for a quick look. The same
versions of numpy and scipy give the same page.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from alignment import (
    CrossFit,
    DriftWatch,
    at_threshold,
    calibration_figures,
    certified_region,
    cross_fit,
    dev_test_split,
    distance_steps,
    level_of_look,
    risk_coverage,
    sweep,
    watch_drift,
)
from alignment.base.arrays import Bools, Floats, Ints

SEED = 20260601

INTRODUCTION = f"""\
# Do the figures keep their promises?

Made by `python -m bench.certainty > docs/certainty.md` (see bench/README.md), seed {SEED}; don't edit. Each
table draws data of which the truth is known, again and again, and counts how often a promise of [the
statistics](statistics.md) is kept. A share p of R runs is itself uncertain by about ± 2√(p(1 − p)/R).
"""
OPTIMISM = """\
## Dev and test against best on all

A judge's scores are normal with standard deviation 1, higher by *strength* for what people pass (half of the units; 0
is a judge that knows nothing). *Best on all* chooses the threshold of greatest kappa and measures on the same samples;
*dev and test* chooses on one half and measures on the other; *cross-fitted* lets each fifth of all be judged by a
threshold chosen on the rest. **Optimism** is the kappa shown less the true kappa of the threshold in question (for
cross-fitting: of the one chosen on all), on average. It should be 0. **Held** is how often the 95 % interval of the
test half held the true kappa. Runs in which kappa or a calibration is undefined are left out: cross-fitting refuses a
tenth of the judges that know nothing, the unlucky ones, which leaves it the +0.02 of 40 samples.
"""
REGIONS = """\
## Certified regions

The judge errs the less the farther a score lies from the threshold (*sharp*, *fair*, *blunt*), or it passes just more
than is allowed of what people fail, whatever the score, and nothing else is wrong (*flat*: then every region would be
wrong to certify). *Pass*: the share that people pass. Of five decisions of a group the luck is shared by half (*five*),
or entirely (*copies*); *uneven* groups have 1 to 9 decisions, and the larger are worse; *lognormal* ones have 1 to 52,
and only the largest 30 % err, each wrong or right as a whole; *drawn* are single decisions of which all that the judge
fails are labelled, and a fifth of what it passes, with these chances. Steps come from a dev part of the same size.
**Broken** is in how many runs a region was certified in which truly more than the risk asked for is passed of what
people fail, or failed of what they pass, as a mean over groups: at most 5 % is promised. *Naive* takes the widest
region in which no more was observed, labels unweighted.
"""
LEVELS = """\
Other risks, and levels of confidence other than 95 %: **broken** is to stay at or below *allowed*.
"""
DRIFT = """\
## Drift, looked at 1,000 times

1,000 audited samples arrive one by one, and after each somebody looks. While the true error rate is the certified one
(or below), the chance of an alarm at *any* look is to be at most 5 %, also where the rate is unchanged and errors come
30 in a row (*streaks*). **Can't tell**: in how many runs the watch ever said that a rise can't be told from a streak.
*Naive* is an exact binomial test at 5 %, repeated at every look. *Sequence held*: the running interval held the true
rate at all 1,000 looks, promised in 95 % while errors are not chained.
"""
POWER = """\
How soon a change is found, when 5 % were certified. Before the change 3 % are wrong; up to 2,000 samples come after it.
First until the gate stops, since it may be a change or a streak, then until the alarm, which holds for both.
"""
LOOKS = """\
## Looks at the locked test

The same samples of test serve for 20 versions of a judge, each somewhat different, one look each. *Good* versions are
right in 80 to 90 % of samples, *very good* ones in 90 to 99 %; people pass a half or a fifth of them. *All held*: every
interval shown held the true kappa of its version, promised in 95 %. *Best held*: that of the version with the greatest
kappa did, which is the one that would be bragged about. *Low end*: the mean lower end at the tenth look.
"""
INTERVALS = """\
## Intervals of calibration figures

How often 95 % intervals held the truth, for probabilities that are somewhat too sure (Brier, log loss, ECE), and for
the area under risk over coverage. **ECE's interval is not to be trusted with few units**: ECE is above 0 by luck
alone, which is why `ece_if_perfect` stands beside it.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    share = parser.parse_args().runs
    parts = [INTRODUCTION]
    for number, section in enumerate((optimism, regions, drift, looks, intervals)):
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
    return strength * human + _luck(rng, cluster, 0.5 if per_sample > 1 else 0.0), human, cluster


def _luck(rng: np.random.Generator, cluster: Ints, shared: float) -> Floats:
    """Standard normal, of which samples share a part of the variance."""
    common = rng.normal(size=cluster.max() + 1)[cluster]
    return np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=cluster.size)


def _true_kappa(threshold: float, strength: float) -> float:
    """With half of the units passing, kappa is TPR + TNR - 1."""
    return float(ndtr(threshold) - ndtr(threshold - strength))


# Regions


def regions(rng: np.random.Generator, share: float) -> Iterator[str]:
    runs = _times(1000, share)
    yield REGIONS
    shapes = ("single", "five", "copies", "uneven", "lognormal", "drawn")
    scenarios = [
        *((judge, 0.5, groups, "single") for judge in ("sharp", "fair", "blunt") for groups in (100, 300, 1000)),
        *((judge, 0.8, groups, shape) for judge in ("sharp", "fair") for groups in (300, 1000) for shape in shapes),
        *((judge, 0.8, 3000, "drawn") for judge in ("sharp", "fair")),
        *(("flat", passed, 1000, shape) for passed in (0.5, 0.8) for shape in shapes),
    ]
    rows = [
        [judge, f"{passed:.0%}", groups, shape, *_certified(rng, runs, Region(judge, passed, groups, shape))]
        for judge, passed, groups, shape in scenarios
    ]
    figures = ["a region", "kept on average", "**broken**", "naive: broken"]
    yield _table(["judge", "pass", "groups", "decisions", *figures], rows, f"{runs:,} runs")
    yield LEVELS
    rows = [
        [judge, 1000, shape, f"{risk:.0%}", f"{confidence:.0%}", *found[:3], f"{1 - confidence:.0%}"]
        for risk, confidence in ((0.05, 0.95), (0.2, 0.95), (0.1, 0.9), (0.1, 0.99))
        for judge, shape in (("fair", "single"), ("flat", "single"), ("flat", "five"), ("flat", "drawn"))
        for found in [_certified(rng, runs, Region(judge, 0.5, 1000, shape, risk, confidence))]
    ]
    yield _table(
        ["judge", "groups", "decisions", "risk", "confidence", *figures[:3], "allowed"], rows, f"{runs:,} runs"
    )


SLOPE = {"sharp": 2.0, "fair": 1.0, "blunt": 0.7}
FLAT = 1.002
#: Of the luck, the share that the decisions of a group have in common.
SHARED = {"five": 0.5, "copies": 1.0, "uneven": 0.5, "lognormal": 1.0}
#: Those that are alike as a whole lie at one distance.
TOGETHER = ("copies", "lognormal")
#: Sizes of groups, all equally frequent, and by what factor they err more.
SIZES = {
    "five": (np.full(1, 5), np.ones(1)),
    "copies": (np.full(1, 5), np.ones(1)),
    "uneven": (np.arange(1, 10), 0.5 + 0.1 * np.arange(1, 10)),
    "lognormal": (np.ceil(np.exp(1.2 * ndtri((np.arange(1000) + 0.5) / 1000))).astype(int), np.arange(1000) // 700),
}
ALONE = (np.ones(1, dtype=int), np.ones(1))
DISTANCES = np.linspace(0, 3, 301)


@dataclass(frozen=True, slots=True)
class Region:
    """A judge, the share that people pass, and how decisions lie in groups; distances are uniform from 0 to 3."""

    judge: str
    passed: float
    groups: int
    shape: str
    risk: float = 0.1
    confidence: float = 0.95

    def sizes(self) -> tuple[Ints, Floats]:
        sizes, worse = SIZES.get(self.shape, ALONE)
        return sizes, worse / worse.mean()

    def rate(self, distance: Floats) -> Floats:
        flat = np.full(distance.shape, FLAT * self.risk)
        return flat if self.judge == "flat" else ndtr(-SLOPE[self.judge] * distance)

    def drawn(self, rng: np.random.Generator) -> tuple[Floats, Bools, Ints, Floats]:
        """Score, people's verdict, group and the chance by which it was drawn; the threshold is 0."""
        sizes, worse = self.sizes()
        kind = rng.integers(sizes.size, size=self.groups)
        group = np.repeat(np.arange(self.groups), sizes[kind])
        distance = 3 * (rng.random(self.groups)[group] if self.shape in TOGETHER else rng.random(group.size))
        human = rng.random(group.size) < self.passed
        wrong = ndtr(_luck(rng, group, SHARED.get(self.shape, 0.0))) < self.rate(distance) * worse[kind][group]
        if self.judge == "flat":
            wrong &= ~human
        chance = np.where(human ^ wrong, 0.2, 1.0) if self.shape == "drawn" else np.ones(group.size)
        known = rng.random(group.size) < chance
        score = np.where(human ^ wrong, distance, -distance)
        return score[known], human[known], group[known], chance[known]

    def true_risk(self) -> Floats:
        """The greater of both risks beyond each of ``DISTANCES``, as a mean over groups."""
        sizes, worse = self.sizes()
        rates = np.minimum(1, np.outer(self.rate(DISTANCES), worse))[::-1]
        beyond = (rates.cumsum(axis=0) / np.arange(1, DISTANCES.size + 1)[:, None])[::-1]
        near = 1.0 if self.shape in TOGETHER else (1 - DISTANCES / 3)[:, None]
        # Of a flat judge's decisions only those on what people fail are wrong.
        kinds = (1 - self.passed,) if self.judge == "flat" else (self.passed, 1 - self.passed)
        has = [1 - (1 - share * near) ** sizes + 1e-12 for share in kinds]
        return np.max([(one * beyond).sum(axis=1) / (one * np.ones_like(beyond)).sum(axis=1) for one in has], axis=0)


def _certified(rng: np.random.Generator, runs: int, asked: Region) -> list[str]:
    found = broken = naive = 0
    truth, kept = asked.true_risk(), []
    for _ in range(runs):
        (*dev, dev_chance), (score, human, group, chance) = asked.drawn(rng), asked.drawn(rng)
        how = {"risk": asked.risk, "confidence": asked.confidence}
        steps = distance_steps(*dev, 0.0, np.unique(group).size, probability=dev_chance, **how)
        region = certified_region(score, human, group, 0.0, steps, probability=chance, **how)
        # Distances are uniform: this is the true share inside.
        kept.append(0.0 if region.distance is None else max(0.0, 1 - region.distance / 3))
        if region.distance is not None:
            found += 1
            broken += np.interp(region.distance, DISTANCES, truth) > asked.risk
        wrong = (score >= 0) != human
        widest = next(
            (step for step in steps[::-1] if _observed(wrong, human, np.abs(score) >= step) <= asked.risk), None
        )
        naive += widest is not None and np.interp(widest, DISTANCES, truth) > asked.risk
    return [_percent(found, runs), f"{np.mean(kept):.0%}", _percent(broken, runs), _percent(naive, runs)]


def _observed(wrong: Bools, human: Bools, far: Bools) -> float:
    kinds = (far & human, far & ~human)
    return max(float(wrong[kind].mean()) if kind.any() else 1.0 for kind in kinds)


# Drift


def drift(rng: np.random.Generator, share: float) -> Iterator[str]:
    yield DRIFT
    rows = []
    runs = _times(2000, share)
    looks_at = np.arange(1, 1001)
    for certified, true, shape in (
        (0.05, 0.05, "single"),
        (0.05, 0.05, "five"),
        (0.05, 0.05, "copies"),
        (0.05, 0.03, "single"),
        (0.01, 0.01, "single"),
        (0.2, 0.2, "single"),
        (0.05, 0.05, "streaks"),
    ):
        alarms = unclear = naive = held = 0
        # Of k errors or more among t the naive test says that they are too many.
        limit = binom.isf(0.05, looks_at, certified) + 1
        for _ in range(runs):
            wrong, cluster = audit(rng, np.full(1000, true), shape)
            watch = watch_drift(wrong, cluster, cluster, certified)
            alarms += watch.alarm is not None
            unclear += _stop(watch) < (np.inf if watch.alarm is None else watch.alarm)
            held += bool(((watch.low <= true) & (true <= watch.high)).all())
            firsts = wrong[np.searchsorted(cluster, np.arange(1000))]
            naive += bool((firsts.cumsum() >= limit).any())
        rows.append(
            [
                f"{certified:.0%}",
                f"{true:.0%}",
                shape,
                _percent(alarms, runs),
                _percent(unclear, runs),
                _percent(held, runs),
                _percent(naive, runs),
            ]
        )
    yield _table(
        ["certified", "true", "decisions", "**false alarm**", "**can't tell**", "sequence held", "naive: false alarm"],
        rows,
        f"{runs:,} runs",
    )
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


def audit(rng: np.random.Generator, rate: Floats, shape: str) -> tuple[Bools, Ints]:
    if shape == "streaks":
        begins = rng.random(rate.size) < 1 - (1 - rate) ** (1 / 30)
        wrong = np.convolve(begins, np.ones(30))[: rate.size] > 0
        return wrong, np.arange(rate.size)
    size = 1 if shape == "single" else 5
    cluster = np.repeat(np.arange(rate.size), size)
    luck = ndtr(_luck(rng, cluster, {"single": 0.0, "five": 0.5, "copies": 1.0}[shape]))
    return luck < rate[cluster], cluster


# Looks


def looks(rng: np.random.Generator, share: float) -> Iterator[str]:
    yield LOOKS
    runs = _times(600, share)
    rows = []
    for judge, passed, samples in (
        ("good", 0.5, 50),
        ("good", 0.5, 100),
        ("good", 0.5, 200),
        ("good", 0.5, 1000),
        ("good", 0.2, 100),
        ("very good", 0.5, 100),
        ("very good", 0.2, 50),
        ("very good", 0.2, 200),
    ):
        held = {name: np.zeros((runs, VERSIONS), dtype=bool) for name in LOOK_INTERVALS}
        low = {name: [] for name in LOOK_INTERVALS}
        best = np.zeros(runs, dtype=int)
        for run in range(runs):
            human = rng.random(samples) < passed
            shown = np.full(VERSIONS, -np.inf)
            for look in range(VERSIONS):
                right = 0.8 + 0.1 * rng.random() if judge == "good" else 0.9 + 0.09 * rng.random()
                verdict = (human ^ (rng.random(samples) >= right)).astype(float)
                kappas = {
                    level: at_threshold(
                        verdict, human, np.arange(samples), 0.5, interval="jackknife", level=level
                    ).kappa
                    for level in (0.95, level_of_look(look + 1))
                }
                kappa = kappas[0.95]
                shown[look] = -np.inf if kappa.value is None else kappa.value
                for name, one in zip(LOOK_INTERVALS, kappas.values(), strict=True):
                    ends = None if one.low is None else (one.low, one.high)
                    # Versions without an interval, the perfect ones, show none that could miss.
                    held[name][run, look] = ends is None or ends[0] <= _kappa_of(right, passed) <= ends[1]
                    if look == 9 and ends is not None:
                        low[name].append(ends[0])
            best[run] = shown.argmax()
        for name, flags in held.items():
            together, bragged = flags.all(axis=1).sum(), flags[np.arange(runs), best].sum()
            rows.append(
                [
                    judge,
                    f"{passed:.0%}",
                    samples,
                    name,
                    f"{flags.mean():.2%}",
                    _percent(together, runs),
                    _percent(bragged, runs),
                    f"{np.mean(low[name]):.2f}",
                ]
            )
    head = ["versions", "pass", "samples", "interval", "one held", "**all held**", "best held", "low end"]
    yield _table(head, rows, f"{runs:,} runs of {VERSIONS} looks")


VERSIONS = 20
LOOK_INTERVALS = ("95 % each", "**at the look's level**")


def _kappa_of(right: float, passed: float) -> float:
    """The true kappa of a judge that is right this often on passes and fails alike."""
    judge = passed * right + (1 - passed) * (1 - right)
    by_chance = passed * judge + (1 - passed) * (1 - judge)
    return (right - by_chance) / (1 - by_chance)


# Intervals


def intervals(rng: np.random.Generator, share: float) -> Iterator[str]:
    yield INTERVALS
    runs = _times(1000, share)
    large = _forecasts(rng, 1_000_000, 1)
    truth = _figures(*large, interval="none")
    rows = []
    for samples, per_sample in ((40, 1), (100, 1), (400, 1), (2000, 1), (100, 5), (400, 5)):
        held = dict.fromkeys(truth, 0)
        tried = dict.fromkeys(truth, 0)
        for _ in range(runs):
            found = _figures(*_forecasts(rng, samples, per_sample), interval="influence")
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
    passed = _luck(rng, cluster, 0.5 if per_sample > 1 else 0.0) < height / 1.5
    return ndtr(height), passed, cluster


def _figures(probability: Floats, human: Bools, cluster: Ints, *, interval: str) -> dict[str, Any]:
    figures = calibration_figures(probability >= 0.5, human, cluster, probability=probability, interval=interval)
    aurc = risk_coverage(probability, human, cluster, 0.5, interval=interval).aurc
    return {
        "kappa": figures.kappa,
        "Brier": figures.brier,
        "log loss": figures.log_loss,
        "ECE": figures.ece,
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
