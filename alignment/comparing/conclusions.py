"""What a difference between two versions allows to say, and what it would take to say more."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from alignment.base.estimate import Estimate, Remark, remark, rounded_share
from alignment.comparing.levels import Variance

ComparisonVerdict = Literal["better", "not_worse", "worse", "cannot_tell"]
#: With a greater share of the labelled responses unresolved nothing is concluded.
MOST_UNRESOLVED = 0.05


@dataclass(frozen=True, slots=True)
class Conclusion:
    """``reason``: why nothing can be told, where it is not the width of the interval alone."""

    verdict: ComparisonVerdict
    reason: Remark | None = None


@dataclass(frozen=True, slots=True)
class Needed:
    """How many questions have to be labelled, and asked, in all, for a verdict if the difference stays what it is.

    ``questions`` is None where labels of those that were asked are enough. Both None: nothing is known of the error,
    the difference lies just where two verdicts meet, or the interval is narrow enough as it is.
    """

    labels: int | None
    questions: int | None


NOTHING_NEEDED = Needed(None, None)


def conclude(
    difference: Estimate, *, margin: float, higher_is_better: bool = True, unresolved: float = 0.0
) -> Conclusion:
    """Of the gain Δ, the difference in the direction that is better: its interval above 0 is *better*; else from
    -``margin`` on *not worse*; else below 0 *worse*; else it *cannot be told* yet.

    ``unresolved``: the share of labelled responses of which people's value is not known; above .05 nothing can be told,
    for its own reason. So it is of a difference without an interval. ValueError: a margin below 0.

    >>> found = Estimate(0.04, 0.01, 0.07), Estimate(0, -0.03, 0.03)
    >>> [conclude(each, margin=0.02).verdict for each in found]
    ['better', 'cannot_tell']
    """
    _check(margin)
    if difference.low is None or difference.high is None:
        return Conclusion("cannot_tell", difference.reason)
    if unresolved > MOST_UNRESOLVED:
        share = rounded_share(unresolved)
        return Conclusion("cannot_tell", remark("too_many_unresolved", share=share, most=MOST_UNRESOLVED))
    low, high = (difference.low, difference.high) if higher_is_better else (-difference.high, -difference.low)
    if low > 0:
        return Conclusion("better")
    if low >= -margin:
        return Conclusion("not_worse")
    return Conclusion("worse" if high < 0 else "cannot_tell")


def overall_verdict(primary: ComparisonVerdict, guards: Iterable[ComparisonVerdict]) -> ComparisonVerdict:
    """That of an experiment: *worse* if it or any guard is; else *cannot tell* if it or any guard can't be told; else
    that of the primary metric.

    Each guard is concluded with its own margin. All of them have to be not worse, so they need no wider intervals for
    being many (Berger 1982); a false *worse* of one of k guards has up to k times the chance of that of one.

    >>> overall_verdict("better", ["not_worse", "better"]), overall_verdict("better", ["cannot_tell", "worse"])
    ('better', 'worse')
    """
    verdicts = {primary, *guards}
    for first in ("worse", "cannot_tell"):
        if first in verdicts:
            return first
    return primary


def labels_needed(
    difference: Estimate,
    variance: Variance | None,
    *,
    labelled: int,
    questions: int,
    margin: float,
    higher_is_better: bool = True,
) -> Needed:
    """For a difference of which nothing can be told: until its interval lies above -``margin``, or below 0, whichever
    takes less.

    ``labelled`` of ``questions`` have labels. The interval is taken to narrow as its ``variance`` does. More labels
    leave of that what only more questions take away; where this is too much, both grow in the proportion in which they
    are now. An estimate from few labels: the difference will move. ValueError: a margin below 0.

    >>> labels_needed(Estimate(0.0, -0.1, 0.1), Variance(0.002, 0.0005), labelled=100, questions=1000, margin=0.06)
    Needed(labels=500, questions=None)
    """
    _check(margin)
    if difference.value is None or difference.low is None or difference.high is None or variance is None:
        return NOTHING_NEEDED
    below, above = difference.value - difference.low, difference.high - difference.value
    gain = difference.value
    if not higher_is_better:
        gain, below, above = -gain, above, below
    # To which part of its present width the interval has to shrink.
    part = max((gain + margin) / below, -gain / above) if below > 0 and above > 0 else 0.0
    if not 0 < part < 1:
        return NOTHING_NEEDED
    allowed = part**2 * (variance.by_labels + variance.by_questions)
    if allowed > variance.by_questions:
        labels = _whole(labelled * variance.by_labels / (allowed - variance.by_questions))
        if labels <= questions:
            return Needed(labels, None)
    return Needed(_whole(labelled / part**2), _whole(questions / part**2))


def _check(margin: float) -> None:
    if not margin >= 0:
        raise ValueError(f"a margin is 0 or more, not {margin}")


def _whole(number: float) -> int:
    """Rounded up, but for what rounding adds."""
    return math.ceil(round(number, 6))
