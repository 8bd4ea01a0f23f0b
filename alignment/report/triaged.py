"""Which of a judge's decisions need no second look by people."""

from typing import Any

import numpy as np

from alignment.base.arrays import cluster_rows
from alignment.base.estimate import NO_UNITS, Estimate, remark
from alignment.base.interval import Plan, share_of_trials
from alignment.judging.triage import (
    CONFIDENCE,
    RISK,
    ROUNDING,
    certified_region,
    distance_steps,
    far_from,
    risk_coverage,
    share_inside,
)
from alignment.report.comparison import Comparison
from alignment.report.judged import Judged
from alignment.report.reference import Reference

NO_DISTANCE = remark("no_distance")
POINTS = 100
TENTHS = 10


def triage_figures(reference: Reference, one: Comparison) -> dict[str, Any]:
    """Risk against coverage on the dev part, as plain JSON: what people's time would buy, day to day.

    Cross-fitted like every figure at a threshold: a unit's sureness is its distance from the threshold of its own fold,
    which was chosen on the other four, so no unit is surer, or right, because the threshold was chosen on it. At full
    coverage the risk is that of the confusion matrix shown beside it.

    {"curve": {"coverage", "risk"}, at most 100 points; "rows": of about every tenth of coverage {"coverage",
    "distance", "error"}, the error with its interval; "aurc"; "reason"}. Without a curve the first two are empty.
    """
    reason = one.row["at_threshold"]["reason"] or (None if one.margins else NO_DISTANCE)
    if reason is not None:
        undefined = Estimate.undefined(reason).as_dict()
        return {"curve": {"coverage": [], "risk": []}, "rows": [], "aurc": undefined, "reason": reason}
    # Two scores may be further apart than the greatest number.
    margin = np.nan_to_num(np.fromiter(one.margins.values(), np.float64, len(one.margins)))
    positive = np.array([reference.positive[unit] for unit in one.margins])
    row, _ = cluster_rows(reference.clusters(one.margins))
    rng = reference.rng("triage", about=one.said.name)
    found = risk_coverage(margin, positive, row, 0.0, rng=rng)
    wrong, plan = (margin >= 0) != positive, Plan("auto", rng, CONFIDENCE)

    def error(distance: float) -> Estimate:
        far = far_from(margin, 0.0, distance)
        return share_of_trials(wrong[far], row[far], plan, name="error rate", undefined=NO_UNITS)

    # The first coverages at or above 1/count, 2/count, … 1, each once.
    points, tenths = (
        np.unique(np.searchsorted(found.coverage, np.arange(1, count + 1) / count * (1 - ROUNDING)))
        for count in (POINTS, TENTHS)
    )
    return {
        "curve": {"coverage": found.coverage[points].tolist(), "risk": found.risk[points].tolist()},
        "rows": [
            {"coverage": coverage, "distance": distance, "error": error(distance).as_dict()}
            for coverage, distance in zip(found.coverage[tenths].tolist(), found.distance[tenths].tolist(), strict=True)
        ],
        "aurc": found.aurc.as_dict(),
        "reason": None,
    }


def region_on_test(judged: Judged, threshold: float | None, level: float = CONFIDENCE) -> dict[str, Any]:
    """The scores that the judge may decide alone, certified on the test part, as plain JSON. Only inside a look at it.

    ``threshold``: that of ``on_test``, the best on all of dev; None for a judge that answers with labels. The distances
    tried come from dev as well. ``level``: the confidence that this look is worth (alignment.judging.looks).

    {"threshold", "distance", "risk", "confidence", "error", "inside", "tried", "reason"}: without a region ``distance``
    is None and ``reason`` says why. ``error`` is the share of wrong decisions in the region, from 0 to its bound (in
    the first step, which failed, when there is no region), ``inside`` the share of the test units that lie in it, and
    ``tried`` has {"distance", "error"} of every step.
    """
    if threshold is None:
        undefined = Estimate.undefined(NO_DISTANCE, level=level).as_dict()
        certified = {"error": undefined, "inside": undefined, "tried": [], "reason": NO_DISTANCE}
        return {"threshold": None, "distance": None, "risk": RISK, "confidence": level, **certified}
    scores, positive, samples = judged.columns(judged.test)
    steps = distance_steps(judged.columns(judged.dev)[0], threshold, len(set(samples)), confidence=level)
    higher = judged.said.higher_is_better
    region = certified_region(scores, positive, samples, threshold, steps, confidence=level, higher_is_better=higher)
    return {
        "threshold": region.threshold,
        "distance": region.distance,
        "risk": region.risk,
        "confidence": region.confidence,
        "error": region.error.as_dict(),
        "inside": share_inside(region, scores, samples, rng=judged.rng("test region"), level=level).as_dict(),
        "tried": [{"distance": distance, "error": error.as_dict()} for distance, error in region.tried],
        "reason": region.reason,
    }
