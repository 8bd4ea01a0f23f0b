"""How sure the figures of a report would be with more labelled samples."""

from alignment.estimate import Estimate
from alignment.planning import plannable_from_estimate


def more_samples(estimate: Estimate, half_width: float) -> int | None:
    """How many more samples (clusters) bring the estimate to that half-width, 0 when it is there; the planner that
    ``trust_verdict`` asks. None for an estimate without an interval, which says nothing of its error. ValueError: a
    half-width that is not above 0.

    >>> more_samples(Estimate(0.5, 0.3, 0.7, n=100, clusters=100), 0.1)
    291
    """
    return plannable_from_estimate(estimate).more_for(half_width)
