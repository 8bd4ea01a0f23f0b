"""How sure the figures of a report would be with more labelled samples, and what the labels say of all samples: those
of a drawn batch by what each stands for, others with the judge's scores.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, cast

import numpy as np

from alignment.base.arrays import Floats, Ints, cluster_rows, first_places, renumbered
from alignment.base.coded import Coded, array_of
from alignment.base.estimate import Estimate, Remark, estimates_as_dicts, remark
from alignment.base.ratings import encode
from alignment.judging.prevalence import PpiMean, ppi_mean
from alignment.judging.weighted import weighted_at_threshold
from alignment.planning.sample_size import Plannable, plannable_from_estimate, two_digits
from alignment.report.comparison import Comparison
from alignment.report.evidence import Value
from alignment.report.judged import NONE_SCORED, Judged
from alignment.report.reference import DEV, Reference
from alignment.report.units import ByUnit, by_unit

RATES = ("kappa", "tpr", "tnr")
#: Numbers of further samples that are worth a look, as multiples of powers of ten …
_STEPS = (1, 1.5, 2, 3, 5, 7)
#: … between a tenth of the labelled samples and eight times as many.
_FROM, _TO = 0.1, 8.0
#: Half-widths that readers may have in mind; the plan is for the first that is a good deal narrower than now.
_WIDTHS = (0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
_NARROWER = 0.75


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
        """Half the interval's width with this many more labelled samples."""
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
    labelled = len(reference.units.samples)
    on_dev = reference.samples_of(np.flatnonzero(reference.positive.known & (reference.side == DEV))).size
    share, more = share_of(reference, dev=True), _more(labelled)
    rows = [_row(None, "kappa", people, labelled, 1.0, more)]
    for title, one in zip(titles, comparisons, strict=True):
        at = one.row["at_threshold"]
        rows += [_row(title, name, Estimate(**at[name]), on_dev, share, more) for name in RATES]
    return {"samples": labelled, "dev": on_dev, "more": more, "rows": rows}


def _row(who: str | None, figure: str, now: Estimate, of: int, share: float, more: list[int]) -> dict[str, Any]:
    """``now`` rests on some of ``of`` samples; of those labelled from now on ``share`` join these."""
    plan = plannable_from_estimate(now)
    row = {"judge": who, "figure": figure, "value": now.value, "half_width": None, "reason": plan.reason}
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
        "goal": None if target is None else goal(growth, target),
    }


def goal(growth: Growth, half_width: float) -> Remark:
    """How many more samples it takes, in labelled samples of both halves.

    >>> goal(Growth(Plannable(100, 0.8, 0.95, None), 0.5), 0.1)
    {'code': 'more_samples_for', 'n': 300, 'width': 0.1}
    """
    more = growth.more_for(half_width)
    if not more:
        return remark("width_reached", width=half_width)
    return remark("more_samples_for", n=two_digits(more), width=half_width)


def _more(labelled: int) -> list[int]:
    """Some ten round numbers of further samples."""
    counts = (round(step * 10**power) for power in range(1, 8) for step in _STEPS)
    return [count for count in counts if _FROM * max(labelled, 50) <= count <= _TO * max(labelled, 50)]


def drawn_figures(
    reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]
) -> dict[str, Any] | None:
    """Each judge's kappa, TPR and TNR, weighted and plain, as plain JSON.

    None without a draw of which something was labelled and settled (``Evidence.chances``), and where all samples were
    drawn and no other is labelled: then both are the same. ``population`` counts the samples that the weighted figures
    are of: those labelled before the draw (``known``) and those it was made from. ``unseen`` of them lie in strata of
    which nothing was labelled.

    A judge's figures rest on the labelled samples of the dev half with a score. Those are taken for a random part of
    their stratum, as are the labelled among the drawn: a sample counts size/found of its stratum.
    """
    if not is_drawn(reference):
        return None
    chances = reference.evidence.chances
    labelled = _labelled(reference) & chances.keys()
    drawn = {sample for sample, chance in chances.items() if chance.stratum}
    every = [*chances.values(), *reference.evidence.nameless]
    drawn_in_all = sum(chance.stratum > 0 for chance in every)
    sizes = _sizes(reference)
    seen = Counter(chances[sample].stratum for sample in labelled)
    weights = [sizes[stratum] / count for stratum, count in seen.items()]
    return {
        "drawn": drawn_in_all,
        "labelled": len(labelled & drawn),
        "known": len(every) - drawn_in_all,
        "population": sum(sizes.values()),
        "unseen": sum(size for stratum, size in sizes.items() if stratum not in seen),
        "lightest": min(weights),
        "heaviest": max(weights),
        "judges": [_judge(reference, title, one) for title, one in zip(titles, comparisons, strict=True)],
    }


def is_drawn(reference: Reference) -> bool:
    """Whether something of a draw was labelled and settled, and weights differ."""
    chances, labelled = reference.evidence.chances, _labelled(reference)
    if labelled <= chances.keys() and all(chance.probability == 1 for chance in chances.values()):
        return False
    return any(chances[sample].stratum for sample in labelled & chances.keys())


def _labelled(reference: Reference) -> set[str]:
    """Samples with a label that is settled."""
    samples = reference.units.samples
    return {samples[place] for place in reference.samples_of(np.flatnonzero(~reference.left_out)).tolist()}


def _sizes(reference: Reference) -> dict[int, int]:
    """How many samples each stratum has: every drawn one stands for 1/probability of them."""
    reckoned: dict[int, float] = defaultdict(float)
    for chance in chain(reference.evidence.chances.values(), reference.evidence.nameless):
        reckoned[chance.stratum] += 1 / chance.probability
    return {stratum: round(size) for stratum, size in reckoned.items()}


def _judge(reference: Reference, title: str, one: Comparison) -> dict[str, Any]:
    at = one.row["at_threshold"]
    places = one.decisions.places[reference.has_chance[one.decisions.places]]
    if at["reason"] is not None or not places.size:
        none = Estimate.undefined(at["reason"] or NONE_SCORED).as_dict()
        return {"title": title, **{name: {"weighted": none, "plain": at[name]} for name in RATES}}
    decided = one.decisions.values_at[places].astype(np.float64)
    passed, (group, probability, stratum) = reference.positive.values_at[places], design_of(reference, places)
    found = weighted_at_threshold(decided, passed, group, 0.5, probability, stratum)
    weighted = estimates_as_dicts(found, RATES)
    return {"title": title, **{name: {"weighted": weighted[name], "plain": at[name]} for name in RATES}}


def design_of(reference: Reference, places: Ints) -> tuple[Ints, Floats, Ints]:
    """Group, probability and stratum of each of these units, as if only their samples had been drawn."""
    sizes, stratum = _sizes(reference), reference.chance[1][places]
    of_sample = stratum[first_places(*cluster_rows(reference.units.sample[places]))]
    found, code = np.unique(of_sample, return_counts=True), renumbered(stratum)[1]
    shares = [count / sizes[one] for one, count in zip(*(column.tolist() for column in found), strict=True)]
    return reference.group[places], np.array(shares, dtype=np.float64)[code], stratum


ALL_LABELLED = remark("all_labelled")
#: Of a version of the pipeline with fewer samples nothing is said.
FEWEST_OF_VERSION = 20
FEW_LABELLED = remark("few_labelled_samples", n=FEWEST_OF_VERSION)


def population_figures(judged: Judged) -> dict[str, Any]:
    """The labelled units' mean alone (classical), PPI++ (tuned, with its weight) and PPI with weight 1, as plain JSON.

    Of all scored units that the evidence has open: of the labelled samples those of dev. Numbers count as they are,
    turned round where lower is better; labels as pass (1) and fail (0). Clusters are samples.

    Units that are not settled count as unlabelled.

    ``ties``: scored units whose labels are split in half, which are in neither part. ``drawn``: the labelled samples
    had unequal chances, or some of them were chosen, so that they are no even part of all.

    Where every scored unit has a label, classical is still there, and ``reason`` says why the others are not.

    ``versions``: the same of each version of the pipeline, where the scored samples are of several; the rest is then of
    all of them pooled, which is the share of no version. Left out where there is one. A version with labels of fewer
    than FEWEST_OF_VERSION samples has no figures.
    """
    reference = judged.reference
    said = judged.labels if judged.answers_labels else by_unit(judged.said.numbers, np.float64)
    place, at = said.places, reference.units.places(said)
    counts = judged.scores.known & ~reference.left_out
    others = place[(at < 0) | ~np.append(counts, False)[at]]
    labelled = said.units.places(judged.decided)
    found = _population(judged, said, labelled, others)
    ties = len(said) - others.size - labelled.size if reference.passing is not None else 0
    of = reference.evidence.versions
    if not of:
        return {**found, "ties": ties}
    version, versions = encode([of.get(sample, "") for sample in said.units.samples])
    own = [version[said.units.sample[places]] for places in (labelled, others)]
    present = sorted((cast("str", versions[code]), code) for code in np.unique(np.concatenate(own)).tolist())
    if len(present) < 2:
        return {**found, "ties": ties}
    rows_of = [
        {
            "version": name,
            **_population(judged, said, labelled[own[0] == code], others[own[1] == code], least=FEWEST_OF_VERSION),
        }
        for name, code in present
    ]
    return {**found, "ties": ties, "versions": rows_of}


def _population(judged: Judged, said: ByUnit[Value], labelled: Ints, others: Ints, *, least: int = 0) -> dict[str, Any]:
    """Of these units of what the judge said. least: how many samples with labels it takes."""
    units, chances = said.units, judged.reference.evidence.chances
    samples = [units.samples[place] for place in np.unique(units.sample[labelled]).tolist()]
    counted = {
        "labelled": {"units": labelled.size, "samples": len(samples)},
        "unlabelled": {"units": others.size, "samples": np.unique(units.sample[others]).size},
        "drawn": len({chances[sample].probability if sample in chances else None for sample in samples}) > 1,
    }
    if len(samples) < least:
        few = judged.refusal() or FEW_LABELLED
        none = Estimate.undefined(few, n=labelled.size, clusters=len(samples)).as_dict()
        return {"reason": few, **counted, **dict.fromkeys(_MEANS, none), "weight": None}
    reason = judged.refusal() or (None if others.size else ALL_LABELLED)
    found = _means(judged, said, labelled, others)
    means = {name: getattr(found, name) for name in _MEANS}
    return {
        "reason": reason,
        **counted,
        # With the report's own reason where there is no value.
        **{
            name: (one if one.value is not None else replace(one, reason=reason)).as_dict()
            for name, one in means.items()
        },
        "weight": found.weight,
    }


_MEANS = ("classical", "tuned", "plain")


def _means(judged: Judged, said: ByUnit[Value], labelled: Ints, others: Ints) -> PpiMean:
    reference, units, every = judged.reference, said.units, np.concatenate([labelled, others])
    if judged.answers_labels:
        score = array_of(said.values_at[every], judged.criterion.passes.__contains__, np.float64)
    else:
        # Higher is better: the weight is never below 0.
        score = said.values_at[every] * (1 if judged.said.higher_is_better else -1)
    group, groups = encode(list(map(reference.evidence.group_of, units.samples)))
    cluster, _ = encode(Coded(groups, group[units.sample[every]]))
    return ppi_mean(
        reference.positive.values_at[reference.units.places(units)[labelled]].astype(np.float64),
        score[: labelled.size],
        cluster[: labelled.size],
        score[labelled.size :],
        cluster[labelled.size :],
        bounds=(0.0, 1.0),
        interval="jackknife",
    )
