"""What calibration hands over: an immutable rule from scores to verdicts (and, where it has them, probabilities)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from alignment.base.arrays import Array, Bools, Floats, Ints, finite

Method = Literal["threshold", "platt", "isotonic", "cutpoints"]


class Calibrator(ABC):
    """A fitted calibration. It knows nothing of the labels it was fitted on; its caller stores it with them.

    ``as_dict`` holds plain JSON values. JSON keeps every bit of a float, so a calibrator that was stored and read
    again gives the same probabilities and verdicts, exactly.
    """

    __slots__ = ()
    method: ClassVar[Method]

    def probability(self, score: ArrayLike) -> Floats | None:
        """Probability that people pass each unit, shape (units,); None for a method that has no probabilities."""
        return None

    @abstractmethod
    def verdict(self, score: ArrayLike) -> Array:
        """Whether each unit passes (for cut-points: its level's position), shape (units,)."""

    def as_dict(self) -> dict[str, Any]:
        """The method and the fields, as plain JSON values."""
        values = {name: getattr(self, name) for name in _names(type(self))}
        return {"method": self.method} | {
            name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Calibrator":
        """The calibrator that ``as_dict`` was made of. ValueError: an unknown method, fields that don't fit it."""
        kind = next((kind for kind in _KINDS if kind.method == values.get("method")), None)
        if kind is None:
            raise ValueError(f"no method {values.get('method')!r}; there are {', '.join(get_args(Method))}")
        given = {name: value for name, value in values.items() if name != "method"}
        if set(given) != set(_names(kind)):
            raise ValueError(f"{kind.method} has the fields {sorted(_names(kind))}, not {sorted(given)}")
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})


class ProbabilityCalibrator(Calibrator):
    """A calibration with probabilities; it passes where p ≥ ½."""

    __slots__ = ()

    @abstractmethod
    def probability(self, score: ArrayLike) -> Floats:
        """Probability that people pass each unit, shape (units,)."""

    def verdict(self, score: ArrayLike) -> Bools:
        """p ≥ ½."""
        return self.probability(score) >= 0.5


@dataclass(frozen=True, slots=True)
class ThresholdCalibrator(Calibrator):
    """Passes a unit whose score is the threshold or better. It says nothing of how sure that is.

    >>> ThresholdCalibrator(0.5, higher_is_better=False).verdict([0.2, 0.5, 0.9]).tolist()
    [True, True, False]
    """

    method: ClassVar[Method] = "threshold"
    threshold: float
    higher_is_better: bool

    def __post_init__(self) -> None:
        _check_finite(self.method, self.threshold)

    def verdict(self, score: ArrayLike) -> Bools:
        """score ≥ threshold, or ≤ where lower is better."""
        scores = finite(score, "score")
        return scores >= self.threshold if self.higher_is_better else scores <= self.threshold


@dataclass(frozen=True, slots=True)
class PlattCalibrator(ProbabilityCalibrator):
    """A logistic curve over the score: p = 1/(1 + exp(-(intercept + slope · z))); passes where p ≥ ½.

    z runs from -1 at the worst score seen when fitting to 1 at the best. A score beyond either end counts as that end:
    nothing that was seen speaks for being surer there.

    >>> PlattCalibrator(0.0, 10.0, slope=2.0, intercept=0.0, higher_is_better=True).verdict([4, 5, 99]).tolist()
    [False, True, True]
    """

    method: ClassVar[Method] = "platt"
    lowest: float
    highest: float
    slope: float
    intercept: float
    higher_is_better: bool

    def __post_init__(self) -> None:
        _check_finite(self.method, self.lowest, self.highest, self.slope, self.intercept)
        if self.highest / 2 - self.lowest / 2 <= 0 or self.slope <= 0:
            raise ValueError("platt needs a highest score above the lowest, and a slope above 0")

    def probability(self, score: ArrayLike) -> Floats:
        """The curve's height at each score."""
        z = position(finite(score, "score"), self.lowest, self.highest, self.higher_is_better)
        return expit(self.intercept + self.slope * z)


@dataclass(frozen=True, slots=True)
class IsotonicCalibrator(ProbabilityCalibrator):
    """The share of passes at each score, never falling as the score gets better; passes where p ≥ ½.

    ``scores`` ascend; between two of them the probability runs along a straight line, and beyond the ends it stays.

    >>> IsotonicCalibrator((1.0, 3.0), (0.2, 0.6), higher_is_better=True).probability([0, 2, 9]).tolist()
    [0.2, 0.4, 0.6]
    """

    method: ClassVar[Method] = "isotonic"
    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    higher_is_better: bool

    def __post_init__(self) -> None:
        _check_finite(self.method, *self.scores, *self.probabilities)
        if not self.scores or len(self.scores) != len(self.probabilities) or _falls(self.scores, strictly=True):
            raise ValueError("isotonic needs ascending scores and as many probabilities")
        upwards = self.probabilities if self.higher_is_better else self.probabilities[::-1]
        if _falls(upwards, strictly=False) or not 0 <= upwards[0] <= upwards[-1] <= 1:
            raise ValueError("isotonic probabilities lie between 0 and 1 and don't fall as the score gets better")

    def probability(self, score: ArrayLike) -> Floats:
        """Interpolated between the nearest two scores."""
        return np.interp(finite(score, "score"), self.scores, self.probabilities)


@dataclass(frozen=True, slots=True)
class CutpointCalibrator(Calibrator):
    """Reads a score as one of len(cuts) + 1 ordered levels: as many levels up as there are cuts that it reaches.

    ``cuts`` run from the worst score to the best (they fall where lower is better). None, only at the end: no score
    reaches that level.

    >>> CutpointCalibrator((0.2, 0.7, None), higher_is_better=True).verdict([0.1, 0.2, 0.69, 5]).tolist()
    [0, 1, 1, 2]
    """

    method: ClassVar[Method] = "cutpoints"
    cuts: tuple[float | None, ...]
    higher_is_better: bool

    def __post_init__(self) -> None:
        turned = self._reached()
        _check_finite(self.method, *turned.tolist())
        if None in self.cuts[: turned.size] or not self.cuts or _falls(turned.tolist(), strictly=False):
            raise ValueError("cutpoints run from the worst score to the best, those that none reaches (None) last")

    def verdict(self, score: ArrayLike) -> Ints:
        """Positions of levels, 0 the worst."""
        scores = finite(score, "score")
        turned = scores if self.higher_is_better else -scores
        return np.searchsorted(self._reached(), turned, side="right").astype(np.int64)

    def _reached(self) -> Floats:
        cuts = np.array([cut for cut in self.cuts if cut is not None], dtype=np.float64)
        return cuts if self.higher_is_better else -cuts


_KINDS: tuple[type[Calibrator], ...] = (ThresholdCalibrator, PlattCalibrator, IsotonicCalibrator, CutpointCalibrator)


def position(score: Floats, lowest: float, highest: float, higher_is_better: bool) -> Floats:
    """Where scores stand between two ends: -1 at the worse end and beyond it, 1 at the better."""
    # Halves first: the difference of two floats may be too large for one.
    half = highest / 2 - lowest / 2
    z: Floats = np.clip((np.clip(score, lowest, highest) - (lowest / 2 + highest / 2)) / half, -1.0, 1.0)
    return z if higher_is_better else -z


def _names(kind: type[Calibrator]) -> list[str]:
    """The fields of a calibrator, in order."""
    return [field.name for field in fields(kind)]  # type: ignore[arg-type]  # every kind is a dataclass


def _check_finite(method: Method, *numbers: object) -> None:
    if not all(isinstance(number, int | float) and math.isfinite(number) for number in numbers):
        raise ValueError(f"{method} holds finite numbers, not {numbers}")


def _falls(numbers: Sequence[float], *, strictly: bool) -> bool:
    """Whether some number is below the one before it (``strictly``: or equal to it)."""
    return any(after < before or (strictly and after == before) for before, after in pairwise(numbers))
