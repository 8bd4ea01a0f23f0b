"""How far a proposal pulls people: how much more often they agree with it where they see it."""

from dataclasses import dataclass
from math import hypot

from numpy.typing import ArrayLike

from alignment.base.estimate import NO_UNITS, Estimate, remark
from alignment.base.interval import clustered_share

#: Of fewer groups on either side there is no figure.
FEWEST_GROUPS = 10


@dataclass(frozen=True, slots=True)
class Anchoring:
    """``shown``, ``withheld``: the share of labels that agree with what was, or would have been, proposed; ``more``:
    the first less the second."""

    more: Estimate
    shown: Estimate
    withheld: Estimate


def anchoring(
    shown_hits: ArrayLike, shown_trials: ArrayLike, withheld_hits: ArrayLike, withheld_trials: ArrayLike
) -> Anchoring:
    """From the labels that agree and all labels of each group, shape (groups,), of the groups that were drawn to see
    proposals and of those that were not: independent of each other, so the distances of both shares to the ends of
    their own clustered intervals (``proportion``) are added as squares.

    With fewer than ten groups on either side no figure. Every interval lies between -1 and 1, and none has no width.

    Source: Newcombe (1998), Stat. Med. 17, method 10, who takes Wilson's intervals; with any: Donner & Zou (2012),
    Stat. Methods Med. Res. 21. How often it holds: tests/alignment/agreement/test_anchoring.py.

    >>> found = anchoring([9] * 20, [10] * 20, [8] * 20, [10] * 20)
    >>> round(found.more.value, 2)
    0.1
    """
    shown = clustered_share(shown_hits, shown_trials, name="agreement with proposals", undefined=NO_UNITS)
    withheld = clustered_share(withheld_hits, withheld_trials, name="agreement without proposals", undefined=NO_UNITS)
    n, clusters = shown.n + withheld.n, min(shown.clusters, withheld.clusters)
    if clusters < FEWEST_GROUPS:
        few = Estimate.undefined(remark("few_groups_of_an_arm", n=FEWEST_GROUPS), n=n, clusters=clusters)
        return Anchoring(few, few, few)
    more = _value(shown) - _value(withheld)
    below = hypot(_value(shown) - _low(shown), _high(withheld) - _value(withheld))
    above = hypot(_high(shown) - _value(shown), _value(withheld) - _low(withheld))
    method = "difference of two clustered shares; their Clopper-Pearson intervals combined as Newcombe's"
    return Anchoring(
        Estimate(more, max(more - below, -1.0), min(more + above, 1.0), n=n, clusters=clusters, method=method),
        shown,
        withheld,
    )


def _value(share: Estimate) -> float:
    assert share.value is not None
    return share.value


def _low(share: Estimate) -> float:
    assert share.low is not None
    return share.low


def _high(share: Estimate) -> float:
    assert share.high is not None
    return share.high
