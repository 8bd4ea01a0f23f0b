"""What every kind of judge implements: items in, scored units with a status out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from annotate.core.scales import Value
from annotate.models import Project, Sample
from judges.endpoints.calls import Answered, Model
from judges.models import Finding, JudgeVersion, ScoreStatus

# A judge's configuration, complete and checked: plain JSON.
Config = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of a sample that is asked about, for the `repeat`-th time (from 0)."""

    sample: Sample
    unit: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of one unit: exactly one of number and label when `status` is ok, otherwise neither.

    number: finite, at most LARGEST_SCORE either way. label: one of the criterion's options. rationale: the judge's own
    words. detail: why it failed, in our words. finding: why it is what it is, where that is counted; of one that is ok.
    confidence: from 0 to 1; None: unknown.
    """

    unit: str
    dimension: str
    status: ScoreStatus = ScoreStatus.OK
    number: float | None = None
    label: Value | None = None
    rationale: str = ""
    detail: str = ""
    finding: Finding | Literal[""] = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an item: a score for every unit that it asked about, failed ones too; and the replies that it is
    based on, kept or new, in the order in which they came. found: the result besides scores, as plain JSON, in runs for
    another purpose (judges.runs.purposes)."""

    scores: Sequence[Scored]
    replies: Sequence[Answered] = ()
    found: Any = None


class NoScore(Exception):
    """A unit has no score. `detail`: why, in our words."""

    def __init__(self, detail: str, status: ScoreStatus = ScoreStatus.ERROR) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status

    def scored(self, unit: str, dimension: str) -> Scored:
        return Scored(unit, dimension, self.status, detail=self.detail)


# A number and its rationale, with a finding where there is one.
Measured = tuple[float, str] | tuple[float, str, Finding]


def score_each(items: Sequence[Item], dimension: str, score: Callable[[Item], Measured]) -> Sequence[Outcome]:
    """One outcome per item, of one score each. score: what was measured of an item; raises NoScore."""
    outcomes = []
    for item in items:
        try:
            number, rationale, *finding = score(item)
            scored = Scored(item.unit, dimension, number=number, rationale=rationale, finding=next(iter(finding), ""))
        except NoScore as failure:
            scored = failure.scored(item.unit, dimension)
        outcomes.append(Outcome([scored]))
    return outcomes


class Refused(Exception):
    """A configuration that can't be taken. `field`: where, as a path ("template", "members.0.weight")."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class Together(Protocol):
    """A scorer that works alone, on this machine: many items at a time."""

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        """One outcome per item, in their order. What can't be scored fails in its outcome; nothing is raised for it."""
        ...


class OneByOne(Protocol):
    """A scorer that asks a model: one item at a time, from any of several threads."""

    def ask(self, item: Item, model: Model) -> Outcome:
        """Raises CallFailed, TryLater and StopRun as the model raised them; the replies that came before are kept by
        the caller, which passed the model."""
        ...


@dataclass(frozen=True, slots=True)
class Size:
    """About how much an item costs on average, for an estimate before a run. `requests`: how many it makes."""

    requests: float = 0
    tokens_in: float = 0
    tokens_out: float = 0


class Kind(ABC):
    """One kind of judge.

    key: of JudgeKind. code_version: goes into every version's hash, and is raised with every change of code after which
    the same configuration may give other scores.
    """

    key: str
    code_version: int

    @abstractmethod
    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        """The configuration with every default filled in, which is what is stored and hashed.

        Raises Refused for a field that is unknown, missing, or not what it must be.
        """
        ...

    def asks_model(self, config: Config) -> bool:
        """Whether the configuration's scorer is a OneByOne (with an endpoint) or a Together."""
        return False

    def dimensions(self, config: Config) -> Sequence[tuple[str, str]]:
        """What its scores are of: (kind of unit, dimension). A dimension is a criterion's key, or the judge's own name
        for what it measures."""
        return [(config["unit"], config["dimension"])]

    def members(self, config: Config) -> Sequence[tuple[str, str]]:
        """(judge's name, version's label) of each judge whose scores it rests on: a version is in use only while all of
        them are (judges.versions.write)."""
        return [(member["judge"], member["version"]) for member in config.get("members", ())]

    @abstractmethod
    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        """The units of the sample that are asked about, one item each; none when there is nothing to ask."""
        ...

    def size(self, config: Config, sample: Sample) -> Size:
        """Of one item of the sample, on average. Of a Together: no requests."""
        return Size()

    @abstractmethod
    def open(self, version: JudgeVersion) -> AbstractContextManager[Together | OneByOne]:
        """A scorer, with everything loaded that takes long (a model from disk). Raises StopRun when it can't be."""
        ...
