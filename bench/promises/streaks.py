"""The drift watch alarms for a rise, and not for errors that come in a row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignment import DriftWatch, watch_drift
from bench.certainty import audit
from bench.promises import SEED, Promise, Row, at_least, at_most, share

PROMISE = Promise(
    place=12,
    title="An alarm is no streak",
    claim="However often one looks, the drift watch has a false alarm in at most 5 of 100 certificates, also where "
    "errors come in a row; where a rise can't be told from a streak it says so, and the gate does not pass.",
    worlds="1,000 audited samples arrive one by one and are looked at each time; 5 % were certified. Errors come one "
    "by one, or 30 in a row (*streaks*), at 5 %; or the rate rises. *Before*, a run with an alarm in either case.",
)


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(1000 * runs))
    for true, shape in ((0.05, "single"), (0.05, "copies"), (0.05, "streaks"), (0.15, "single")):
        rng = np.random.default_rng([SEED, round(100 * true), len(shape)])
        watches = [_watch(rng, true, shape) for _ in range(worlds)]
        alarms = sum(watch.alarm is not None for watch in watches)
        before = sum(bool((watch.log_e >= np.log(20)).any()) for watch in watches)
        rises = true > 0.05
        yield Row(
            f"{'the rate rises to' if rises else 'unchanged,'} {true:.0%}, {shape}",
            share(before, worlds),
            share(alarms, worlds),
            "at least 95 %" if rises else "at most 5 %",
            at_least(alarms, worlds, 0.95) if rises else at_most(alarms, worlds, 0.05),
        )


def _watch(rng: np.random.Generator, true: float, shape: str) -> DriftWatch:
    wrong, cluster = audit(rng, np.full(1000, true), shape)
    return watch_drift(wrong, cluster, cluster, 0.05)
