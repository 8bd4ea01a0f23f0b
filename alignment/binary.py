"""Statistics of a 2×2 confusion matrix, as functions of its cells (..., 4) in the order tn, fp, fn, tp.

They take any leading shape, real or complex, and give NaN where undefined; rows are people, columns the judge.
"""

import numpy as np

from alignment.arrays import Array
from alignment.cohen import kappa_statistic
from alignment.totals import ratio
from alignment.weights import disagreement

TN, FP, FN, TP = range(4)

#: Undefined when judge and people used one and the same of the two categories.
kappa = kappa_statistic(disagreement(2, None))


def tpr(cells: Array) -> Array:
    """True positive rate (recall, sensitivity): tp / (fn + tp)."""
    return ratio(cells[..., TP], cells[..., FN] + cells[..., TP])


def tnr(cells: Array) -> Array:
    """True negative rate (specificity): tn / (tn + fp)."""
    return ratio(cells[..., TN], cells[..., TN] + cells[..., FP])


def precision(cells: Array) -> Array:
    """tp / (fp + tp)."""
    return ratio(cells[..., TP], cells[..., FP] + cells[..., TP])


def accuracy(cells: Array) -> Array:
    """(tn + tp) / all."""
    return ratio(cells[..., TN] + cells[..., TP], cells.sum(axis=-1))


def f1(cells: Array) -> Array:
    """Harmonic mean of precision and recall: 2tp / (2tp + fp + fn)."""
    return ratio(2 * cells[..., TP], 2 * cells[..., TP] + cells[..., FP] + cells[..., FN])


def mcc(cells: Array) -> Array:
    """Matthews' correlation: (tp·tn - fp·fn) / √((tp + fp)(tp + fn)(tn + fp)(tn + fn))."""
    tn, fp, fn, tp = np.moveaxis(cells, -1, 0)
    # Four square roots, because the product of four margins overflows sooner.
    margins = np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn)
    return ratio(tp * tn - fp * fn, margins)
