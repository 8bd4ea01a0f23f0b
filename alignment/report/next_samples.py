"""Which samples to label next, drawn with known chances: by strata of what the judges say, or by what one judge fails
and passes.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

import numpy as np

from alignment.base.arrays import Floats, Ints
from alignment.planning.sample_size import kappa_influence
from alignment.planning.selection import (
    FEWEST,
    Draw,
    allocate,
    draw,
    expected_spread,
    guessed_spread,
    judge_views,
    strata,
    worth,
)
from alignment.report.evidence import Chance, Evidence, JudgeScores, Value, generator
from alignment.report.judged import Judged
from alignment.report.reference import Reference, reference_of
from alignment.report.units import UnitKey

#: Bins of the judges' score and of their disagreement, the finest first.
_GRIDS = ((4, 2), (3, 2), (2, 2), (2, 1), (1, 1))
#: So many labelled samples say more about where labels matter than the judges do.
ENOUGH = 30

#: Where it is known from how much a label of each stratum matters.
Basis = Literal["labels", "judges", "nothing"]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Samples of which ``drawn`` were drawn, each with the same chance."""

    samples: int
    drawn: int

    @property
    def chance(self) -> float:
        return self.drawn / self.samples


@dataclass(frozen=True, slots=True)
class Stratum(_Drawn):
    """``score`` and ``disagreement``: the least and the greatest in it, as ``selection.judge_views`` has them; None
    where no judge answered."""

    score: tuple[float, float] | None
    disagreement: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """``chosen``: the drawn samples with their chances, strata numbered from 1 as in ``strata``. ``worth``: how many
    labels drawn from all alike say as much as one of these, by what is known now; None on no basis."""

    strata: list[Stratum]
    chosen: dict[str, Chance]
    basis: Basis
    worth: float | None


def propose(
    evidence: Evidence, unlabelled: Sequence[str], count: int, *, seed: int, about: JudgeScores | None
) -> Proposal:
    """``count`` of the samples named in ``unlabelled``, so that labels of them make kappa of the judge ``about``
    surer, or without a judge the share that people pass (their mean, where nothing passes).

    The strata are quantiles of the judges' mean score and of their disagreement, over labelled and unlabelled samples;
    fewer of them when ``count`` would not leave two for each to be allocated freely. How much a label matters in a
    stratum comes from the labels there are, on dev where a threshold is chosen; from the judges' own passes and fails
    before there are 30 labelled samples; else from nothing, and then all strata are alike. The same evidence, names
    and seed give the same draw.

    ValueError: fewer than two samples wanted, or more than there are.
    """
    if not min(FEWEST, len(unlabelled)) <= count <= len(unlabelled):
        raise ValueError(f"between {FEWEST} and {len(unlabelled)} samples can be drawn, not {count}")
    reference = reference_of(evidence)
    judged = [Judged(reference, said) for said in evidence.judges]
    frame = sorted(unlabelled)
    known = sorted({sample for sample, _ in reference.units} - set(frame))
    at = {name: place for place, name in enumerate((*frame, *known))}
    score, apart = _views(judged, at)
    of_all, codes = _strata(score, apart, len(frame), count)
    present, stratum = np.unique(codes, return_inverse=True)
    spread, basis = _spread(reference, judged, about, at, of_all, frame)
    wanted = spread[present]
    allocation = allocate(stratum, wanted, count)
    places_of = [np.flatnonzero(stratum == place) for place in range(present.size)]
    drawn = draw(stratum, allocation, generator(seed, "next samples", evidence.criterion.key))
    return Proposal(
        strata=[
            Stratum(samples=places.size, drawn=taken, score=_ends(score[places]), disagreement=_ends(apart[places]))
            for places, taken in zip(places_of, allocation.tolist(), strict=True)
        ],
        chosen=_chosen(frame, drawn),
        basis=basis,
        worth=None if basis == "nothing" else worth(stratum, wanted, allocation),
    )


def _views(judged: Sequence[Judged], at: dict[str, int]) -> tuple[Floats, Floats]:
    rows = [
        (at[sample], place, value)
        for place, one in enumerate(judged)
        for sample, value in _by_sample(_oriented(one), at).items()
    ]
    sample, judge, score = zip(*rows, strict=True) if rows else ((), (), ())
    return judge_views(np.array(sample, np.int64), np.array(judge, np.int64), np.array(score, np.float64), len(at))


def _strata(score: Floats, apart: Floats, unlabelled: int, count: int) -> tuple[Ints, Ints]:
    """The strata of all samples, and of the unlabelled ones, which come first."""
    for score_bins, apart_bins in _GRIDS:
        found = strata(score, apart, score_bins=score_bins, disagreement_bins=apart_bins)
        if 2 * FEWEST * np.unique(found[:unlabelled]).size <= count:
            return found, found[:unlabelled]
    alike = np.zeros(score.size, dtype=np.int64)
    return alike, alike[:unlabelled]


def _spread(
    reference: Reference,
    judged: Sequence[Judged],
    about: JudgeScores | None,
    at: dict[str, int],
    stratum: Ints,
    frame: Sequence[str],
) -> tuple[Floats, Basis]:
    """How much a label of each stratum of all samples matters, and how that is known."""
    labelled, influence = _influence(reference, next((one for one in judged if one.said is about), None), at)
    if influence is not None and labelled.size >= ENOUGH and np.ptp(influence):
        return expected_spread(stratum, influence, labelled), "labels"
    if judged and reference.evidence.criterion.passes:
        share = np.full(len(at), 0.5)
        votes: dict[str, list[float]] = defaultdict(list)
        for one in judged:
            for sample, value in _by_sample(_passes(one), at).items():
                votes[sample].append(value)
        for sample, shares in votes.items():
            share[at[sample]] = sum(shares) / len(shares)
        return guessed_spread(stratum, share), "judges"
    return np.ones(int(stratum.max()) + 1), "nothing"


def _influence(reference: Reference, judge: Judged | None, at: dict[str, int]) -> tuple[Ints, Floats | None]:
    """The labelled samples, as places, with their influences on the figure that should become surer."""
    if judge is not None:
        # On dev alone: the threshold was chosen there, and test stays closed.
        units, decided = judge.dev, _passes(judge)
        return kappa_influence(
            [decided[unit] > 0 for unit in units],
            judge.columns(units)[1],
            np.array([at[sample] for sample, _ in units], np.int64),
        )
    values = reference.positive if reference.passing is not None else reference.mean
    if not values:
        return np.array([], np.int64), None
    mean = sum(values.values()) / len(values)
    change: dict[int, float] = defaultdict(float)
    for (sample, _), value in values.items():
        change[at[sample]] += value - mean
    return np.fromiter(change.keys(), np.int64), np.fromiter(change.values(), np.float64)


def _oriented(judge: Judged) -> dict[UnitKey, float]:
    """The judge's scores of all samples, labelled or not; the more, the better."""
    if not judge.answers_labels:
        sign = 1.0 if judge.said.higher_is_better else -1.0
        return {unit: sign * number for unit, number in judge.said.numbers.items()}
    levels, passes = judge.criterion.levels, judge.criterion.passes
    if passes or not judge.reference.ratings.ordered:
        return {unit: float(value in passes) for unit, value in judge.labels.items()}
    return {unit: float(levels.index(value)) for unit, value in judge.labels.items()}


def _passes(judge: Judged) -> dict[UnitKey, float]:
    """1 where the judge passes the unit and 0 where it fails it: by the threshold that is best on dev, else, where none
    can be chosen yet, by its own median."""
    if judge.answers_labels:
        return {unit: float(value in judge.criterion.passes) for unit, value in judge.labels.items()}
    oriented = _oriented(judge)
    if not oriented:
        return {}
    threshold = judge.sweep(judge.dev).best_threshold if judge.dev else None
    if threshold is None:
        bar = median(oriented.values())
    else:
        bar = threshold if judge.said.higher_is_better else -threshold
    return {unit: float(score >= bar) for unit, score in oriented.items()}


def _by_sample(values: dict[UnitKey, float], at: dict[str, int]) -> dict[str, float]:
    """The mean over a sample's units, of the samples in question."""
    sums: dict[str, float] = defaultdict(float)
    counts = Counter(sample for sample, _ in values)
    for (sample, _), value in values.items():
        if sample in at:
            sums[sample] += value
    return {sample: total / counts[sample] for sample, total in sums.items()}


def _chosen(names: Sequence[str], drawn: Draw) -> dict[str, Chance]:
    return {
        names[place]: Chance(float(drawn.probability[place]), int(drawn.stratum[place]) + 1)
        for place in np.flatnonzero(drawn.drawn).tolist()
    }


def _ends(values: Floats) -> tuple[float, float] | None:
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if known.size else None


#: Of a sample: a unit of it fails; all pass; none fails, and one has no score.
Outcome = Literal["fail", "pass", "no score"]
OUTCOMES: tuple[Outcome, ...] = ("fail", "pass", "no score")


@dataclass(frozen=True, slots=True)
class OutcomeGroup(_Drawn):
    """The samples of one outcome."""

    outcome: Outcome


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
            OutcomeGroup(samples=n, drawn=taken, outcome=outcome)
            for outcome, n, taken in zip(present, size.tolist(), allocation, strict=True)
        ],
        chosen=_chosen(names, drawn),
    )
