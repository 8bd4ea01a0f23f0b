"""Two judges and then people: the cheap judge decides where it is sure, the dear one where it is, people the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from alignment.aligning.selection import NO_ANSWER
from alignment.base.arrays import Bools, Floats, Ints, cluster_rows, same_length
from alignment.base.estimate import Estimate, Remark, remark, rounded_share
from alignment.judging.share_bound import clusters_needed, mean_share_bound
from alignment.judging.triage import CONFIDENCE, FIRST_SHARE, ROUNDING, STEPS, worths

#: Shares of agreement with people that are tried in one look.
AGREEMENTS = (0.8, 0.85, 0.9, 0.95)
NOTHING_DECIDED = remark("no_cascade_decides")
CHEAP, DEAR, PEOPLE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Cascade:
    """From which sureness on each judge decides; infinite: nowhere. Where the cheap one decides anything, the dear one
    decides only what that has answered and was not sure of: without its answer nobody knows whether it would have been,
    and on all units the dear judge may be worse than on those."""

    cheap: float
    dear: float

    def decider(self, said: "TwoJudges") -> Ints:
        """Who decides each unit, CHEAP, DEAR or PEOPLE, shape (units,)."""
        cheap = (said.cheap != NO_ANSWER) & (said.cheap_sure >= self.cheap * (1 - ROUNDING))
        asked = (said.cheap != NO_ANSWER) | np.isinf(self.cheap)
        dear = asked & (said.dear != NO_ANSWER) & (said.dear_sure >= self.dear * (1 - ROUNDING))
        return np.where(cheap, CHEAP, np.where(dear, DEAR, PEOPLE))


@dataclass(frozen=True, eq=False)
class TwoJudges:
    """What two judges say of units, each of shape (units,).

    ``cheap`` and ``dear``: positions of levels, or ``NO_ANSWER``; ``…_sure``: how sure of it, from 0 on, the higher the
    surer, or minus infinity for an answer that never decides; it is only compared with other sureness of the same
    judge. ``people``: theirs, or ``NO_ANSWER`` where they have not settled the unit: whoever decides such a unit
    disagrees. ``cluster``: the group.
    """

    cheap: Ints
    cheap_sure: Floats
    dear: Ints
    dear_sure: Floats
    people: Ints
    cluster: Ints

    @classmethod
    def of(
        cls,
        cheap: ArrayLike,
        cheap_sure: ArrayLike,
        dear: ArrayLike,
        dear_sure: ArrayLike,
        people: ArrayLike,
        cluster: ArrayLike,
    ) -> "TwoJudges":
        """From columns. ValueError: unequal lengths, an answer without a sureness."""
        sure = [np.asarray(column, dtype=np.float64) for column in (cheap_sure, dear_sure)]
        said = [np.asarray(column, dtype=np.int64) for column in (cheap, dear, people)]
        row, _ = cluster_rows(cluster)
        same_length(cheap=said[0], cheap_sure=sure[0], dear=said[1], dear_sure=sure[1], people=said[2], cluster=row)
        for name, answers, column in (("cheap", said[0], sure[0]), ("dear", said[1], sure[1])):
            bad = np.flatnonzero((answers != NO_ANSWER) & np.isnan(column))
            if bad.size:
                raise ValueError(f"the {name} judge's answer at position {bad[0]} has no sureness")
        return cls(said[0], sure[0], said[1], sure[1], said[2], row)

    def only(self, kept: Bools) -> "TwoJudges":
        """Of these units."""
        return TwoJudges(
            self.cheap[kept],
            self.cheap_sure[kept],
            self.dear[kept],
            self.dear_sure[kept],
            self.people[kept],
            self.cluster[kept],
        )

    @cached_property
    def by_cheap(self) -> Ints:
        """The units that the cheap judge may decide, the surest first."""
        return _falling(self.cheap, self.cheap_sure)

    @cached_property
    def by_dear(self) -> Ints:
        """As ``by_cheap``, of the dear judge."""
        return _falling(self.dear, self.dear_sure)

    def disagrees(self, decider: Ints) -> Bools:
        """Whether what was decided by a judge is not what people say; False where people decide."""
        decided = np.where(decider == CHEAP, self.cheap, self.dear)
        return (decider != PEOPLE) & (decided != self.people)


def _falling(said: Ints, sure: Floats) -> Ints:
    answered = np.flatnonzero((said != NO_ANSWER) & (sure > -inf))
    return answered[np.argsort(-sure[answered], kind="stable")]


def cascade_at(dev: TwoJudges, allowed: float) -> Cascade:
    """The cascade of which at most the share ``allowed`` of what it decides on dev is disagreement: the cheap judge
    decides down to the least sureness from which on at most that share of what it decides is wrong, and the dear one
    down to that with which at most that share of all that both decide is."""
    return _step(dev, allowed, Cascade(inf, inf))


def _step(dev: TwoJudges, allowed: float, before: Cascade) -> Cascade:
    """``cascade_at``, and all that the cascade before decides."""
    cheap = min(before.cheap, _least_sure(dev, allowed, inf, dev.by_cheap, dev.cheap, dev.cheap_sure))
    return Cascade(cheap, min(before.dear, _least_sure(dev, allowed, cheap, dev.by_dear, dev.dear, dev.dear_sure)))


def cascade_family(
    dev: TwoJudges,
    clusters: int,
    *,
    probability: ArrayLike | None = None,
    least: float = 1.0,
    steps: int = STEPS,
    agreements: Sequence[float] = AGREEMENTS,
    confidence: float = CONFIDENCE,
) -> list[Cascade]:
    """Cascades from dev in the order in which they are tried. Each decides all that the one before did, and more, but
    for units without an answer of the cheap judge from where that begins to decide.

    Each step allows a larger share of disagreement on dev (``cascade_at``). The first step is the first that decides a
    fifth of the units, and brings, if test is like dev, enough of ``clusters`` groups for the lowest of the
    ``agreements`` (``clusters_needed``), with two standard deviations to spare: early errors must not end a long
    sequence. The last lets the judges decide all that they have answers on.
    ``probability`` and ``least`` as in ``certified_region``.

    ValueError: no unit.
    """
    if not dev.cluster.size:
        raise ValueError("a family of cascades needs units on dev")
    rows = int(dev.cluster.max()) + 1
    _, single = worths(dev.cluster, rows, probability, least)
    lowest = 1 - min(agreements)
    split = 1 - (1 - confidence) / len(agreements)
    needed = (1 + np.sqrt(1 + clusters_needed(lowest, split, single=single))) ** 2 * rows / max(clusters, 1)
    found: list[Cascade] = []
    last = Cascade(inf, inf)
    for allowed in [*np.linspace(0, lowest, steps).tolist(), 1.0]:
        step = _step(dev, allowed, last)
        decided = step.decider(dev) != PEOPLE
        enough = decided.mean() >= FIRST_SHARE and np.unique(dev.cluster[decided]).size >= min(needed, rows)
        if step != last and (enough or allowed == 1.0):
            found.append(step)
        last = step
    return found


def _least_sure(dev: TwoJudges, allowed: float, cheap: float, falling: Ints, said: Ints, sure: Floats) -> float:
    """The least sureness from which on the judge decides, where at most ``allowed`` of all decided units is wrong;
    infinite: none. ``falling``: the units that it may decide, the surest first. ``cheap``: from which sureness on the
    cheap judge has decided before."""
    before = Cascade(cheap, inf).decider(dev) == CHEAP
    asked = (dev.cheap != NO_ANSWER) | np.isinf(cheap)
    own = falling[(asked & ~before)[falling]]
    if not own.size:
        return inf
    surest, wrong = sure[own], (said != dev.people)[own]
    wrong_before = int((before & (dev.cheap != dev.people)).sum())
    share = (wrong_before + wrong.cumsum()) / (int(before.sum()) + np.arange(1, wrong.size + 1))
    # Units that are equally sure are decided together.
    last_of_equals = np.append(surest[1:] < surest[:-1] * (1 - ROUNDING), True)
    kept = np.flatnonzero(last_of_equals & (share <= allowed))
    return float(surest[kept[-1]]) if kept.size else inf


@dataclass(frozen=True, slots=True)
class CascadeStep:
    """One cascade on test. ``disagreement``: of what the judges decide, the mean over groups of the share on which
    people say otherwise or have not settled, with a one-sided upper bound; ``of_settled``: without unsettled units.
    ``shares``: of the units those decided by each, in the order CHEAP, DEAR, PEOPLE."""

    cascade: Cascade
    disagreement: Estimate
    of_settled: Estimate
    shares: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class CertifiedCascade:
    """For one share of agreement: the last cascade of the family that held; None with the reason where none did.
    ``tried``: how many were tried."""

    agreement: float
    confidence: float
    step: CascadeStep | None
    tried: int
    reason: Remark | None


def certified_cascades(
    test: TwoJudges,
    family: Sequence[Cascade],
    *,
    probability: ArrayLike | None = None,
    least: float = 1.0,
    agreements: Sequence[float] = AGREEMENTS,
    confidence: float = CONFIDENCE,
) -> list[CertifiedCascade]:
    """For each share of agreement the cascade of the family that leaves least to people and still keeps it.

    Of what the judges decide, at least that share is what people say: as a mean over the groups in which they decide
    anything, of the group's share; a unit that people have not settled counts as disagreement. ``family`` was fixed
    before test was looked at (``cascade_family``). For each share the cascades are tried in their order by an upper
    bound of the disagreement (``mean_share_bound``), until one does not keep it. In a fixed sequence every test has the
    full level; the shares divide the chance of an error between them. So the chance that any cascade is certified for a
    share that it truly misses is at most 1 - ``confidence``, over all shares together. Later looks at the same test,
    at whichever judges and cascades of the criterion, cost: pass ``level_of_look(k)`` as confidence.

    ``probability``, ``least``: as in ``certified_region``. ValueError: no share, one outside (0, 1), no cascade.

    Source: Angelopoulos et al. (2021), Learn then Test; cascades: Jung, Brahman & Choi (2025), Trust or Escalate, ICLR.
    """
    if not agreements or not all(0 < share < 1 for share in agreements):
        raise ValueError(f"shares of agreement lie between 0 and 1, not {list(agreements)}")
    if not family:
        raise ValueError("no cascade to try")
    if not 0 < confidence < 1:
        raise ValueError(f"the confidence lies between 0 and 1, not {confidence}")
    rows = int(test.cluster.max(initial=-1)) + 1
    worth, single = worths(test.cluster, rows, probability, least)
    split = 1 - (1 - confidence) / len(agreements)

    def measured(cascade: Cascade) -> CascadeStep:
        decider = cascade.decider(test)
        wrong, settled = test.disagrees(decider), test.people != NO_ANSWER

        def bound(of: Bools) -> Estimate:
            return mean_share_bound(
                wrong[of], test.cluster[of], worth[of], split, single=single, name="disagreement",
                undefined=NOTHING_DECIDED,
            )  # fmt: skip

        decided = decider != PEOPLE
        shares = np.bincount(decider, minlength=3) / max(decider.size, 1)
        cheap, dear, people = shares.tolist()
        return CascadeStep(cascade, bound(decided), bound(decided & settled), (cheap, dear, people))

    steps = [measured(cascade) for cascade in family]
    return [_last_that_holds(steps, share, split, single) for share in agreements]


def _last_that_holds(steps: Sequence[CascadeStep], agreement: float, split: float, single: bool) -> CertifiedCascade:
    passed, tried = None, 0
    for step in steps:
        tried += 1
        if step.disagreement.high is None or step.disagreement.high > 1 - agreement:
            break
        passed = step
    reason = None if passed else _why_none(steps[0].disagreement, agreement, split, single)
    return CertifiedCascade(agreement, split, passed, tried, reason)


def _why_none(first: Estimate, agreement: float, split: float, single: bool) -> Remark:
    needed = clusters_needed(1 - agreement, split, single=single)
    if first.value is None or first.high is None:
        return remark("no_cascade", why=NOTHING_DECIDED)
    if first.clusters < needed:
        return remark("no_cascade", why=remark("few_decided_groups", n=first.clusters, needed=needed))
    above = remark(
        "disagreement_above",
        n=first.clusters,
        found=rounded_share(first.value),
        high=rounded_share(first.high),
        most=rounded_share(1 - agreement),
    )
    return remark("no_cascade", why=above)
