"""The trust verdict of a judge, day to day, on the dev part."""

from typing import Any

from alignment.estimate import Estimate
from alignment.figures.comparison import Comparison
from alignment.figures.planned import more_samples, share_of
from alignment.figures.reference import Reference
from alignment.trust import Trust, trust_verdict


def trust_on_dev(reference: Reference, one: Comparison, kappa: Estimate, ceiling: Estimate) -> dict[str, Any]:
    """What the figures of the dev part come to. ``kappa`` is the one that the judge is known by, ``ceiling`` the
    difference of the human ceiling."""
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
