"""What a look at the locked test part costs."""

import math


def level_of_look(number: int, alpha: float = 0.05) -> float:
    """Confidence level of the how-many-eth look: 1 - α·6/(π²k²), so that all looks together miss at most α.

    >>> [round(level_of_look(k), 4) for k in (1, 2, 3)]
    [0.9696, 0.9924, 0.9966]
    """
    if number < 1:
        raise ValueError(f"looks are counted from 1, not {number}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
    return 1 - alpha * 6 / (math.pi**2 * number**2)
