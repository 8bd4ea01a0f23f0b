"""What bias probes did to a judge's answers, beside what it says otherwise when nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import alignment
from annotate.core.scales import Value
from judges.canaries.probes import AGAIN, PROBES, SWAPPED, Probe, mirrored, preference
from judges.canaries.rates import LABELS, Flip, Reading, Reply, by_status
from judges.canaries.variants import CLEAN

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Compared:
    """A unit's answer as it is, once more, and with a probe, all with a value. again, flip: of the second and the third
    beside the first."""

    clean: Reply
    changed: Reply
    again: Flip
    flip: Flip
    gain: float

    @property
    def counts(self) -> bool:
        return self.flip.is_flip


def compared(reading: Reading, replies: Iterable[Reply]) -> list[Compared]:
    replies = list(replies)
    clean, again = (
        {(reply.sample, reply.unit): reply for reply in replies if reply.variant == number and reply.value is not None}
        for number in (CLEAN, AGAIN)
    )
    found = []
    for reply in replies:
        at = reply.sample, reply.unit
        if reply.variant in (CLEAN, AGAIN) or reply.value is None or at not in clean or at not in again:
            continue
        before, repeated = clean[at], again[at]
        assert before.value is not None
        assert repeated.value is not None
        flip, gain = _moved(reading, reply.variant, before.value, reply.value)
        found.append(Compared(before, reply, reading.flip(before.value, repeated.value), flip, gain))
    return found


def _moved(reading: Reading, number: int, clean: Value, changed: Value) -> tuple[Flip, float]:
    if number == SWAPPED:
        gain = preference(changed) - preference(mirrored(clean))
        return Flip(changed != mirrored(clean), gain > 0, gain < 0), gain
    flip = reading.flip(clean, changed)
    return flip, float(bool(flip.towards)) - float(bool(flip.away))


def effects(reading: Reading, replies: Sequence[Reply], group_of: Mapping[str, str]) -> dict[str, Any]:
    """{"level", "probes"}: the level of each interval of an effect, so that all of them hold together in 95 of 100
    tests; and of each probe that was asked what it did (alignment.probe_effect), estimates as dictionaries. "effect" is
    None where nothing says what is better.

    group_of: of samples whose group is not their own id, by own id.
    """
    by_probe: dict[int, list[Compared]] = {probe.number: [] for probe in PROBES if probe.number != AGAIN}
    for one in compared(reading, replies):
        by_probe[one.changed.variant].append(one)
    figures = sum(1 + _is_directed(reading, number) for number, pairs in by_probe.items() if pairs)
    level = 1 - (1 - LEVEL) / max(figures, 1)
    rows = [
        _row(reading, probe, replies, by_probe[probe.number], group_of, level)
        for probe in PROBES
        if probe.number != AGAIN
    ]
    return {"level": level, "probes": [row for row in rows if row["asked"]]}


def _is_directed(reading: Reading, number: int) -> bool:
    return number == SWAPPED or reading.basis != LABELS


def _row(
    reading: Reading,
    probe: Probe,
    replies: Sequence[Reply],
    pairs: Sequence[Compared],
    group_of: Mapping[str, str],
    level: float,
) -> dict[str, Any]:
    own = [reply for reply in replies if reply.variant == probe.number]
    found = alignment.probe_effect(
        [float(pair.flip.is_flip) for pair in pairs],
        [float(pair.again.is_flip) for pair in pairs],
        [pair.gain for pair in pairs] if _is_directed(reading, probe.number) else None,
        [group_of.get(pair.clean.sample, pair.clean.sample) for pair in pairs],
        level=level,
    )
    return {
        "number": probe.number,
        "key": probe.key,
        "asked": len(own),
        "compared": len(pairs),
        "failed": by_status(own),
        "effect": None if found.effect is None else found.effect.as_dict(),
        "flips": found.flips.as_dict(),
        "again": found.again.as_dict(),
        "excess": found.excess.as_dict(),
        "verdict": found.verdict,
    }
