"""What looking at the locked test part costs: every look is paid for, so that all of them together keep 95 %."""

import math

from scipy.special import ndtri

_NAMES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def level_of_look(k: int, alpha: float = 0.05) -> float:
    """Confidence level at which look ``k`` = 1, 2, … at test is reported: 1 - α·6/(π²k²).

    Because Σ 1/k² = π²/6, the looks' errors add up to α however many there are: with probability 1 - α or more *all*
    intervals ever shown hold the true value, also when the judge was changed between looks in the light of them.
    No number of looks has to be planned. ValueError: k below 1, alpha outside (0, 1).

    Source: the union bound; as alpha spending, Lan & DeMets (1983), Biometrika 70.

    >>> [round(level_of_look(k), 4) for k in (1, 2, 3)]
    [0.9696, 0.9924, 0.9966]
    """
    if k < 1:
        raise ValueError(f"looks are counted from 1, not {k}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
    return 1 - 6 * alpha / (math.pi * k) ** 2


def widening(k: int, alpha: float = 0.05) -> float:
    """How many times as wide as a plain 1 - α interval that of look ``k`` is, many samples given: z_k / z.

    >>> round(widening(3), 1)
    1.5
    """
    return float(ndtri((1 + level_of_look(k, alpha)) / 2) / ndtri(1 - alpha / 2))


def cost_of_look(k: int, alpha: float = 0.05) -> str:
    """The cost of look ``k`` in words.

    >>> cost_of_look(3)
    'third look: 99.66 % interval, 1.5 times as wide'
    """
    missed = 100 * (1 - level_of_look(k, alpha))
    # Two digits of what the interval may miss: 99.97 % and 99.997 % are different promises.
    digits = max(0, 1 - math.floor(math.log10(missed)))
    return f"{_name(k)} look: {100 - missed:.{digits}f} % interval, {widening(k, alpha):.1f} times as wide"


def _name(k: int) -> str:
    if k <= len(_NAMES):
        return _NAMES[k - 1]
    ending = "th" if 10 <= k % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending}"
