"""What to label next: strata of samples, how many of each, and a draw whose inclusion probabilities are known.

The samples that judges disagree on teach most, but figures of them alone are wrong about all the others. So every
sample has a chance, more in strata where a label lowers the variance more, and the chance is kept: ``weighted`` turns
labels of such a draw into estimates for all samples.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Array, Bools, Floats, Ints, finite, same_length, sums_by, verdicts

#: Fewest samples of a stratum: with one alone its variance can't be known afterwards.
FEWEST = 2
#: A stratum's own labels count beside these many of average variance.
SHRINKAGE = 5.0
LEAST_ERROR = 0.05


@dataclass(frozen=True, eq=False, slots=True)
class Draw:
    """Which samples were drawn, each sample's chance of it, and its stratum; arrays of shape (samples,).

    ``probability`` is drawn/samples of the stratum, to be stored with the batch.
    """

    drawn: Bools
    probability: Floats
    stratum: Ints

    def labelled(self, labelled: ArrayLike) -> "Draw":
        """The draw as if only the samples that got labels had been drawn; ``labelled`` has shape (samples,).

        Skipped samples are thereby taken for a random part of their stratum. ValueError: a sample that wasn't drawn.
        """
        got = verdicts(labelled, "labelled")
        same_length(drawn=self.drawn, labelled=got)
        if (got & ~self.drawn).any():
            raise ValueError(f"sample {int((got & ~self.drawn).argmax())} has labels but was not drawn")
        shares = np.bincount(self.stratum, weights=got) / np.maximum(np.bincount(self.stratum), 1)
        return Draw(got, shares[self.stratum], self.stratum)

    @property
    def unseen(self) -> int:
        """How many samples lie in strata of which none was drawn: weighted estimates say nothing about these."""
        return int((self.probability == 0).sum())


def strata(score: ArrayLike, disagreement: ArrayLike, *, score_bins: int = 4, disagreement_bins: int = 2) -> Ints:
    """Strata of samples by judge score and by how much the judges disagree, shape (samples,), numbered from 0.

    Bins of equal numbers of samples, by rank; equal scores share a bin, so there may be fewer, and of unequal size.
    ``score`` and ``disagreement`` have shape (samples,); nan, where no judge answered, is a bin of its own. ValueError:
    fewer than one bin, infinite values, unequal lengths.

    >>> strata([0.1, 0.2, 0.8, 0.9, np.nan], [0, 0.5, 0, 0.5, 0], score_bins=2).tolist()
    [0, 1, 2, 3, 4]
    """
    parts = [_bins(score, score_bins, "score"), _bins(disagreement, disagreement_bins, "disagreement")]
    same_length(score=parts[0], disagreement=parts[1])
    _, stratum = np.unique(parts[0] * (disagreement_bins + 1) + parts[1], return_inverse=True)
    return stratum.astype(np.int64)


def judge_views(sample: ArrayLike, judge: ArrayLike, score: ArrayLike, samples: int) -> tuple[Floats, Floats]:
    """What the judges make of each sample: mean score and disagreement, both of shape (samples,), nan without scores.

    Entries (sample 0..samples-1, judge, score), arrays of shape (scores,), one per sample and judge; for judges where
    lower is better, turn the scores round first. Judges use their scales differently, so a score counts as its mid-rank
    among the judge's own, between 0 and 1; disagreement is the standard deviation of these in a sample, 0 for a single
    judge. ValueError: scores that are not finite, samples out of range, unequal lengths.

    >>> mean, apart = judge_views([0, 1, 0, 1, 2], [7, 7, 8, 8, 8], [0.2, 0.9, 10, 20, 30], 4)
    >>> mean.round(2).tolist(), apart.round(2).tolist()
    ([0.21, 0.62, 0.83, nan], [0.04, 0.12, 0.0, nan])
    """
    at, who, value = np.asarray(sample), np.asarray(judge), finite(score, "score")
    same_length(sample=at, judge=who, score=value)
    if at.size and not (at.min() >= 0 and at.max() < samples):
        raise ValueError(f"samples are numbered 0 to {samples - 1}")
    share = _share_below(who, value)
    count = np.bincount(at, minlength=samples).astype(np.float64)
    count[count == 0] = np.nan
    mean = sums_by(at, share, samples) / count
    return mean, np.sqrt(sums_by(at, (share - mean[at]) ** 2, samples) / count)


def guessed_spread(stratum: ArrayLike, pass_share: ArrayLike) -> Floats:
    """Standard deviation of people's verdicts in each stratum before there are labels, shape (strata,).

    √(q(1 - q)), with q the mean of ``pass_share`` (the share of judges that pass the sample, shape (samples,)) in the
    stratum, but no nearer to 0 or 1 than .05: judges that agree are not always right.
    """
    codes, size = _codes(stratum)
    shares = finite(pass_share, "pass share")
    same_length(stratum=codes, pass_share=shares)
    share = np.clip(sums_by(codes, shares, size.size) / np.maximum(size, 1), LEAST_ERROR, 1 - LEAST_ERROR)
    return np.sqrt(share * (1 - share))


def expected_spread(stratum: ArrayLike, influence: ArrayLike, labelled: ArrayLike) -> Floats:
    """Standard deviation of a statistic's influences in each stratum, from the samples labelled so far, (strata,).

    ``stratum`` has shape (samples,), ``labelled`` the positions of the labelled ones and ``influence`` theirs, so that
    labels go where they make that statistic surer. Few labels say little of a stratum: its variance is averaged with
    that of all, as if the latter were known from five more. Without any labels all strata are alike.
    """
    codes, size = _codes(stratum)
    change, at = finite(influence, "influence"), np.asarray(labelled, dtype=np.int64)
    same_length(influence=change, labelled=at)
    if at.size < FEWEST or not np.ptp(change):
        return np.ones(size.size)
    known, count = codes[at], np.bincount(codes[at], minlength=size.size)
    centre = sums_by(known, change, size.size) / np.maximum(count, 1)
    within = sums_by(known, (change - centre[known]) ** 2, size.size)
    spare = np.maximum(count - 1, 0)
    return np.sqrt((within + SHRINKAGE * change.var()) / (spare + SHRINKAGE))


def allocate(stratum: ArrayLike, spread: ArrayLike, total: int) -> Ints:
    """How many samples to draw from each stratum, shape (strata,), so that the variance of the estimate is least.

    Two of each stratum (or all of it), then one after the other where it lowers Σ (N_h S_h)²/n_h most: Neyman's
    allocation in whole numbers, with N_h samples and ``spread`` S_h in stratum h. ValueError: more than there are, or
    fewer than two per stratum; a spread that is negative, or not one per stratum.

    Source: Neyman (1934), J. R. Stat. Soc. 97; in whole numbers: Wright (2012), Stat. Probab. Lett. 82.

    >>> allocate([0] * 50 + [1] * 50, [1.0, 3.0], 20).tolist()
    [5, 15]
    """
    _, size = _codes(stratum)
    wanted = _spreads(spread, size)
    taken = np.minimum(size, FEWEST)
    if not taken.sum() <= total <= size.sum():
        raise ValueError(f"from {size.size} strata between {taken.sum()} and {size.sum()} samples, not {total}")
    # The n-th further sample of a stratum lowers (NS)²/n by (NS)²/(n(n - 1)): what is worth most is taken first.
    spare = size - taken
    of = np.repeat(np.arange(size.size), spare)
    nth = np.arange(spare.sum()) - np.repeat(spare.cumsum() - spare, spare) + taken[of] + 1
    worth = (size * wanted)[of] / np.sqrt(nth * (nth - 1.0))
    chosen = np.lexsort((of, nth, -worth))[: total - taken.sum()]
    return taken + np.bincount(of[chosen], minlength=size.size)


def worth(stratum: ArrayLike, spread: ArrayLike, allocation: ArrayLike) -> float | None:
    """How many labels drawn from all strata alike say as much as one of this allocation, supposing the spreads.

    Σ (N_h S_h)²/(n N_h/N) over Σ (N_h S_h)²/n_h, n drawn from N: the ratio of the variances, samples taken for
    unlimited. 1.5 for 40 labels: as much as 60. 0 when a stratum that varies has none. None: nothing varies, or
    nothing is allocated. ValueError: as ``allocate`` and ``draw``.

    >>> round(worth([0] * 50 + [1] * 50, [1.0, 3.0], [5, 15]), 2)
    1.25
    """
    _, size = _codes(stratum)
    deviations, taken = _spreads(spread, size), _allocation(allocation, size)
    part = (size * deviations) ** 2
    if not part.any() or not taken.any():
        return None
    if (taken[part > 0] == 0).any():
        return 0.0
    varying = part > 0
    here = (part[varying] / taken[varying]).sum()
    alike = (part[varying] / size[varying]).sum() * size.sum() / taken.sum()
    return float(alike / here)


def draw(stratum: ArrayLike, allocation: ArrayLike, rng: np.random.Generator) -> Draw:
    """Draw without replacement ``allocation`` samples, shape (strata,), from each stratum, all of it equally likely.

    ValueError: an allocation that is negative, beyond a stratum's size, or not one per stratum.

    >>> found = draw([0, 0, 0, 0, 1, 1], [1, 2], np.random.default_rng(1))
    >>> int(found.drawn.sum()), found.probability.tolist()
    (3, [0.25, 0.25, 0.25, 0.25, 1.0, 1.0])
    """
    codes, size = _codes(stratum)
    wanted = _allocation(allocation, size)
    order = np.lexsort((rng.random(codes.size), codes))
    place = np.empty(codes.size, dtype=np.int64)
    place[order] = np.arange(codes.size) - np.repeat(size.cumsum() - size, size)
    return Draw(drawn=place < wanted[codes], probability=(wanted / np.maximum(size, 1))[codes], stratum=codes)


def _codes(stratum: ArrayLike) -> tuple[Ints, Ints]:
    """Strata 0..strata-1 of the samples, and their sizes; ValueError for other numbers."""
    codes = np.asarray(stratum)
    if codes.ndim != 1 or (codes.size and not np.issubdtype(codes.dtype, np.integer)) or (codes < 0).any():
        raise ValueError("stratum is a flat array of numbers from 0 on")
    codes = codes.astype(np.int64)
    return codes, np.bincount(codes).astype(np.int64)


def _spreads(spread: ArrayLike, size: Ints) -> Floats:
    """One spread per stratum, none negative."""
    found = finite(spread, "spread")
    same_length(strata=size, spread=found)
    if (found < 0).any():
        raise ValueError(f"spreads are not negative, but one is {found.min()}")
    return found


def _allocation(allocation: ArrayLike, size: Ints) -> Ints:
    """One number of samples per stratum, up to its size."""
    found = np.asarray(allocation, dtype=np.int64)
    same_length(strata=size, allocation=found)
    if ((found < 0) | (found > size)).any():
        raise ValueError(f"an allocation lies between 0 and the sizes {size.tolist()}, not {found.tolist()}")
    return found


def _bins(values: ArrayLike, bins: int, name: str) -> Ints:
    """Bins 0..bins-1 of equal numbers by rank, ties together; nan is bin ``bins``."""
    if bins < 1:
        raise ValueError(f"there is at least one bin of {name}, not {bins}")
    array = np.asarray(values, dtype=np.float64)
    missing = np.isnan(array)
    known = finite(array[~missing], name)
    found = np.full(array.size, bins, dtype=np.int64)
    found[~missing] = np.minimum(
        (_share_below(np.zeros(known.size, np.int64), known) * bins).astype(np.int64), bins - 1
    )
    return found


def _share_below(group: Array, values: Floats) -> Floats:
    """Mid-rank share in (0, 1) of each value among those of its group: Σ_j ([x_j < x] + ½[x_j = x])/size."""
    _, code = np.unique(group, return_inverse=True)
    order = np.lexsort((values, code))
    starts = np.flatnonzero(np.diff(code[order], prepend=-1) | (np.diff(values[order], prepend=np.nan) != 0))
    runs = np.diff(starts, append=order.size)
    size = np.bincount(code)
    first = size.cumsum() - size
    middle = np.repeat(starts + runs / 2, runs)
    share = np.empty(values.size)
    share[order] = (middle - first[code[order]]) / size[code[order]]
    return share
