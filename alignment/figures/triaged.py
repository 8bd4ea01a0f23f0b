"""Which of a judge's decisions need no second look by people."""

from typing import Any

from alignment.estimate import Estimate
from alignment.figures.judged import Judged
from alignment.region import CONFIDENCE, RISK, certified_region, distance_steps, share_inside

NO_DISTANCE = "a judge that answers with labels gives no score whose distance from a threshold says how sure it is"


def region_on_test(judged: Judged, threshold: float | None, level: float = CONFIDENCE) -> dict[str, Any]:
    """The scores that the judge may decide alone, certified on the test part, as plain JSON. Only inside a look at it.

    ``threshold``: that of ``on_test``, the best on all of dev; None for a judge that answers with labels. The distances
    tried come from dev as well. ``level``: the confidence that this look is worth (alignment.looks).

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
