"""The drift watch alarms for a rise, and not for errors that come in a row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from alignment import DriftWatch, watch_drift
from alignment.base.arrays import Bools, Floats, Ints
from bench.promises import SEED, STATED, Promise, Row, at_least, at_most, percent, share
from bench.promises.regions import luck

PROMISE = Promise(
    place=12,
    title="An alarm is no streak",
    claim="However often one looks, the drift watch has a false alarm in at most 5 of 100 certificates, also where "
    "errors come in a row; where a rise can't be told from a streak it says so, and the gate does not pass. Its "
    "running interval holds at all looks at once in 95 of 100, where errors are not chained.",
    worlds="1,000 audited samples arrive one by one and are looked at each time. Each is one decision (*single*), five "
    "of which the luck is shared by half (*five*), or five alike (*copies*); or errors come 30 in a row (*streaks*). "
    "*Before*, a run with an alarm in either case. *Settled late*: people differ on a fifth of samples, of which the "
    "judge has a quarter wrong; these are settled after each 500, and came in that order before. *Stretches*: of each "
    "tenth 20 samples half is wrong, and no other; such a stretch is a rise while it lasts, and we do not say that it "
    "is none.",
)


#: Certified, true, and how errors come.
WORLDS = (
    (0.05, 0.05, "single"), (0.05, 0.05, "five"), (0.05, 0.05, "copies"), (0.05, 0.05, "streaks"),
    (0.05, 0.03, "single"), (0.01, 0.01, "single"), (0.2, 0.2, "single"), (0.05, 0.15, "single"),
)  # fmt: skip


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(2000 * runs))
    for certified, true, shape in WORLDS:
        rng = np.random.default_rng([SEED, round(100 * certified), round(100 * true), len(shape)])
        watches = [_watch(rng, certified, true, shape) for _ in range(worlds)]
        alarms = sum(watch.alarm is not None for watch in watches)
        before = sum(bool((watch.log_e >= np.log(20)).any()) for watch in watches)
        rises = true > certified
        world = f"{percent(certified, 0)} certified, truly {percent(true, 0)}, {shape}"
        yield Row(
            world,
            percent(before / worlds),
            share(alarms, worlds),
            "an alarm in 95 % or more" if rises else "an alarm in at most 5 %",
            at_least(alarms, worlds, 0.95) if rises else at_most(alarms, worlds, 0.05),
        )
        if shape != "streaks":
            held = sum(bool(((watch.low <= true) & (true <= watch.high)).all()) for watch in watches)
            kept = at_least(held, worlds, 0.95)
            yield Row(f"{world}: the running interval held at all looks", "", share(held, worlds), "95 % or more", kept)

    rng = np.random.default_rng([SEED, 500])
    found = [_late(rng) for _ in range(worlds)]
    before, after = (sum(column) for column in zip(*found, strict=True))
    yield Row(
        "5 % certified and true, settled late",
        percent(before / worlds),
        share(after, worlds),
        "an alarm in at most 5 %",
        at_most(after, worlds, 0.05),
    )
    hard = (np.repeat(rng.random(50) < 0.1, 20) & (rng.random(1000) < 0.5) for _ in range(worlds))
    alarms = sum(watch_drift(wrong, PLACE, PLACE, 0.05).alarm is not None for wrong in hard)
    yield Row("5 % certified and true, stretches", "", share(alarms, worlds), STATED, True)


PLACE = np.arange(1000)


def _late(rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether there is an alarm in the order of settling, and in that of first labels."""
    disputed = rng.random(1000) < 0.2
    wrong, batch = disputed & (rng.random(1000) < 0.25), PLACE // 500
    settled = np.where(disputed, 1000 * (batch + 1) + PLACE, PLACE + 500 * batch)
    before, after = (watch_drift(wrong, PLACE, order, 0.05) for order in (settled, PLACE))
    return before.alarm is not None, after.alarm is not None


def _watch(rng: np.random.Generator, certified: float, true: float, shape: str) -> DriftWatch:
    wrong, cluster = audit(rng, np.full(1000, true), shape)
    return watch_drift(wrong, cluster, cluster, certified)


def audit(rng: np.random.Generator, rate: Floats, shape: str) -> tuple[Bools, Ints]:
    if shape == "streaks":
        begins = rng.random(rate.size) < 1 - (1 - rate) ** (1 / 30)
        wrong = np.convolve(begins, np.ones(30))[: rate.size] > 0
        return wrong, np.arange(rate.size)
    size = 1 if shape == "single" else 5
    cluster = np.repeat(np.arange(rate.size), size)
    place = ndtr(luck(rng, cluster, {"single": 0.0, "five": 0.5, "copies": 1.0}[shape]))
    return place < rate[cluster], cluster
