"""The trust verdict of a judge, day to day, on the dev part."""

from typing import Any

from alignment.auc import roc_auc
from alignment.estimate import Estimate
from alignment.figures.comparison import Comparison
from alignment.figures.judged import Judged
from alignment.figures.planned import more_samples, share_of
from alignment.figures.reference import Reference
from alignment.trust import Trust, trust_verdict


def trust_on_dev(reference: Reference, one: Comparison, kappa: Estimate, ceiling: Estimate) -> dict[str, Any]:
    """What the figures of the dev part come to. ``kappa`` is the one that the judge is known by, ``ceiling`` the
    difference of the human ceiling."""
    units, halves = set(one.decisions or one.labels), reference.passing is not None
    return trust_as_dict(
        trust_verdict(
            kappa=kappa,
            calibrated=None,
            auc=_auc(one.judged) if halves else None,
            ceiling=ceiling,
            labels=sum(unit in units for unit in reference.evidence.units),
            clusters=kappa.clusters,
            more=more_samples,
            part="on dev" if halves else "in all",
            share=share_of(reference, dev=True) if halves else 1.0,
        ),
        "dev" if halves else "all",
    )


def _auc(judged: Judged) -> Estimate:
    """ROC AUC on dev alone: that of the report is of all units."""
    reason = judged.refusal() or judged.one_class(judged.dev, "dev")
    if reason is not None:
        return Estimate.undefined(reason, method="ROC AUC")
    higher = judged.said.higher_is_better
    return roc_auc(*judged.columns(judged.dev), higher_is_better=higher, rng=judged.rng("dev roc_auc"))


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
