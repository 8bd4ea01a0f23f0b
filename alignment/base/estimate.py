"""What every statistic returns: a value with its interval, or the reason why there is none.

A reason, as everything said about a figure, is a remark: a code and the parameters that go into its words, as plain
JSON. This package has no sentences. ``frontend`` has the words for every code, in each reader's language, and a test
holds the two together: so a code is written out where ``remark`` is called, and its parameters are named there.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from alignment.frames import estimates_frame

if TYPE_CHECKING:
    from alignment.frames import DataFrame

#: {"code": str, …}: parameters are numbers, names, and other remarks.
Remark = Mapping[str, Any]


def remark(code: str, **parameters: Any) -> Remark:
    """A code with its parameters.

    >>> remark("few_items", n=30)
    {'code': 'few_items', 'n': 30}
    """
    return {"code": code, **parameters}


def rounded_share(share: float) -> float:
    """A share to a tenth of a percent, as words give it. The exact figure stands beside the remark.

    >>> rounded_share(0.04783)
    0.048
    """
    return round(100 * share, 1) / 100


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
    >>> Estimate.undefined(remark("no_units")).value is None
    True
    """

    value: float | None
    low: float | None
    high: float | None
    level: float = 0.95
    n: int = 0
    clusters: int = 0
    method: str = ""
    reason: Remark | None = None

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
    def undefined(cls, reason: Remark, *, n: int = 0, clusters: int = 0, method: str = "", level: float = 0.95) -> Self:
        """An estimate without a value."""
        return cls(None, None, None, level, n, clusters, method, reason)

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_frame(self) -> "DataFrame":
        """A pandas table of one row, its columns the fields; what is undefined is NaN.

        >>> Estimate.undefined(remark("no_units")).to_frame()[["value", "reason"]].to_dict("records")
        [{'value': nan, 'reason': 'no_units'}]
        """
        return estimates_frame({0: self}, [None])


def estimates_as_dicts(found: object, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The estimates that ``found`` has under these names, as plain JSON."""
    return {name: getattr(found, name).as_dict() for name in names}


# Why a statistic is undefined, where more than one statistic has the same reason.
NO_LEVELS = remark("no_levels")
NO_ORDER = remark("no_order")
NOT_NUMBERS = remark("not_numbers")
NEGATIVE = remark("negative_values")
ONE_CATEGORY = remark("one_category")
ONE_VALUE = remark("one_value")
FEW_COMMON = remark("few_common_units")
FEW_UNITS = remark("few_units")
NO_PAIRS = remark("no_pairs")
NO_UNITS = remark("no_units")
NO_POSITIVE = remark("no_positive")
NO_NEGATIVE = remark("no_negative")
NO_VARIATION = remark("no_variation")
NO_OTHERS = remark("no_others")
NO_MAJORITY = remark("no_majority")
NO_UNLABELLED = remark("no_unlabelled")
