"""Statistics of a 2×2 confusion matrix, as functions of its cells (..., 4) in the order tn, fp, fn, tp.

They take any leading shape, real or complex, and give NaN where undefined; rows are people, columns the judge.
"""

import numpy as np

from alignment.base.arrays import Array
from alignment.base.totals import ratio

TN, FP, FN, TP = range(4)


def kappa(cells: Array) -> Array:
    """Cohen's kappa: 1 - n(fp + fn)/((tn + fp)(fp + tp) + (fn + tp)(tn + fn)).

    What ``kappa_statistic`` gives for two categories, written out because a sweep asks for it at every score.
    Undefined when judge and people used one and the same category.
    """
    tn, fp, fn, tp = np.moveaxis(cells, -1, 0)
    wrong, negative, positive = fp + fn, tn + fp, fn + tp
    value: Array = 1 - ratio(wrong * (negative + positive), negative * (fp + tp) + positive * (tn + fn))
    return value


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
    # Two square roots: the product of all four margins would not be exact for so long.
    margins = np.sqrt((tp + fp) * (tn + fn)) * np.sqrt((tp + fn) * (tn + fp))
    return ratio(tp * tn - fp * fn, margins)
