"""What looking at the locked test part costs: every look is paid for, so that all endpoints together keep 95 %."""

import math

from scipy.special import ndtri


def level_of_look(k: int, alpha: float = 0.05) -> float:
    """Confidence level at which look ``k`` = 1, 2, … at test decides: 1 - α·6/(π²k²).

    Because Σ 1/k² = π²/6, the looks' errors add up to α however many there are: with probability 1 - α or more the
    interval of *every* look's endpoint holds the true value, also when the judge was changed between looks in the light
    of them. Of the other figures of a look nothing like it is promised: their intervals are at 95 %, each by itself.
    No number of looks has to be planned. It takes intervals that are right so far out in the tails: exact bounds and
    the jackknife of kappa are (bench/promises/kappas.py). ValueError: k below 1, alpha outside (0, 1).

    Source: the union bound; as alpha spending, Lan & DeMets (1983), Biometrika 70.

    >>> [round(level_of_look(k), 4) for k in (1, 2, 3)]
    [0.9696, 0.9924, 0.9966]
    """
    if k < 1:
        raise ValueError(f"looks are counted from 1, not {k}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
    return 1 - 6 * alpha / (math.pi * k) ** 2


def widening(k: int) -> float:
    """How many times as wide as a plain 95 % interval that of look ``k`` is, many samples given: z_k / z.

    >>> round(widening(3), 1)
    1.5
    """
    return float(ndtri((1 + level_of_look(k)) / 2) / ndtri(0.975))
