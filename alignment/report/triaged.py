"""Which of a judge's decisions need no second look by people."""

from typing import Any

import numpy as np

from alignment.base.arrays import Bools, Floats, Ints, cluster_rows
from alignment.base.estimate import NO_UNITS, Estimate, Remark, estimates_as_dicts, remark
from alignment.base.interval import Plan, share_of_trials
from alignment.judging.triage import (
    CONFIDENCE,
    RISK,
    ROUNDING,
    CertifiedRegion,
    certified_region,
    distance_steps,
    far_from,
    risk_coverage,
)
from alignment.judging.weighted import weighted_mean
from alignment.report.comparison import Comparison
from alignment.report.drawn import Drawn, drawn, settled_on
from alignment.report.judged import Judged
from alignment.report.lots import whole_or_by_lot
from alignment.report.reference import Reference
from alignment.report.units import ByUnit

NO_DISTANCE = remark("no_distance")
POINTS = 100
TENTHS = 10
_ERRORS = ("false_passes", "false_fails")


def triage_figures(reference: Reference, one: Comparison) -> dict[str, Any]:
    """Risk against coverage on the dev part, as plain JSON: what people's time would buy, day to day.

    Cross-fitted like every figure at a threshold: a unit's sureness is its distance from the threshold of its own fold,
    which was chosen on the other four, so no unit is surer, or right, because the threshold was chosen on it. At full
    coverage the risk is that of the confusion matrix shown beside it.

    {"curve": {"coverage", "risk"}, at most 100 points; "rows": of about every tenth of coverage {"coverage",
    "distance", "error"}, the error with its interval; "aurc"; "reason"}. Without a curve the first two are empty.
    """
    reason: Remark | None = one.row["at_threshold"]["reason"]
    if reason is not None or one.margins is None:
        reason = reason or NO_DISTANCE
        undefined = Estimate.undefined(reason).as_dict()
        return {"curve": {"coverage": [], "risk": []}, "rows": [], "aurc": undefined, "reason": reason}
    # Two scores may be further apart than the greatest number.
    margins = ByUnit.of(reference.units, one.margins, np.float64)
    margin = np.nan_to_num(margins.column)
    _, positive, group = one.judged.columns(reference.units.at(margins.places))
    row, _ = cluster_rows(group)
    rng = reference.rng("triage", about=one.said.name)
    found = risk_coverage(margin, positive, row, 0.0, rng=rng)
    wrong, plan = (margin >= 0) != positive, Plan("jackknife", None, CONFIDENCE)

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


def no_region(threshold: float | None, level: float, risk: float, reason: Remark) -> dict[str, Any]:
    """As ``region_on_test`` gives it, where none was tried."""
    undefined = Estimate.undefined(reason, level=level).as_dict()
    none = {"false_passes": undefined, "false_fails": undefined, "inside": undefined, "tried": []}
    return {"threshold": threshold, "distance": None, "risk": risk, "confidence": level, **none, "reason": reason}


def region_on_test(
    judged: Judged, threshold: float | None, level: float = CONFIDENCE, risk: float = RISK
) -> dict[str, Any]:
    """The scores that the judge may decide alone, certified on the test part, as plain JSON. Only inside a look at it.

    ``threshold``: that of ``on_test``, the best on all of dev; None for a judge that answers with labels. The distances
    tried come from dev as well. ``level``: the confidence that this look is worth (alignment.judging.looks). ``risk``:
    what each kind of error may come to. Units of samples that were chosen do not enter, and others weigh one over the
    chance by which theirs was drawn (``Evidence.chances``); of a group of which only some samples were drawn, one
    counts (``whole_or_by_lot``).

    {"threshold", "distance", "risk", "confidence", "false_passes", "false_fails", "inside", "tried", "reason"}: without
    a region ``distance`` is None and ``reason`` says why. The two kinds of error stand from 0 to their bounds (in the
    first step, which failed, when there is no region), ``inside`` is the share of the settled test units that lie in
    the region, scored or not, and ``tried`` has {"distance", "false_passes", "false_fails"} of every step.
    """
    if threshold is None:
        return no_region(None, level, risk, NO_DISTANCE)
    reference, chances = judged.reference, judged.reference.evidence.chances
    dev, test = (drawn(reference, whole_or_by_lot(reference.evidence, units)) for units in (judged.dev, judged.test))
    least = min((one.probability for one in chances.values()), default=1.0)
    steps = distance_steps(
        *_columns(judged, dev),
        threshold,
        np.unique(test.cluster).size,
        probability=dev.probability,
        least=least,
        risk=risk,
        confidence=level,
    )
    region = certified_region(
        *_columns(judged, test),
        threshold,
        steps,
        probability=test.probability,
        least=least,
        risk=risk,
        confidence=level,
        higher_is_better=judged.said.higher_is_better,
    )
    return {
        "threshold": region.threshold,
        "distance": region.distance,
        "risk": region.risk,
        "confidence": region.confidence,
        **estimates_as_dicts(region.step, _ERRORS),
        "inside": _inside(judged, region, level).as_dict(),
        "tried": [{"distance": step.distance, **estimates_as_dicts(step, _ERRORS)} for step in region.tried],
        "reason": region.reason,
    }


def _columns(judged: Judged, known: Drawn) -> tuple[Floats, Bools, Ints]:
    scores, positive, _ = judged.columns(known.units)
    return scores, positive, known.cluster


def _inside(judged: Judged, region: CertifiedRegion, level: float) -> Estimate:
    """Share of the settled test units that the region holds; a unit without a score lies outside."""
    name, known = "share inside the region", drawn(judged.reference, settled_on(judged.reference, is_dev=False))
    if region.reason is not None:
        n, clusters = len(known.units), np.unique(known.cluster).size
        why = region.reason.get("why", region.reason)
        return Estimate.undefined(why, n=n, clusters=clusters, method=name, level=level)
    scored = judged.scores.known[known.places]
    inside = np.zeros(scored.size)
    inside[scored] = region.inside(judged.scores.values_at[known.places[scored]])
    return weighted_mean(inside, *known.design, bounds=(0.0, 1.0), level=level)
