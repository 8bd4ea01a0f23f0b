"""How often a judge's answer flipped, with intervals clustered by sample."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotate.core.scales import Value
from judges.canaries.reading import Flip, Reading
from judges.canaries.variants import CLEAN, INSTEAD, NUMBERED, Variant
from judges.models import ScoreStatus

if TYPE_CHECKING:
    from alignment.base.estimate import Estimate

_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge said of a unit, clean or with a canary. variant: its number. value: None unless `status` is ok."""

    sample: str
    unit: str
    variant: int
    status: str
    value: Value | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A unit's clean reply and the one with a canary, both with a value."""

    clean: Reply
    changed: Reply
    flip: Flip

    @property
    def variant(self) -> Variant:
        return NUMBERED[self.changed.variant]

    @property
    def counts(self) -> bool:
        """Whether something became otherwise that should not have: of a text that was put in the place of another one
        only that it got better."""
        return bool(self.flip.towards) if self.variant.where == INSTEAD else self.flip.is_flip


@dataclass(frozen=True, slots=True)
class Rates:
    """flips: of all that could be compared and whose text was kept; towards, away: of those that could become better,
    or worse. Estimates as dictionaries (alignment.base.estimate)."""

    flips: dict[str, Any]
    towards: dict[str, Any]
    away: dict[str, Any]


def pairs_of(reading: Reading, replies: Iterable[Reply]) -> list[Pair]:
    replies = list(replies)
    clean = {(reply.sample, reply.unit): reply for reply in replies if reply.variant == CLEAN}
    found = []
    for reply in replies:
        before = clean.get((reply.sample, reply.unit))
        if reply.variant == CLEAN or before is None or before.value is None or reply.value is None:
            continue
        found.append(Pair(before, reply, reading.flip(before.value, reply.value)))
    return found


def rates(pairs: Sequence[Pair]) -> Rates:
    kept = [pair for pair in pairs if pair.variant.where != INSTEAD]
    return Rates(
        flips=_rate(kept, lambda pair: pair.flip.is_flip),
        towards=_rate(pairs, lambda pair: pair.flip.towards),
        away=_rate(kept, lambda pair: pair.flip.away),
    )


def by_status(replies: Iterable[Reply]) -> dict[str, int]:
    """Of those that have no value, the commonest first."""
    failed = Counter(reply.status for reply in replies if reply.status != ScoreStatus.OK)
    return dict(failed.most_common())


def _rate(pairs: Iterable[Pair], hit: Callable[[Pair], bool | None]) -> dict[str, Any]:
    """The share of hits among the pairs that could be one (of which `hit` doesn't say None)."""
    # Here, not above: the statistics take a second to load, and most processes never count anything.
    import numpy as np

    from alignment.base.estimate import NO_UNITS
    from alignment.base.interval import Plan, proportion

    hits: dict[str, int] = defaultdict(int)
    trials: dict[str, int] = defaultdict(int)
    for pair in pairs:
        said = hit(pair)
        if said is not None:
            trials[pair.clean.sample] += 1
            hits[pair.clean.sample] += said
    samples = sorted(trials)
    found: Estimate = proportion(
        np.array([hits[sample] for sample in samples], dtype=float),
        np.array([trials[sample] for sample in samples], dtype=float),
        # Of a share nothing is drawn; the plan wants a generator whatever comes.
        Plan("auto", np.random.default_rng(0), _LEVEL),
        name="flip rate",
        undefined=NO_UNITS,
    )
    return found.as_dict()
