"""The trust verdict of a judge, day to day, on the dev part."""

from typing import Any

from alignment.estimate import Estimate
from alignment.figures.comparison import Comparison
from alignment.figures.reference import Reference
from alignment.planning import plannable_from_estimate
from alignment.trust import Trust, trust_verdict


def trust_on_dev(reference: Reference, one: Comparison, kappa: Estimate, ceiling: Estimate) -> dict[str, Any]:
    """What the figures of the dev part come to. ``kappa`` is the one that the judge is known by, ``ceiling`` the
    difference of the human ceiling.

    A threshold is a calibration, and cross-fitted, so kappa at a threshold stands for "once calibrated" as well.
    """
    units = set(one.decisions or one.labels)
    return trust_as_dict(
        trust_verdict(
            kappa=kappa,
            calibrated=None,
            auc=Estimate(**one.row["roc_auc"]),
            ceiling=ceiling,
            labels=sum(unit in units for unit in reference.evidence.units),
            clusters=kappa.clusters,
            more=more_samples,
            part="dev",
            share=share_of(reference, dev=True),
        ),
        "dev",
    )


def more_samples(estimate: Estimate, half_width: float) -> int | None:
    """How many more samples of the same part bring the estimate to the half-width; None where nobody knows."""
    return plannable_from_estimate(estimate).more_for(half_width)


def share_of(reference: Reference, *, dev: bool) -> float:
    """What share of the samples with a reference lies in the part, and so what share of further ones will."""
    sides = list(reference.evidence.is_dev.values())
    return sides.count(dev) / len(sides) if sides else 0.0


def trust_as_dict(trust: Trust, part: str) -> dict[str, Any]:
    return {
        "verdict": trust.verdict,
        "headline": trust.headline,
        "reason": trust.reason,
        "allows": trust.allows,
        "forbids": trust.forbids,
        "more": trust.more,
        "part": part,
    }
