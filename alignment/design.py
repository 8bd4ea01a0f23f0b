"""How labelled samples were drawn, and the error of a figure that follows from it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from alignment.arrays import Floats, Ints, sums_by
from alignment.columns import cluster_rows, finite, same_length


@dataclass(frozen=True, eq=False)
class Design:
    """How the labelled samples (clusters) were drawn; arrays of shape (clusters,).

    ``row`` numbers the cluster of each unit. ValueError: a cluster or a stratum with several probabilities, or a
    cluster in several strata; a probability outside (0, 1]; unequal lengths.
    """

    row: Ints
    probability: Floats
    stratum: Ints

    @classmethod
    def of(cls, cluster: ArrayLike, probability: ArrayLike, stratum: ArrayLike) -> "Design":
        """From columns with one entry per unit."""
        row, rows = cluster_rows(cluster)
        chance, (layer, layers) = finite(probability, "probability"), cluster_rows(stratum)
        same_length(cluster=row, probability=chance, stratum=layer)
        if ((chance <= 0) | (chance > 1)).any():
            raise ValueError("a probability of being drawn lies above 0, up to 1")
        first = np.zeros(rows, dtype=np.int64)
        first[row] = np.arange(row.size)
        if (layer != layer[first][row]).any():
            raise ValueError("a cluster lies in more than one stratum")
        of_layer = np.zeros(layers)
        of_layer[layer] = chance
        if (chance != of_layer[layer]).any():
            raise ValueError("a stratum has more than one probability")
        return cls(row, chance[first], layer[first])

    def standard_error(self, influence: Floats) -> float:
        """The error of a statistic from its influences by cluster, ψ_c = (derivative by c's weight) · weight.

        √(Σ_h (1 - π_h) n_h/(n_h - 1) Σ_{c in h} (ψ_c - mean_h)² + Σ_c π_c ψ_c²): that of drawing clusters from all
        there are, and that of all there are from their source, as in every interval here. With all of them drawn it
        is the plain √Σψ². A cluster that is alone in its stratum counts with its square, uncentred.

        Source: Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, §3.7 and §5.5.
        """
        strata = int(self.stratum.max()) + 1
        count = np.bincount(self.stratum, minlength=strata)
        mean = np.where(count > 1, sums_by(self.stratum, influence, strata) / np.maximum(count, 1), 0.0)
        stretch = np.where(count > 1, count / np.maximum(count - 1, 1), 1.0)
        apart = (influence - mean[self.stratum]) ** 2
        drawing = ((1 - self.probability) * stretch[self.stratum] * apart).sum()
        return float(np.sqrt(drawing + (self.probability * influence**2).sum()))

    @property
    def freedom(self) -> int:
        """Degrees of freedom: clusters less strata, at least 1."""
        return max(1, self.stratum.size - np.unique(self.stratum).size)
