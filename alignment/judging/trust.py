"""The trust verdict: what all the figures of a judge on a criterion come to, in one of five answers."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Literal

from alignment.agreement.summary import LOW_KAPPA
from alignment.base.estimate import NO_VARIATION, Estimate, Remark, remark
from alignment.judging.decision import told
from alignment.planning.sample_size import two_digits

Verdict = Literal["at_ceiling", "useful_once_calibrated", "below_ceiling", "not_enough_labels", "no_signal"]
#: What the figures are of: a half of the samples, or all of them.
Part = Literal["dev", "test", "all"]
#: How many more samples of the same part bring a figure to a half-width; None where it is unknown.
Planner = Callable[[Estimate, float], int | None]

#: So little below people's own kappa is no difference that matters.
CEILING_MARGIN = 0.05
#: Kappa from here on is useful by itself: above it none is called low.
USEFUL_KAPPA = LOW_KAPPA
#: An AUC surely below this tells passes from fails hardly better than a coin.
WEAK_AUC = 0.6
#: Intervals were never tried on fewer samples.
FEWEST_CLUSTERS = 30


@dataclass(frozen=True, slots=True)
class Trust:
    """One verdict, and its reason with the figures it rests on, to two digits.

    ``more`` is about how many more samples it takes, known only with "not_enough_labels".
    """

    verdict: Verdict
    reason: Remark
    more: int | None


def trust_verdict(
    *,
    kappa: Estimate,
    calibrated: Estimate | None,
    auc: Estimate | None,
    ceiling: Estimate | None,
    labels: int,
    clusters: int,
    more: Planner | None = None,
    part: Part = "test",
    share: float = 1.0,
) -> Trust:
    """The verdict on a judge. All estimates are of one part; the first rule that fits decides.

    1. fewer than 30 ``clusters`` (samples of the part): not enough labels
    2. ``ceiling`` (kappa of judge less kappa of person, both with the rest's majority) surely above -0.05, and
       ``kappa`` (the judge as it is used today) surely above 0: at the human ceiling
    3. ``kappa`` or ``calibrated`` (kappa after calibration on dev) surely 0.4 or more: useful once calibrated
    4. ``auc`` surely below 0.6: no signal; ``auc`` is None where nothing passes or fails
    5. ``ceiling`` surely below 0: below the ceiling
    6. else: not enough labels

    "Surely" is by the end of the interval. A figure without an interval because nothing varies (a perfect judge, one
    that always says the same) counts as it stands; any other without an interval fulfils nothing. Figures that are
    better never make the verdict worse, in the order no signal < below the ceiling, not enough labels < useful once
    calibrated < at the human ceiling; the two in the middle are not grades of one another.

    ``labels`` counts the labels behind them. ``more`` says how many samples of the part are still missing, given the
    figure that is not settled and the half-width that would settle it. Where more samples would not settle anything,
    because only labels by more people would, it is not asked. ``share`` is the share of all samples that come to the
    part: the verdict names how many samples are missing in all, of which the other part takes its own.

    >>> estimate = Estimate(0.7, 0.62, 0.78, n=200, clusters=200)
    >>> verdict = trust_verdict(kappa=estimate, calibrated=None, auc=estimate, ceiling=None, labels=200, clusters=200)
    >>> verdict.verdict, verdict.reason["code"], verdict.reason["kappa"]["value"]
    ('useful_once_calibrated', 'kappa_useful', 0.7)
    """
    low, ceiling_low = _low(kappa), _low(ceiling)
    best, is_calibrated = kappa, False
    if calibrated is not None and _low(calibrated) >= low:
        best, is_calibrated = calibrated, True
    if clusters < FEWEST_CLUSTERS:
        return Trust("not_enough_labels", _few(clusters, labels, part), _of_all(FEWEST_CLUSTERS - clusters, share))
    if ceiling is not None and ceiling_low > -CEILING_MARGIN and low > 0:
        reason = remark("ceiling_reached", less=told(ceiling), margin=-CEILING_MARGIN, kappa=told(kappa))
        return Trust("at_ceiling", reason, None)
    if _low(best) >= USEFUL_KAPPA:
        reason = remark("kappa_useful", kappa=told(best), bar=USEFUL_KAPPA)
        if is_calibrated:
            reason = remark("calibrated_useful", kappa=told(best), bar=USEFUL_KAPPA)
        return Trust("useful_once_calibrated", reason, None)
    if auc is not None and _high(auc) < WEAK_AUC:
        reason = remark("auc_weak", auc=told(auc), bar=WEAK_AUC)
        if _high(auc) < 0.5:
            reason = remark("auc_turned", auc=told(auc), bar=WEAK_AUC)
        return Trust("no_signal", reason, None)
    if ceiling is not None and _high(ceiling) < 0:
        return Trust("below_ceiling", remark("ceiling_missed", less=told(ceiling)), None)
    if (ceiling is None or ceiling.value is None) and (auc is None or _low(auc) > 0.5) and _high(best) < USEFUL_KAPPA:
        reason = remark("kappa_low", kappa=told(best), bar=USEFUL_KAPPA, why=_unknown(ceiling))
        if is_calibrated:
            reason = remark("calibrated_low", kappa=told(best), bar=USEFUL_KAPPA, why=_unknown(ceiling))
        return Trust("not_enough_labels", reason, None)
    reason, unsettled, half_width = _open(kappa, best, is_calibrated, auc, ceiling)
    missing = None if more is None or unsettled is None else more(unsettled, half_width)
    return Trust("not_enough_labels", reason, _of_all(missing, share))


def _few(clusters: int, labels: int, part: Part) -> Remark:
    if part == "dev":
        return remark("few_labels_on_dev", n=clusters, labels=labels, fewest=FEWEST_CLUSTERS)
    if part == "test":
        return remark("few_labels_on_test", n=clusters, labels=labels, fewest=FEWEST_CLUSTERS)
    return remark("few_labels_in_all", n=clusters, labels=labels, fewest=FEWEST_CLUSTERS)


def _of_all(missing: int | None, share: float) -> int | None:
    """How many samples make that many of the part; None where it is unknown, or none of them would come there."""
    return two_digits(ceil(missing / share)) if missing and share else None


def _open(
    kappa: Estimate, best: Estimate, is_calibrated: bool, auc: Estimate | None, ceiling: Estimate | None
) -> tuple[Remark, Estimate | None, float]:
    """What is not settled, and the figure with the half-width that would settle it."""
    if auc is not None and _low(auc) <= 0.5:
        return remark("auc_open", auc=told(auc)), *_to_settle(auc, 0.5)
    if ceiling is not None and ceiling.value is not None:
        if _low(ceiling) > -CEILING_MARGIN:
            return remark("ceiling_by_chance", kappa=told(kappa)), *_to_settle(kappa, 0.0)
        # It is settled when one end is past its bar; the farther bar is the one that can be passed.
        goal = max(_to_settle(ceiling, 0.0), _to_settle(ceiling, -CEILING_MARGIN), key=lambda goal: goal[1])
        return remark("ceiling_open", less=told(ceiling)), *goal
    reason = remark("kappa_open", kappa=told(best), bar=USEFUL_KAPPA, why=_unknown(ceiling))
    if is_calibrated:
        reason = remark("calibrated_open", kappa=told(best), bar=USEFUL_KAPPA, why=_unknown(ceiling))
    return reason, *_to_settle(best, USEFUL_KAPPA)


def _unknown(ceiling: Estimate | None) -> Remark:
    return remark("no_single_people") if ceiling is None else remark("no_kappa_of_people", why=ceiling.reason)


def _to_settle(estimate: Estimate, bar: float) -> tuple[Estimate | None, float]:
    """The half-width at which the interval leaves the bar out; at the bar itself, that of a difference that matters."""
    if estimate.value is None or estimate.low is None:
        return None, 0.0
    return estimate, max(abs(estimate.value - bar), CEILING_MARGIN / 2)


def _low(estimate: Estimate | None) -> float:
    return -1.0 if (ends := _ends(estimate)) is None else ends[0]


def _high(estimate: Estimate | None) -> float:
    return 1.0 if (ends := _ends(estimate)) is None else ends[1]


def _ends(estimate: Estimate | None) -> tuple[float, float] | None:
    if estimate is None or estimate.value is None:
        return None
    if estimate.low is None or estimate.high is None:
        return (estimate.value, estimate.value) if estimate.reason == NO_VARIATION else None
    return estimate.low, estimate.high
