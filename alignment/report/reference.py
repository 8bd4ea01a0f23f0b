"""What people say of each unit of a criterion, for judges to be compared with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import cast

import numpy as np

from alignment.base.arrays import first_places, renumbered
from alignment.base.coded import different, taken
from alignment.base.estimate import remark
from alignment.base.ratings import Ratings, encode
from alignment.calibration.split import folds
from alignment.judging.annotator_errors import pass_or_fail
from alignment.judging.reference import mean_value, reference_majority
from alignment.report.evidence import Evidence, UnitKey, Unsettled, Value, generator

FOLDS = 5
METHOD = remark("verdict_else_majority")
NO_PASSES = remark("no_passes")
NO_NUMBERS = remark("no_numbers")


@dataclass(frozen=True, eq=False)
class Reference:
    """People's side of every comparison on one criterion.

    ratings: the labels that count. passing: the same ratings read as pass or fail; None when the criterion has no such
    reading, and then `positive` is empty.
    positive: pass or fail by people, of the units where they decided; `ties` counts those split in half.
    share: share of a unit's raters whose value passes. mean: mean of a unit's values, None when they are no numbers, or
    two of which one passes. Both need no verdict, so they are of units that are still open too: to leave out those on
    which people differ would flatter every judge.
    """

    evidence: Evidence
    ratings: Ratings
    passing: Ratings | None
    positive: dict[UnitKey, bool]
    ties: int
    share: dict[UnitKey, float]
    mean: dict[UnitKey, float] | None

    @property
    def base(self) -> Ratings:
        """The labels as agreement is measured on them: pass or fail where the criterion has passes."""
        return self.ratings if self.passing is None else self.passing

    @property
    def basis(self) -> str:
        """What ``base`` holds, as reports call it."""
        return "labels" if self.passing is None else "pass or fail"

    @cached_property
    def units(self) -> list[UnitKey]:
        """Every unit that people said something about, by label or verdict."""
        # Not a set: what comes in two orderly parts is sorted in one pass.
        return sorted(dict.fromkeys(chain(different(self.evidence.units), self.evidence.verdicts)))

    @cached_property
    def known(self) -> frozenset[UnitKey]:
        return frozenset(self.units)

    @cached_property
    def left_out(self) -> frozenset[UnitKey]:
        """Units that people labelled and no judge is compared with, since they are not settled."""
        return frozenset(self.evidence.unsettled) if self.evidence.settled_only else frozenset()

    @cached_property
    def closed(self) -> frozenset[str]:
        """Samples of which no judge's answer may be known before a look."""
        return frozenset(self.evidence.closed())

    @cached_property
    def counted(self) -> list[UnitKey]:
        """Every unit that judges are compared with people on."""
        return [unit for unit in self.units if unit not in self.left_out]

    @property
    def single_labels(self) -> int:
        """How many units rest on one label that no reviewer looked at."""
        unsettled = self.evidence.unsettled
        alone = sum(unsettled.get(unit) in ("single", "elsewhere") for unit in self.counted)
        return alone + sum(row.units for row in self.evidence.declared)

    @property
    def human(self) -> Mapping[UnitKey, float] | None:
        """What scores are correlated with: the mean value, or the share that passes where there is no mean."""
        return self.mean if self.mean is not None else (self.share if self.passing is not None else None)

    def labels(self) -> Mapping[UnitKey, Value]:
        """The label people gave, of settled units: the verdict, else the value that more than half of the raters
        chose."""
        return self._labels

    @cached_property
    def _labels(self) -> Mapping[UnitKey, Value]:
        deciding = self.evidence.deciding()
        unit, units = encode(deciding.units)
        value, values = encode(deciding.values)
        # Of each value of a unit: the unit, how many gave it, and the label that gave it first.
        present, cell = renumbered(unit * max(1, len(values)) + value)
        of, count = present // max(1, len(values)), np.bincount(cell)
        first = first_places(cell, present.size)
        won = 2 * count > np.bincount(unit)[of]
        named = cast("tuple[UnitKey, ...]", units)
        labels = zip(of[won].tolist(), taken(deciding.values, first[won]), strict=True)
        found = {named[code]: label for code, label in labels if named[code] not in self.left_out}
        return {**found, **self.evidence.verdicts}

    def rng(self, *figure: str, about: Iterable[str] = ()) -> np.random.Generator:
        """The generator behind one figure of the criterion, ``about`` one judge where it is."""
        return generator(self.evidence.seed, *figure, self.evidence.criterion.key, *about)

    def clusters(self, units: Iterable[UnitKey]) -> list[str]:
        return self.evidence.clusters(units)

    def strata(self) -> dict[str, bool]:
        """Of each sample with a reference whether at least half of its units pass, to divide dev and test evenly."""
        votes: dict[str, list[bool]] = {}
        for (sample, _), passes in self.positive.items():
            votes.setdefault(sample, []).append(passes)
        return {sample: 2 * sum(said) >= len(said) for sample, said in votes.items()}

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
    passing, positive, share, ties = passing_of(evidence, ratings), {}, {}, 0
    left_out = evidence.unsettled if evidence.settled_only else {}
    if passing is not None:
        passes = set(evidence.criterion.passes)
        said = passing if deciding is evidence else pass_or_fail(counted, evidence.criterion.passes)
        majority = reference_majority(said, [True])
        positive = dict(zip(cast("tuple[UnitKey, ...]", majority.unit_ids), majority.positive.tolist(), strict=True))
        positive = {unit: passed for unit, passed in positive.items() if unit not in left_out}
        positive.update((unit, value in passes) for unit, value in evidence.verdicts.items())
        share = _means(said, left_out)
        ties = len(share.keys() - positive.keys() - left_out.keys())
    is_numeric = ratings.ordered and (ratings.levels is None or ratings.level_numbers is not None)
    # Of two values, of which one passes, the share that passes says the same, and always the right way round.
    has_mean = is_numeric and not (passing is not None and evidence.criterion.scale == "binary")
    return Reference(
        evidence=evidence,
        ratings=ratings,
        passing=passing,
        positive=dict(sorted(positive.items())),
        ties=ties,
        share=share,
        mean=_means(counted, left_out) if has_mean else None,
    )


def passing_of(evidence: Evidence, ratings: Ratings) -> Ratings | None:
    """The evidence's ratings read as pass or fail; None when the criterion has no such reading."""
    passes = evidence.criterion.passes
    return pass_or_fail(ratings, passes) if passes else None


def _means(ratings: Ratings, left_out: Mapping[UnitKey, Unsettled]) -> dict[UnitKey, float]:
    """Without units of one label that settles nothing."""
    means = mean_value(ratings)
    by_unit = zip(cast("tuple[UnitKey, ...]", means.unit_ids), means.value.tolist(), strict=True)
    return {unit: mean for unit, mean in by_unit if left_out.get(unit) in (None, "open")}
