"""What people say of each unit of a criterion, for judges to be compared with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from alignment.base.arrays import Array, Bools, Floats, Ints, first_places, renumbered
from alignment.base.coded import Coded, taken
from alignment.base.estimate import remark
from alignment.base.ratings import Ratings, encode
from alignment.calibration.split import folds
from alignment.judging.annotator_errors import pass_or_fail
from alignment.judging.reference import mean_value, reference_majority
from alignment.report.evidence import Evidence, Value, generator
from alignment.report.units import ByUnit, UnitKey, Units

FOLDS = 5
METHOD = remark("verdict_else_majority")
NO_PASSES = remark("no_passes")
NO_NUMBERS = remark("no_numbers")
#: Sides of a unit.
DEV, TEST, NO_SIDE = 1, 0, -1


@dataclass(frozen=True, eq=False)
class Reference:
    """People's side of every comparison on one criterion.

    units: every unit that people said something about, by label or verdict; what is said of them here is in arrays of
    their size. verdicts: those that settle a unit. ratings: the labels that count. passing: the same ratings read as
    pass or fail; None when the criterion has no such reading, and then `positive` is empty.
    positive: pass or fail by people, of the units where they decided; `ties` counts those split in half.
    share: share of a unit's raters whose value passes. mean: mean of a unit's values, None when they are no numbers, or
    two of which one passes. Both need no verdict, so they are of units that are still open too: to leave out those on
    which people differ would flatter every judge.
    left_out: whether people labelled a unit and no judge is compared with it, since it is not settled; alone: of these,
    whether it is one of a single label.
    """

    evidence: Evidence
    units: Units
    verdicts: ByUnit[Value]
    ratings: Ratings
    passing: Ratings | None
    positive: ByUnit[bool]
    ties: int
    share: ByUnit[float]
    mean: ByUnit[float] | None
    left_out: Bools
    alone: Bools

    @property
    def base(self) -> Ratings:
        """The labels as agreement is measured on them: pass or fail where the criterion has passes."""
        return self.ratings if self.passing is None else self.passing

    @property
    def basis(self) -> str:
        """What ``base`` holds, as reports call it."""
        return "labels" if self.passing is None else "pass or fail"

    @cached_property
    def rated(self) -> Ints:
        """Of each code of a unit in the ratings its place among the units."""
        return _places(self.units, self.ratings)

    @cached_property
    def closed(self) -> frozenset[str]:
        """Samples of which no judge's answer may be known before a look."""
        return frozenset(self.evidence.closed())

    @property
    def counted(self) -> Coded[UnitKey]:
        """Every unit that judges are compared with people on."""
        return self.units.at(np.flatnonzero(~self.left_out))

    @property
    def single_labels(self) -> int:
        """How many units rest on one label that no reviewer looked at."""
        unsettled = () if self.evidence.settled_only else self.evidence.unsettled.values()
        alone = sum(why in ("single", "elsewhere") for why in unsettled)
        return alone + sum(row.units for row in self.evidence.declared)

    @property
    def human(self) -> ByUnit[float] | None:
        """What scores are correlated with: the mean value, or the share that passes where there is no mean."""
        return self.mean if self.mean is not None else (self.share if self.passing is not None else None)

    def labels(self) -> ByUnit[Value]:
        """The label people gave, of settled units: the verdict, else the value that more than half of the raters
        chose."""
        return self._labels

    @cached_property
    def _labels(self) -> ByUnit[Value]:
        deciding = self.evidence.deciding()
        unit, units = encode(deciding.units)
        value, values = encode(deciding.values)
        # Of each value of a unit: the unit, how many gave it, and the label that gave it first.
        present, cell = renumbered(unit * max(1, len(values)) + value)
        of, count = present // max(1, len(values)), np.bincount(cell)
        first = first_places(cell, present.size)
        won = 2 * count > np.bincount(unit)[of]
        places = self.units.places(cast("Sequence[UnitKey]", units))[of[won]]
        majority = ByUnit.at(self.units, places, taken(deciding.values, first[won]))
        return majority.only(~self.left_out).with_all(self.verdicts)

    def of_samples(self, said: Mapping[str, Any], without: Any, kind: Any) -> Array:
        """Of each unit what is said of its sample. kind: of numpy."""
        return np.array([said.get(name, without) for name in self.units.samples], dtype=kind)[self.units.sample]

    @cached_property
    def side(self) -> Ints:
        """Of each unit DEV, TEST or NO_SIDE."""
        return self.of_samples(self.evidence.is_dev, NO_SIDE, np.int64)

    @cached_property
    def chance(self) -> tuple[Floats, Ints]:
        """Of each unit the probability of its sample, NaN where it is unknown, and its stratum."""
        chances = self.evidence.chances
        of = {name: chances[name] for name in self.units.samples if name in chances}
        return (
            self.of_samples({name: one.probability for name, one in of.items()}, np.nan, np.float64),
            self.of_samples({name: one.stratum for name, one in of.items()}, 0, np.int64),
        )

    @cached_property
    def has_chance(self) -> Bools:
        """Of each unit whether it is known how its sample came to be labelled."""
        return ~np.isnan(self.chance[0])

    @cached_property
    def group(self) -> Ints:
        """Of each unit the cluster of intervals: groups of samples, numbered in the order of their names."""
        if not self.evidence.groups:
            return self.units.sample
        named = [self.evidence.group_of(sample) for sample in self.units.samples]
        number = {name: at for at, name in enumerate(sorted(set(named)))}
        return np.array([number[name] for name in named], dtype=np.int64)[self.units.sample]

    def samples_of(self, places: Ints) -> Ints:
        """Those of these units, each once, as places among ``units.samples``."""
        return renumbered(self.units.sample[places])[0]

    def rng(self, *figure: str, about: Iterable[str] = ()) -> np.random.Generator:
        """The generator behind one figure of the criterion, ``about`` one judge where it is."""
        return generator(self.evidence.seed, *figure, self.evidence.criterion.key, *about)

    def clusters(self, units: Iterable[UnitKey]) -> list[str]:
        return self.evidence.clusters(units)

    def strata(self) -> dict[str, bool]:
        """Of each sample with a reference whether at least half of its units pass, to divide dev and test evenly."""
        present, sample = renumbered(self.units.sample[self.positive.places])
        passes = 2 * np.bincount(sample, self.positive.column) >= np.bincount(sample)
        return {self.units.samples[at]: said for at, said in zip(present.tolist(), passes.tolist(), strict=True)}

    @cached_property
    def fold_of(self) -> dict[str, int]:
        """The fold of each dev sample, 0..FOLDS-1, for everything that is cross-fitted: the same for every judge, and
        for the samples of a group."""
        votes: dict[str, list[bool]] = {}
        samples = []
        for sample, passes in self.strata().items():
            if self.evidence.is_dev.get(sample, False):
                samples.append(sample)
                votes.setdefault(self.evidence.group_of(sample), []).append(passes)
        strata = [2 * sum(said) >= len(said) for said in votes.values()]
        dealt = dict(zip(votes, folds(list(votes), strata, FOLDS, self.rng("folds")).tolist(), strict=True))
        return {sample: dealt[self.evidence.group_of(sample)] for sample in samples}


def reference_of(evidence: Evidence) -> Reference:
    """People's side of the evidence; it doesn't need the judges, nor how samples are divided."""
    ratings, deciding = evidence.ratings(), evidence.deciding()
    counted = ratings if deciding is evidence else deciding.ratings()
    units = evidence.labelled()
    verdicts = ByUnit[Value].of(units, evidence.verdicts, object)
    left_out = ByUnit.of(units, evidence.unsettled if evidence.settled_only else {}, object).known
    alone = evidence.alone(units)
    passing, ties = passing_of(evidence, ratings), 0
    positive, share = ByUnit[bool].of(units, {}, np.bool_), ByUnit[float].of(units, {}, np.float64)
    if passing is not None:
        passes = set(evidence.criterion.passes)
        said = passing if deciding is evidence else pass_or_fail(counted, evidence.criterion.passes)
        majority = reference_majority(said, [True])
        by_labels = ByUnit.at(units, _places(units, said)[majority.unit], majority.positive).only(~left_out)
        positive = by_labels.with_all(verdicts.read_as(passes.__contains__, np.bool_))
        share = _means(units, said).only(~alone)
        ties = int((share.known & ~positive.known & ~left_out).sum())
    is_numeric = ratings.ordered and (ratings.levels is None or ratings.level_numbers is not None)
    # Of two values, of which one passes, the share that passes says the same, and always the right way round.
    has_mean = is_numeric and not (passing is not None and evidence.criterion.scale == "binary")
    return Reference(
        evidence=evidence,
        units=units,
        verdicts=verdicts,
        ratings=ratings,
        passing=passing,
        positive=positive,
        ties=ties,
        share=share,
        mean=_means(units, counted).only(~alone) if has_mean else None,
        left_out=left_out,
        alone=alone,
    )


def passing_of(evidence: Evidence, ratings: Ratings) -> Ratings | None:
    """The evidence's ratings read as pass or fail; None when the criterion has no such reading."""
    passes = evidence.criterion.passes
    return pass_or_fail(ratings, passes) if passes else None


def _places(units: Units, ratings: Ratings) -> Ints:
    """Of each code of a unit."""
    return units.places(cast("Sequence[UnitKey]", ratings.unit_ids or ()))


def _means(units: Units, ratings: Ratings) -> ByUnit[float]:
    found = mean_value(ratings)
    return ByUnit.at(units, _places(units, ratings)[found.unit], found.value)
