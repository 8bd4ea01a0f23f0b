"""In which of four bands a figure lies, by limits that a project sets."""

from collections.abc import Sequence

from alignment.base.estimate import Estimate

BANDS = ("poor", "fair", "good", "excellent")


def band_of(found: Estimate, limits: Sequence[float], *, higher_is_better: bool = True) -> list[str] | None:
    """The bands of both ends of the interval, the less good one first; None without an interval: a figure alone is in
    no band. ``limits``: from where on it is fair, good and excellent.

    >>> band_of(Estimate(0.8, 0.72, 0.88), [0.5, 0.7, 0.85])
    ['good', 'excellent']
    >>> band_of(Estimate(900.0, 800.0, 2100.0), [4000, 2000, 1000], higher_is_better=False)
    ['fair', 'excellent']
    """
    if found.low is None or found.high is None:
        return None
    ends = (found.low, found.high) if higher_is_better else (found.high, found.low)
    sign = 1 if higher_is_better else -1
    return [BANDS[sum(sign * end >= sign * limit for limit in limits)] for end in ends]
