"""What a drawn batch says of all samples: every labelled sample counts for as many as it stands for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from alignment.estimate import Estimate
from alignment.figures.comparison import Comparison
from alignment.figures.evidence import UnitKey
from alignment.figures.planned import RATES
from alignment.figures.reference import NO_PASSES, Reference
from alignment.weighted import weighted_at_threshold, weighted_mean


def drawn_figures(
    reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]
) -> dict[str, Any] | None:
    """The share of units that pass and each judge's kappa, TPR and TNR, weighted and plain, as plain JSON.

    None without a draw of which something was labelled (``Evidence.chances``). ``population`` counts the samples that
    the weighted figures are of: those labelled before the draw (``known``) and those it was made from. ``unseen`` of
    them lie in strata of which nothing was labelled.

    A judge's figures rest on the labelled samples of the dev half with a score. Those are taken for a random part of
    their stratum, as are the labelled among the drawn: a sample counts size/found of its stratum.
    """
    chances = reference.evidence.chances
    labelled = {sample for sample, _ in reference.units} & chances.keys()
    drawn = [sample for sample, chance in chances.items() if chance.stratum]
    found = len(labelled.intersection(drawn))
    if not found:
        return None
    sizes = _sizes(reference)
    seen = Counter(chances[sample].stratum for sample in labelled)
    weights = [sizes[stratum] / count for stratum, count in seen.items()]
    return {
        "drawn": len(drawn),
        "labelled": found,
        "known": len(chances) - len(drawn),
        "population": sum(sizes.values()),
        "unseen": sum(size for stratum, size in sizes.items() if stratum not in seen),
        "lightest": min(weights),
        "heaviest": max(weights),
        "passes": _share(reference, sizes),
        "judges": [_judge(reference, sizes, title, one) for title, one in zip(titles, comparisons, strict=True)],
    }


def _share(reference: Reference, sizes: Mapping[int, int]) -> dict[str, Any]:
    if reference.passing is None:
        return {"weighted": Estimate.undefined(NO_PASSES).as_dict(), "plain": Estimate.undefined(NO_PASSES).as_dict()}
    units = [unit for unit in reference.positive if unit[0] in reference.evidence.chances]
    weighted = weighted_mean(_passed(reference, units), *_design(reference, sizes, units), bounds=(0.0, 1.0))
    every = list(reference.positive)
    alike = [1.0] * len(every), [0] * len(every)
    plain = weighted_mean(_passed(reference, every), [sample for sample, _ in every], *alike, bounds=(0.0, 1.0))
    return {"weighted": weighted.as_dict(), "plain": plain.as_dict()}


def _judge(reference: Reference, sizes: Mapping[int, int], title: str, one: Comparison) -> dict[str, Any]:
    at = one.row["at_threshold"]
    units = [unit for unit in one.decisions if unit[0] in reference.evidence.chances]
    if at["reason"] is not None or not units:
        none = Estimate.undefined(at["reason"] or "the judge scored none of these samples").as_dict()
        return {"title": title, **{name: {"weighted": none, "plain": at[name]} for name in RATES}}
    sample, probability, stratum = _design(reference, sizes, units)
    decided = [float(one.decisions[unit]) for unit in units]
    found = weighted_at_threshold(decided, _passed(reference, units), sample, 0.5, probability, stratum)
    return {
        "title": title,
        **{name: {"weighted": getattr(found, name).as_dict(), "plain": at[name]} for name in RATES},
    }


def _passed(reference: Reference, units: Sequence[UnitKey]) -> list[bool]:
    return [reference.positive[unit] for unit in units]


def _sizes(reference: Reference) -> dict[int, int]:
    """How many samples each stratum has: every drawn one stands for 1/probability of them."""
    sizes: dict[int, float] = {}
    for chance in reference.evidence.chances.values():
        sizes[chance.stratum] = sizes.get(chance.stratum, 0.0) + 1 / chance.probability
    return {stratum: round(size) for stratum, size in sizes.items()}


def _design(
    reference: Reference, sizes: Mapping[int, int], units: Sequence[UnitKey]
) -> tuple[list[str], list[float], list[int]]:
    """Sample, probability and stratum of each unit, as if only the samples of these units had been drawn."""
    chances = reference.evidence.chances
    found = Counter(chances[sample].stratum for sample in {sample for sample, _ in units})
    samples = [sample for sample, _ in units]
    strata = [chances[sample].stratum for sample in samples]
    return samples, [found[stratum] / sizes[stratum] for stratum in strata], strata
