"""What the figures on one criterion rest on: what people said, what judges scored, and how samples are divided.

A report keeps its evidence as plain JSON, so that its figures can be worked out again anywhere: with the same
randomness, one generator for each figure.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np

from alignment.base.arrays import Bools, Ints, renumbered
from alignment.base.coded import Coded, array_of, different, kept
from alignment.base.ratings import Ratings, Scale, encode
from alignment.judging.decision import Endpoint
from alignment.report.units import ByUnit, UnitKey, Units, without

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Option:
    """A level of the scale, and how people read it."""

    value: Value
    label: str


@dataclass(frozen=True, slots=True)
class Criterion:
    """What was asked. ``options`` is empty on an interval scale without levels; ``passes`` are the values that pass."""

    key: str
    version: int
    name: str
    unit: str
    scale: Scale
    prompt: str
    options: tuple[Option, ...]
    passes: tuple[Value, ...]

    @property
    def levels(self) -> list[Value]:
        return [option.value for option in self.options]


@dataclass(frozen=True, eq=False, slots=True)
class JudgeScores:
    """All that one version of a judge said under one name for it (``dimension``).

    A unit is in one of the three: a number, a label (one of the criterion's levels), or the reason why there is none.
    """

    judge: str
    version: str
    dimension: str
    higher_is_better: bool
    numbers: Mapping[UnitKey, float] = field(default_factory=dict)
    labels: Mapping[UnitKey, Value] = field(default_factory=dict)
    failed: Mapping[UnitKey, str] = field(default_factory=dict)
    # What it said when it was asked again about the same units: of each unit one or more numbers (float), or labels.
    again: Mapping[UnitKey, Sequence[Value]] = field(default_factory=dict)
    # How sure it was of its number or label, from 0 to 1; of units of which that is known.
    confidence: Mapping[UnitKey, float] = field(default_factory=dict)
    # Samples of which its answers are left out, since they are closed for another criterion that it is compared with.
    closed: Collection[str] = ()
    # Of a version that an alignment made: how many "rules" and "examples" it has of how many "samples"' labels.
    learned: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> tuple[str, str, str]:
        return self.judge, self.version, self.dimension

    @property
    def asked(self) -> Units:
        """Units that it was asked about, whatever came of that."""
        return Units.of(self.numbers).with_all(self.labels).with_all(self.failed)

    def without(self, samples: Collection[str]) -> Self:
        """Without what it said of these."""
        left: dict[str, Any] = {name: without(getattr(self, name), samples) for name in BY_UNIT}
        return replace(self, **left)


DEFAULT = Endpoint()
# Of JudgeScores the fields that are of units.
BY_UNIT = ("numbers", "labels", "failed", "again", "confidence")


class Before(NamedTuple):
    """A label that its rater has replaced by one of a later task."""

    unit: UnitKey
    rater: str
    value: Value


class Chance(NamedTuple):
    """How a labelled sample came to be labelled: with which probability it was drawn, and among which others.

    Stratum 0 holds those known before the draw: each stands for itself alone, with probability 1.
    """

    probability: float
    stratum: int


class DrawnBy(NamedTuple):
    """Labelled samples whose chances are known: how many, and how they came.

    ``how``: "all", "random" or "planned", of batch number ``batch``; "before" it, so that they stand for themselves; or
    "declared_all", "declared_random", "declared_column", of labels made elsewhere (``batch`` None). ``by``: who drew or
    declared it, "" on the command line; ``day``: when (UTC).
    """

    how: str
    samples: int
    by: str
    day: str
    batch: int | None


# Why a unit is not settled: one label that only its rater stands behind, given here or made elsewhere; or several that
# are still open, as their batch goes on or a reviewer has to decide.
Unsettled = Literal["single", "elsewhere", "open"]


class Declared(NamedTuple):
    """Units that one label settles because an admin said so: how many, who, on which day (UTC), and for which batch.
    ``batch`` None: for labels made elsewhere. ``by`` "": on the command line."""

    units: int
    by: str
    day: str
    batch: int | None


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """``units``, ``raters``, ``values``: one row per label that counts, in the order of unit and rater; beside them
    ``days`` ("2026-11-21", UTC), None where the day is unknown, as of labels made elsewhere, and ``seconds`` since the
    rater's choice before it in the same task, None where there is none or the gap is too long to have been work; and
    ``too_fast``: whether it came faster than its rater can have read what it is about; and ``waiting``: whether it is
    no part of its unit's value before its batch is done with it, since labels made elsewhere settle the unit so far.

    ``before``: labels that the same rater had given the same unit, and that no longer count.
    ``verdicts``: the values that reviewers or the rule settled. ``unsettled``: units with labels that settle nothing
    yet, which judges are compared with only where ``settled_only`` is false. ``declared``: whose word it is that single
    labels settle units. ``is_dev``: whether each sample that is dev or test is dev; on neither side are samples that
    are kept for comparing systems, and those that have none yet. ``groups``: of each sample that varies together with
    others, such as the answers to one question, the name of their group; every other sample is its own.
    ``judges``: of each judge its latest version; ``earlier``: the versions before it. ``metadata``: of each sample with
    labels, the values that may name a slice. ``chances``: of every sample of the latest finished draw, labelled or
    skipped, of every sample labelled before it, and of those labelled elsewhere of which it was declared. A labelled
    sample that is not in it was chosen, and is in no guarantee. Empty when nothing was drawn. ``drawn_by``: where the
    chances of the labelled ones are from. ``nameless``: further chances, of samples that are closed (``locked``).
    ``seed``: the project's.

    ``sizes``: of each sample with labels, how many units of the criterion's kind it has; empty where it has one of
    them. ``dropped``: of those of them that have such, the indices that are no units any more.
    ``whole``: what judges gave such samples as a whole (unit "answer"), of each judge its latest version.
    ``measures``: which metric a dimension of these names; a dimension that names none is compared with each.
    ``abstained``: how many answers of the project abstain; they have no claims, and are in none of the rest.
    ``versions``: of each sample with scores or labels the version of the pipeline that answered; empty where it is one.
    ``endpoint``: what a judge was declared to have to show before it may decide.
    """

    criterion: Criterion
    seed: int
    units: Sequence[UnitKey]
    raters: Sequence[str]
    values: Sequence[Value]
    verdicts: Mapping[UnitKey, Value]
    judges: Sequence[JudgeScores] = ()
    is_dev: Mapping[str, bool] = field(default_factory=dict)
    days: Sequence[str | None] = ()
    seconds: Sequence[float | None] = ()
    too_fast: Sequence[bool] = ()
    waiting: Sequence[bool] = ()
    before: Sequence[Before] = ()
    earlier: Sequence[JudgeScores] = ()
    metadata: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    chances: Mapping[str, Chance] = field(default_factory=dict)
    drawn_by: Sequence[DrawnBy] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, Sequence[int]] = field(default_factory=dict)
    whole: Sequence[JudgeScores] = ()
    measures: Mapping[str, str] = field(default_factory=dict)
    unsettled: Mapping[UnitKey, Unsettled] = field(default_factory=dict)
    settled_only: bool = True
    declared: Sequence[Declared] = ()
    abstained: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    endpoint: Endpoint = DEFAULT
    nameless: Sequence[Chance] = ()

    def group_of(self, sample: str) -> str:
        """What varies together: the cluster of intervals, and what folds and sides are made of."""
        return self.groups.get(sample, sample)

    def groups_of(self, samples: Sequence[str]) -> tuple[Ints, Sequence[str]]:
        """Of each of these samples, each once, the place of its group among the groups, in the order in which they
        come; and these."""
        if not self.groups:
            return np.arange(len(samples)), samples
        code, names = encode(list(map(self.group_of, samples)))
        return code, cast("Sequence[str]", names)

    def clusters(self, units: Iterable[UnitKey]) -> list[str]:
        """The group of each unit."""
        if not self.groups:
            return [sample for sample, _ in units]
        group_of = self.groups.get
        return [group_of(sample, sample) for sample, _ in units]

    def samples(self) -> list[str]:
        """Those of which people or judges said something, in order."""
        said: list[Iterable[UnitKey]] = [self.units, self.verdicts, [row.unit for row in self.before]]
        said += [getattr(one, name) for one in (*self.judges, *self.earlier, *self.whole) for name in BY_UNIT]
        return sorted(set[str]().union(*(Units.of(units).samples for units in said)))

    def deciding(self) -> Self:
        """Only with the labels that say what a unit's value is."""
        if not (self.settled_only and any(different(self.waiting))):
            return self
        return self.kept(~array_of(self.waiting, bool, np.bool_))

    def alone(self, units: Units) -> Bools:
        """Of each of these units whether nothing of it counts: it is of one label that settles nothing."""
        found = np.zeros(len(units), dtype=np.bool_)
        if self.settled_only:
            unsettled = ByUnit.of(units, self.unsettled, object)
            found[unsettled.places] = array_of(unsettled.column, lambda why: why != "open", np.bool_)
        return found

    def without_single(self) -> Self:
        """Without units of one label that settles nothing."""
        units, unsettled = Units.of(self.units), Units.of(self.unsettled)
        rest = ByUnit.of(unsettled, self.unsettled, object).only(~self.alone(unsettled))
        return replace(self.kept(~self.alone(units)[units.places(self.units)]), unsettled=rest)

    def locked(self) -> Self:
        """What may be shown or exported before a look: without what judges said of samples that people labelled and
        that are not dev. Labels stay, so people's agreement is of all. A planned draw goes by what judges say, so of
        such samples its chances are told without their names.

        Where the criterion says nowhere what passes there are no halves, and nothing is closed.
        """
        closed = self.closed()
        if not closed:
            return self
        judges: dict[str, Any] = {
            name: [one.without(closed) for one in getattr(self, name)] for name in ("judges", "earlier", "whole")
        }
        if not any(row.how == "planned" for row in self.drawn_by):
            return replace(self, **judges)
        named = {sample: chance for sample, chance in self.chances.items() if sample not in closed}
        nameless = sorted(chance for sample, chance in self.chances.items() if sample in closed)
        return replace(self, **judges, chances=named, nameless=(*self.nameless, *nameless))

    def closed(self) -> set[str]:
        """Samples of the test half, and those with a unit that counts, or is open, and no side of the two."""
        if not self.criterion.passes:
            return set()
        units = self.labelled()
        labelled = {units.samples[place] for place in renumbered(units.sample[~self.alone(units)])[0].tolist()}
        tested = {sample for sample, is_dev in self.is_dev.items() if not is_dev}
        return tested | {sample for sample in labelled if not self.is_dev.get(sample, False)}

    def labelled(self) -> Units:
        """With labels or a verdict."""
        return Units.of(self.units).with_all(self.verdicts)

    def kept(self, rows: Sequence[bool] | Bools) -> Self:
        """Only with these labels."""
        columns: dict[str, Any] = {name: kept(getattr(self, name), rows) for name in _BY_LABEL}
        return replace(self, **columns)

    def ratings(self) -> Ratings:
        """The labels on the criterion's own scale; the cluster is the sample's group."""
        units = Units.of(self.units)
        code, names = encode(self.units)
        group, groups = self.groups_of(units.samples)
        return Ratings.from_columns(
            Coded(names, code),
            self.raters,
            self.values,
            Coded(groups, group[units.sample[units.places(cast("Sequence[UnitKey]", names))[code]]]),
            scale=self.criterion.scale,
            levels=self.criterion.levels or None,
        )


# The columns of an evidence with a row per label.
_BY_LABEL = ("units", "raters", "values", "days", "seconds", "too_fast", "waiting")


def generator(seed: int, *names: object) -> np.random.Generator:
    """The generator behind one figure: it hangs on the project's seed and on what the figure is about, so that a figure
    is the same whichever others are asked for with it."""
    digest = hashlib.sha256("\x1f".join(map(str, (seed, *names))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16]))
