"""The trust verdict: what all the figures of a judge on a criterion come to, in one of five answers."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Literal

from alignment.agreement.summary import LOW_KAPPA
from alignment.base.estimate import NO_VARIATION, Estimate
from alignment.planning.sample_size import two_digits

Verdict = Literal[
    "at the human ceiling", "useful once calibrated", "below the ceiling", "not enough labels", "no signal"
]
#: How many more samples of the same part bring a figure to a half-width; None where nobody knows.
Planner = Callable[[Estimate, float], int | None]

#: So little below people's own kappa is no difference that matters.
CEILING_MARGIN = 0.05
#: Kappa from here on is useful by itself: above it none is called low.
USEFUL_KAPPA = LOW_KAPPA
#: An AUC surely below this tells passes from fails hardly better than a coin.
WEAK_AUC = 0.6
#: Intervals were never tried on fewer samples.
FEWEST_CLUSTERS = 30

_ALLOWS: dict[Verdict, str] = {
    "at the human ceiling": "One may say that on this criterion, for samples like these, the judge agrees with people "
    "about as well as they agree with each other, and let it take the place of one of several people.",
    "useful once calibrated": "One may use its calibrated verdicts beside people's, correct shares of passes for its "
    "errors, and let it decide alone inside a certified region.",
    "below the ceiling": "One may use its scores to choose what people look at first.",
    "not enough labels": "One may say that it was tried, and how many labels are missing.",
    "no signal": "One may say that its scores tell passes from fails hardly better than a coin.",
}
_FORBIDS: dict[Verdict, str] = {
    "at the human ceiling": "It does not say that the judge is right where people agree on a mistake, nor anything of "
    "other criteria, other samples, or a changed judge.",
    "useful once calibrated": "It does not say that the judge is as good as a person, nor anything of its scores as "
    "they stand, of other samples, or of a changed judge.",
    "below the ceiling": "It does not allow its verdicts to stand for people's, nor shares of passes taken from them.",
    "not enough labels": "It does not say that the judge is good, nor that it is bad.",
    "no signal": "It does not allow any use on this criterion, calibrated or not; it says nothing of other criteria.",
}


@dataclass(frozen=True, slots=True)
class Trust:
    """One verdict, its reason in a sentence with the figures it rests on, and what it does and does not allow.

    ``more`` is about how many more samples it takes, known only with "not enough labels".
    """

    verdict: Verdict
    reason: str
    allows: str
    forbids: str
    more: int | None

    @property
    def headline(self) -> str:
        """The verdict with the number of samples that are missing."""
        return self.verdict if self.more is None else f"{self.verdict} (about {self.more:,} more samples)"


def trust_verdict(
    *,
    kappa: Estimate,
    calibrated: Estimate | None,
    auc: Estimate | None,
    ceiling: Estimate | None,
    labels: int,
    clusters: int,
    more: Planner | None = None,
    part: str = "on test",
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
    >>> verdict.verdict, verdict.reason
    ('useful once calibrated', 'Its kappa is 0.70 (0.62 to 0.78): surely 0.40 or more.')
    """
    low, ceiling_low = _low(kappa), _low(ceiling)
    best, called = kappa, "Its kappa"
    if calibrated is not None and _low(calibrated) >= low:
        best, called = calibrated, "Kappa once calibrated"
    if clusters < FEWEST_CLUSTERS:
        reason = f"{clusters} samples with {labels} labels {part} are few: intervals want {FEWEST_CLUSTERS} samples."
        return _trust("not enough labels", reason, _of_all(FEWEST_CLUSTERS - clusters, share))
    if ceiling is not None and ceiling_low > -CEILING_MARGIN and low > 0:
        reason = f"Less a person's, the judge's kappa is {_words(ceiling)}: surely above -{CEILING_MARGIN:.2f}"
        return _trust("at the human ceiling", f"{reason}; its own is {_words(kappa)}.")
    if _low(best) >= USEFUL_KAPPA:
        return _trust("useful once calibrated", f"{called} is {_words(best)}: surely {USEFUL_KAPPA:.2f} or more.")
    if auc is not None and _high(auc) < WEAK_AUC:
        turned = "; if lower scores are better, say so" if _high(auc) < 0.5 else ""
        return _trust("no signal", f"ROC AUC is {_words(auc)}: surely below {WEAK_AUC:.2f}{turned}.")
    if ceiling is not None and _high(ceiling) < 0:
        return _trust("below the ceiling", f"Less a person's, the judge's kappa is {_words(ceiling)}: surely below 0.")
    if (ceiling is None or ceiling.value is None) and (auc is None or _low(auc) > 0.5) and _high(best) < USEFUL_KAPPA:
        reason = f"{called} is {_words(best)}: surely below {USEFUL_KAPPA:.2f}; and {_unknown(ceiling)}"
        return _trust("not enough labels", f"{reason}: labels by more people on the same samples are missing.")
    reason, unsettled, half_width = _open(kappa, best, called, auc, ceiling)
    missing = None if more is None or unsettled is None else more(unsettled, half_width)
    return _trust("not enough labels", reason, _of_all(missing, share))


def _of_all(missing: int | None, share: float) -> int | None:
    """How many samples make that many of the part; None where nobody knows, or none of them would come there."""
    return two_digits(ceil(missing / share)) if missing and share else None


def _open(
    kappa: Estimate, best: Estimate, called: str, auc: Estimate | None, ceiling: Estimate | None
) -> tuple[str, Estimate | None, float]:
    """What is not settled, and the figure with the half-width that would settle it."""
    if auc is not None and _low(auc) <= 0.5:
        return f"ROC AUC is {_words(auc)}: not surely above 0.5.", *_to_settle(auc, 0.5)
    if ceiling is not None and ceiling.value is not None:
        if _low(ceiling) > -CEILING_MARGIN:
            reason = f"The judge does as well as people, but its kappa, {_words(kappa)}, is not surely above 0."
            return reason, *_to_settle(kappa, 0.0)
        reason = f"Less a person's, the judge's kappa is {_words(ceiling)}: neither surely below 0 nor above -0.05."
        # It is settled when one end is past its bar; the farther bar is the one that can be passed.
        return reason, *max(_to_settle(ceiling, 0.0), _to_settle(ceiling, -CEILING_MARGIN), key=lambda goal: goal[1])
    reason = f"{called} is {_words(best)}: not surely {USEFUL_KAPPA:.2f} or more; and {_unknown(ceiling)}."
    return reason, *_to_settle(best, USEFUL_KAPPA)


def _unknown(ceiling: Estimate | None) -> str:
    return "it was not held against single people" if ceiling is None else f"people's own kappa: {ceiling.reason}"


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


def _words(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"unknown ({estimate.reason})"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} ({estimate.reason})"
    level = "" if estimate.level == 0.95 else f", {estimate.level:.1%} sure"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f}{level})"


def _trust(verdict: Verdict, reason: str, more: int | None = None) -> Trust:
    return Trust(verdict, reason, _ALLOWS[verdict], _FORBIDS[verdict], more)
