"""A difference while labels arrive: an interval that may be looked at after each of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Floats, finite, same_length
from alignment.base.estimate import Estimate, remark

NO_PREFIX = remark("no_completed_prefix")
#: Differences that are tried: from -1 to 1, in steps of .005. The end of an interval is the last one ruled out.
TRIED = np.linspace(-1.0, 1.0, 401)
#: Of what could be lost at most, so much is staked at most.
BOLDEST = 0.75
#: Questions before the judge's part is fitted.
FEWEST_TO_TUNE = 10
#: The variance before anything is known of it.
FIRST_VARIANCE = 0.25
NAME = "difference, betting on a prefix of a random order; valid at every look"


@dataclass(frozen=True, eq=False, slots=True)
class DifferenceSequence:
    """Arrays of shape (prefix,): what is known after each question of the order. ``low`` only rises and ``high`` only
    falls. ``estimate`` is the last of them."""

    value: Floats
    low: Floats
    high: Floats
    estimate: Estimate


def difference_sequence(
    least: ArrayLike, most: ArrayLike, judge: ArrayLike, *, level: float = 0.95
) -> DifferenceSequence:
    """The mean difference over all questions of a test set, after each of those that are labelled.

    ``judge``, shape (questions,), holds the judge's difference (b less a) on every question, 0 where it has none, in an
    order that was drawn at random before any label was given; ``least`` and ``most``, shape (prefix,), between which
    people's difference lies on its first ones. Bounds are final: what may yet be resolved ends the prefix before it.
    All are in [-1, 1]. However often one looks, the true mean lies within all the intervals at once with the chance
    ``level`` at least, whatever the judge is worth.

    Two gamblers bet that the mean is above, and below, m. Of the n questions the i-th is expected to differ by
    (n m - Σ_{j<i} d_j)/(n - i + 1), as those that came are not drawn again; less λ_i (e_i - mean of e over what is
    left), which is expected to be 0, e being the judge's difference and λ_i fitted to what came before. A stake is what
    pays best for the variance so far, at most three quarters of what keeps the wealth above 0. An m is ruled out when
    one of the wealths reaches 2/(1 - level), or when what is left can't make it the mean. The first gambler is paid by
    ``least`` and the second by ``most``.

    It speaks of the questions that are there, each counting alike, and not of others like them. Simulated false alarms
    and chances to stop: bench/promises/comparisons.py. Undefined: no labels. ValueError: values outside [-1, 1], more
    labels than questions, bounds in the wrong order, unequal lengths, a level outside (0, 1).

    Source: Waudby-Smith & Ramdas (2024), JRSS B 86, §5 (without replacement); Ville (1939).
    """
    low, high, said = finite(least, "least"), finite(most, "most"), finite(judge, "judge")
    same_length(least=low, most=high)
    if low.size > said.size:
        raise ValueError(f"{low.size} labels of {said.size} questions")
    if any((np.abs(each) > 1).any() for each in (low, high, said)) or (low > high).any():
        raise ValueError("differences lie between -1 and 1, the least first")
    if not 0 < level < 1:
        raise ValueError(f"the level lies between 0 and 1, not {level}")
    if not low.size:
        return DifferenceSequence(low, low, low, Estimate.undefined(NO_PREFIX, method=NAME, level=level))
    lows = _least_left(low, said, level)
    highs = np.maximum(-_least_left(-high, -said, level), lows)
    counts = np.arange(1, low.size + 1)
    value = np.clip(((low + high) / 2).cumsum() / counts, lows, highs)
    last = Estimate(float(value[-1]), float(lows[-1]), float(highs[-1]), level, low.size, low.size, NAME)
    return DifferenceSequence(value, lows, highs, last)


def _least_left(paid: Floats, judge: Floats, level: float) -> Floats:
    """The lower end of what is not ruled out after each label, shape (prefix,)."""
    n, reached = judge.size, np.log(2 / (1 - level))
    place = np.arange(paid.size)
    seen, left = _before(paid), n - place
    # The judge's part. Of what is left, the mean of its differences and the greatest of them.
    said = judge[: paid.size]
    mean = (judge.sum() - _before(said)) / left
    greatest = np.maximum.accumulate(judge[::-1])[::-1][: paid.size]
    weight = _judge_weights(paid, said)
    z = paid - weight * (said - mean)
    variance = (FIRST_VARIANCE + _before((z - paid.cumsum() / (place + 1)) ** 2)) / (place + 1)
    stake = np.sqrt(2 * reached / (variance * (place + 1) * np.log(place + 2)))
    # One row for each label, one column for each m that is tried. Wealth only falls with m: what is ruled out is all
    # that lies below some m.
    expected = (n * TRIED - seen[:, None]) / left[:, None]
    # How far z can lie below that: people's difference is -1, and the judge's the greatest that is left.
    farthest = np.maximum(expected + (1 + weight * (greatest - mean))[:, None], BOLDEST / stake.max())
    gained = np.log1p(np.minimum(stake[:, None], BOLDEST / farthest) * (z[:, None] - expected))
    ruled_out = np.maximum.accumulate(gained.cumsum(axis=0), axis=0) >= reached
    by_betting = TRIED[np.maximum(ruled_out.sum(axis=1) - 1, 0)]
    return np.maximum.accumulate(np.maximum(by_betting, (paid.cumsum() - (left - 1)) / n))


def _before(values: Floats) -> Floats:
    """Sums of all that came before each."""
    return values.cumsum() - values


def _judge_weights(paid: Floats, said: Floats) -> Floats:
    """The slope, from 0 to 1, of people's differences on the judge's among those before each; 0 for the first."""
    count = np.maximum(np.arange(paid.size), 1)
    together = _before(paid * said) - _before(paid) * _before(said) / count
    square = _before(said**2) - _before(said) ** 2 / count
    known = (np.arange(paid.size) >= FEWEST_TO_TUNE) & (square > 1e-9)
    return np.where(known, np.clip(together / np.where(known, square, 1.0), 0.0, 1.0), 0.0)
