"""How sure the figures of a report would be with more labelled samples."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alignment.estimate import Estimate
from alignment.figures.comparison import Comparison
from alignment.figures.reference import Reference
from alignment.planning import Plannable, plannable_from_estimate, two_digits

RATES = ("kappa", "tpr", "tnr")
#: Numbers of further samples that are worth a look, as multiples of powers of ten …
_STEPS = (1, 1.5, 2, 3, 5, 7)
#: … between a tenth of the labelled samples and eight times as many.
_FROM, _TO = 0.1, 8.0
#: Half-widths that somebody may have in mind; the plan is for the first that is a good deal narrower than now.
_WIDTHS = (0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
_NARROWER = 0.75


def more_samples(estimate: Estimate, half_width: float) -> int | None:
    """How many more samples of the same part bring the estimate to the half-width; None where nobody knows."""
    return plannable_from_estimate(estimate).more_for(half_width)


def share_of(reference: Reference, *, dev: bool) -> float:
    """What share of the samples with a reference lies in the part, and so what share of further ones will."""
    sides = list(reference.evidence.is_dev.values())
    return sides.count(dev) / len(sides) if sides else 0.0


@dataclass(frozen=True, slots=True)
class Growth:
    """A figure that grows surer: its plan, and how many of the samples it rests on a newly labelled sample brings.

    ``bearing`` is below 1 where a new sample may have nothing to say: on test for a figure of dev, without a score, or
    without the units that a rate is of.
    """

    plan: Plannable
    bearing: float

    def half_width(self, more: int) -> float | None:
        """Half the interval's width with so many more labelled samples."""
        return self.plan.half_width(max(1, self.plan.clusters + round(self.bearing * more)))

    def more_for(self, half_width: float) -> int | None:
        """How many more labelled samples make it that narrow, 0 when it is; None where nothing can be planned."""
        more = self.plan.more_for(half_width)
        return None if more is None else math.ceil(more / self.bearing)

    def as_dict(self) -> dict[str, Any]:
        plan = self.plan
        return {"clusters": plan.clusters, "spread": plan.spread, "level": plan.level, "bearing": self.bearing}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Growth":
        return cls(Plannable(found["clusters"], found["spread"], found["level"], None), found["bearing"])


def planning_figures(
    reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str], people: Estimate
) -> dict[str, Any]:
    """Of people's kappa with each other (``people``) and of each judge's kappa, TPR and TNR at its threshold: half the
    width of the interval now and with more labelled samples, and how many make it narrower, as plain JSON.

    ``samples`` counts the labelled samples, ``more`` the further ones of every ``curve``. They are labelled samples of
    both halves: of those that come half go to dev, where judges are measured from day to day, and half to test, where
    a look then has about the same width at its own level.
    """
    labelled = len({sample for sample, _ in reference.units})
    is_dev = reference.evidence.is_dev
    on_dev = len({sample for sample, _ in reference.positive if is_dev[sample]})
    share, more = share_of(reference, dev=True), _more(labelled)
    rows = [_row(None, "kappa", people, labelled, 1.0, more)]
    for title, one in zip(titles, comparisons, strict=True):
        at = one.row["at_threshold"]
        rows += [_row(title, name, Estimate(**at[name]), on_dev, share, more) for name in RATES]
    return {"samples": labelled, "dev": on_dev, "more": more, "rows": rows}


def _row(who: str | None, figure: str, now: Estimate, of: int, share: float, more: list[int]) -> dict[str, Any]:
    """``now`` rests on some of ``of`` samples; of those labelled from now on ``share`` join these."""
    plan = plannable_from_estimate(now)
    row: dict[str, Any] = {
        "judge": who,
        "figure": figure,
        "value": now.value,
        "half_width": None,
        "reason": plan.reason,
    }
    if plan.spread is None or now.value is None or now.low is None or now.high is None:
        return row
    growth = Growth(plan, share * plan.clusters / of)
    # The interval as it is shown, by t; what follows is a plan, by the normal distribution.
    half_width = max(now.high - now.value, now.value - now.low)
    target = next((width for width in _WIDTHS if width <= _NARROWER * half_width), None)
    return {
        **row,
        **growth.as_dict(),
        "half_width": half_width,
        "curve": [growth.half_width(count) for count in more],
        "target": target,
        "sentence": None if target is None else sentence(growth, target),
    }


def sentence(growth: Growth, half_width: float) -> str:
    """The plan in words, in labelled samples of both halves.

    >>> sentence(Growth(Plannable(100, 0.8, 0.95, None), 0.5), 0.1)
    'about 300 more samples for ±0.10'
    """
    more, width = growth.more_for(half_width), f"±{half_width:.2f}"
    return f"about {two_digits(more):,} more samples for {width}" if more else f"{width} is reached"


def _more(labelled: int) -> list[int]:
    """Some ten round numbers of further samples."""
    counts = (round(step * 10**power) for power in range(1, 8) for step in _STEPS)
    return [count for count in counts if _FROM * max(labelled, 50) <= count <= _TO * max(labelled, 50)]
