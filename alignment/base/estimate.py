"""What every statistic returns: a value with its interval, or the reason why there is none.

Why a statistic is undefined, in the words readers see. More than one statistic uses each.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from alignment.frames import estimates_frame

if TYPE_CHECKING:
    from alignment.frames import DataFrame


@dataclass(frozen=True, slots=True)
class Estimate:
    """One statistic.

    ``value`` is None when the statistic is undefined; ``low`` and ``high`` are None when it has no interval, which may
    happen while the value is defined. Whenever one of them is None, ``reason`` says why. ``n`` counts what the value
    rests on (units, unless the statistic says otherwise) and ``clusters`` the independent groups they fall into; both
    are 0 where the statistic has no meaning on such data at all (weights on a nominal scale).
    ``method`` names the statistic and how its interval was made. All figures are finite, so ``as_dict`` is JSON.

    >>> Estimate(0.5, 0.3, 0.7, n=40, clusters=40, method="Cohen's kappa").as_dict()["low"]
    0.3
    >>> Estimate.undefined("no common units").value is None
    True
    """

    value: float | None
    low: float | None
    high: float | None
    level: float = 0.95
    n: int = 0
    clusters: int = 0
    method: str = ""
    reason: str | None = None

    def __post_init__(self) -> None:
        figures = (self.value, self.low, self.high)
        for figure in figures:
            if figure is not None and not math.isfinite(figure):
                raise ValueError(f"an estimate holds finite figures or None, not {figures}")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has both ends or neither")
        if self.reason is None and (self.value is None or self.low is None):
            raise ValueError("a missing value or interval needs a reason")

    @classmethod
    def undefined(cls, reason: str, *, n: int = 0, clusters: int = 0, method: str = "", level: float = 0.95) -> Self:
        """An estimate without a value."""
        return cls(None, None, None, level, n, clusters, method, reason)

    def as_dict(self) -> dict[str, float | int | str | None]:
        """The fields as plain JSON values."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "n": self.n,
            "clusters": self.clusters,
            "method": self.method,
            "reason": self.reason,
        }

    def to_frame(self) -> "DataFrame":
        """A pandas table of one row, its columns the fields; what is undefined is NaN.

        >>> Estimate.undefined("no units").to_frame()[["value", "reason"]].to_dict("records")
        [{'value': nan, 'reason': 'no units'}]
        """
        return estimates_frame({0: self}, [None])


NO_LEVELS = "the scale has no levels"
NO_ORDER = "the levels have no order"
NOT_NUMBERS = "the levels are not numbers"
NEGATIVE = "some values are negative: they have no ratio"
ONE_CATEGORY = "only one category was used"
ONE_VALUE = "only one value was used"
FEW_COMMON = "fewer than 2 common units"
NO_PAIRS = "no unit has two ratings"
NO_UNITS = "no units"
NO_POSITIVE = "no unit is positive by people"
NO_NEGATIVE = "no unit is negative by people"
NO_VARIATION = "nothing varies between clusters: no interval"
NOBODY_ELSE = "nobody else labelled these units"
NO_MAJORITY = "the others never had a majority"
NO_UNLABELLED = "no unlabelled units"
