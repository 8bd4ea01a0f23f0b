"""The trust verdict of a judge, day to day, on the dev part; and what to say beside a report's intervals when they rest
on little.
"""

from typing import Any

from alignment.base.caveats import interval_caveat, rarer_samples
from alignment.base.estimate import Estimate, Remark
from alignment.base.ratings import encode
from alignment.judging.trust import Part, Trust, trust_verdict
from alignment.report.comparison import Comparison
from alignment.report.evidence import UnitKey
from alignment.report.judged import Judged
from alignment.report.planned import more_samples, share_of
from alignment.report.reference import Reference


def trust_on_dev(reference: Reference, one: Comparison, kappa: Estimate, ceiling: Estimate) -> dict[str, Any]:
    """What the figures of the dev part come to. ``kappa`` is the one that the judge is known by, ``ceiling`` the
    difference of the human ceiling."""
    units, halves = set(one.decisions or one.labels), reference.passing is not None
    part: Part = "dev" if halves else "all"
    return trust_as_dict(
        trust_verdict(
            kappa=kappa,
            calibrated=None,
            auc=_auc(one.judged) if halves else None,
            ceiling=ceiling,
            labels=sum(unit in units for unit in reference.evidence.units),
            clusters=kappa.clusters,
            more=more_samples,
            part=part,
            share=share_of(reference, dev=True) if halves else 1.0,
        ),
        part,
    )


def _auc(judged: Judged) -> Estimate:
    """ROC AUC on dev alone: that of the report is of all units."""
    reason = judged.refusal() or judged.one_class(judged.dev, "dev")
    if reason is not None:
        return Estimate.undefined(reason, method="ROC AUC")
    return judged.roc_auc(judged.dev, "dev roc_auc")


def trust_as_dict(trust: Trust, part: Part) -> dict[str, Any]:
    return {"verdict": trust.verdict, "reason": trust.reason, "more": trust.more, "part": part}


def caveat_of(judged: Judged, units: list[UnitKey]) -> Remark | None:
    """For the judge's figures on these units, by people's pass and fail; None where none is needed, or no figure is."""
    if not units:
        return None
    _, positive, samples = judged.columns(units)
    return interval_caveat(clusters=len(set(samples)), rarer=rarer_samples(positive, samples))


def caveat_of_judge(judged: Judged) -> Remark | None:
    """For the day-to-day figures: on dev; where there is no pass and fail, of a judge's labels by those people gave."""
    if judged.reference.passing is not None:
        return caveat_of(judged, judged.dev)
    human = judged.reference.labels()
    units = [unit for unit in judged.labels if unit in human]
    if not units:
        return None
    samples, values = judged.reference.clusters(units), encode([human[unit] for unit in units])[0]
    return interval_caveat(clusters=len(set(samples)), rarer=rarer_samples(values, samples))


def caveat_of_people(reference: Reference) -> Remark | None:
    """For people's agreement with each other, on all values."""
    ratings = reference.ratings
    if not len(ratings):
        return None
    return interval_caveat(clusters=ratings.n_clusters, rarer=rarer_samples(ratings.value, ratings.cluster))
