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
    "by one, or 30 in a row (*streaks*), at 5 %; or the rate rises. *Before*, a run with an alarm in either case. "
    "*Settled late*: people differ on a fifth of samples, of which the judge has a quarter wrong; these are settled "
    "after each 500, and came in that order before. *Stretches*: of each tenth 20 samples half is wrong, and no other; "
    "such a stretch is a rise while it lasts, and we do not say that it is none.",
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

    rng = np.random.default_rng([SEED, 500])
    found = [_late(rng) for _ in range(worlds)]
    before, after = (sum(column) for column in zip(*found, strict=True))
    yield Row(
        "unchanged, 5%, settled late",
        share(before, worlds),
        share(after, worlds),
        "at most 5 %",
        at_most(after, worlds, 0.05),
    )
    hard = (np.repeat(rng.random(50) < 0.1, 20) & (rng.random(1000) < 0.5) for _ in range(worlds))
    alarms = sum(watch_drift(wrong, PLACE, PLACE, 0.05).alarm is not None for wrong in hard)
    yield Row("unchanged, 5%, stretches", "", share(alarms, worlds), "stated", True)


PLACE = np.arange(1000)


def _late(rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether there is an alarm in the order of settling, and in that of first labels."""
    disputed = rng.random(1000) < 0.2
    wrong, batch = disputed & (rng.random(1000) < 0.25), PLACE // 500
    settled = np.where(disputed, 1000 * (batch + 1) + PLACE, PLACE + 500 * batch)
    before, after = (watch_drift(wrong, PLACE, order, 0.05) for order in (settled, PLACE))
    return before.alarm is not None, after.alarm is not None


def _watch(rng: np.random.Generator, true: float, shape: str) -> DriftWatch:
    wrong, cluster = audit(rng, np.full(1000, true), shape)
    return watch_drift(wrong, cluster, cluster, 0.05)
