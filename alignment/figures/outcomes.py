"""A queue from a judge's outcomes: samples that it fails, and some that it passes, drawn with known chances."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from alignment.figures.evidence import Chance, JudgeScores, UnitKey, Value
from alignment.figures.seeds import generator
from alignment.selection import draw

#: Of a sample: a unit of it fails; all pass; none fails, and one has no score.
Outcome = Literal["fail", "pass", "no score"]
OUTCOMES: tuple[Outcome, ...] = ("fail", "pass", "no score")


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """The samples of one outcome, of which ``drawn`` were drawn, each with the same chance."""

    outcome: Outcome
    samples: int
    drawn: int

    @property
    def chance(self) -> float:
        return self.drawn / self.samples


@dataclass(frozen=True, slots=True)
class OutcomeDraw:
    """``groups``: the outcomes that occur, in the order of ``OUTCOMES``. ``chosen``: the drawn samples with their
    chances, strata numbered from 1 as the groups are."""

    groups: list[OutcomeGroup]
    chosen: dict[str, Chance]


def outcomes_of(
    said: JudgeScores,
    *,
    passes: Collection[Value],
    threshold: float | None,
    samples: Sequence[str],
    sizes: Mapping[str, int],
) -> dict[str, Outcome]:
    """What the judge makes of each of these samples.

    passes: the labels that count as pass. threshold: the number from which a score does, up to which one does where
    lower is better; None for a judge that answers with labels. sizes: how many units a sample has, where it has not
    just one.

    ValueError: scores are numbers and there is no threshold.
    """
    if said.numbers and threshold is None:
        raise ValueError("the judge's scores are numbers: a threshold says which of them pass")
    passing: dict[UnitKey, bool] = {unit: label in passes for unit, label in said.labels.items()}
    if threshold is not None:
        sign = 1 if said.higher_is_better else -1
        passing |= {unit: sign * number >= sign * threshold for unit, number in said.numbers.items()}
    scored = dict.fromkeys(samples, 0)
    failed = set()
    for (sample, _), passed in passing.items():
        if sample in scored:
            scored[sample] += 1
            if not passed:
                failed.add(sample)
    return {
        sample: "fail" if sample in failed else "pass" if count >= sizes.get(sample, 1) else "no score"
        for sample, count in scored.items()
    }


def draw_by_outcome(outcomes: Mapping[str, Outcome], shares: Mapping[Outcome, float], *, seed: int) -> OutcomeDraw:
    """That share of the samples of each outcome, rounded up, so that every sample has a chance and the labels can
    speak for all. The same outcomes, shares and seed give the same draw.

    ValueError: a share that is not above 0 and at most 1.

    >>> found = draw_by_outcome({"a": "fail", "b": "pass", "c": "pass"}, {"fail": 1, "pass": 0.5}, seed=1)
    >>> [(group.outcome, group.drawn, group.samples) for group in found.groups], found.chosen["a"].probability
    ([('fail', 1, 1), ('pass', 1, 2)], 1.0)
    """
    present = [outcome for outcome in OUTCOMES if outcome in set(outcomes.values())]
    for outcome in present:
        if not 0 < shares[outcome] <= 1:
            raise ValueError(f"a share is above 0 and at most 1, not {shares[outcome]} ({outcome})")
    names = sorted(outcomes)
    stratum = np.array([present.index(outcomes[name]) for name in names], dtype=np.int64)
    size = np.bincount(stratum, minlength=len(present))
    # 0.2 · 35 is 7, also where binary fractions make it 7.000000000000001.
    allocation = [math.ceil(round(shares[outcome] * n, 9)) for outcome, n in zip(present, size.tolist(), strict=True)]
    drawn = draw(stratum, allocation, generator(seed, "outcomes"))
    return OutcomeDraw(
        groups=[
            OutcomeGroup(outcome, n, taken)
            for outcome, n, taken in zip(present, size.tolist(), allocation, strict=True)
        ],
        chosen={
            names[place]: Chance(float(drawn.probability[place]), int(stratum[place]) + 1)
            for place in np.flatnonzero(drawn.drawn)
        },
    )
