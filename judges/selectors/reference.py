"""What people say of each unit of a criterion, for judges to be held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import cast

from alignment import Ratings, mean_value, reference_majority
from annotate.models import Criterion, Sample
from annotate.scales import Value
from annotate.selectors.ratings import RatingColumns, UnitKey, rating_columns, ratings_from, verdict_values
from judges.services.split import divide

METHOD = "verdict where there is one, else the majority of the labels; ties left out"
NO_PASSES = "the criterion says nowhere which values pass"
NO_NUMBERS = "the criterion's values are no numbers, and none of them counts as pass"


@dataclass(frozen=True, eq=False, slots=True)
class Reference:
    """People's side of every comparison on one criterion.

    columns, ratings: the labels that count. passing: the same ratings read as pass or fail; None when the criterion has
    no such reading, and then `positive` is empty.
    positive: pass or fail by people, of the units where they decided; `ties` counts those split in half.
    share: share of a unit's raters whose value passes. mean: mean of a unit's values, None when they are no numbers, or
    two of which one passes.
    is_dev: whether a unit of `positive` lies in the dev part. verdicts: the values that verdicts give.
    names: the samples' own ids, which are the same in every installation, by primary key.
    """

    columns: RatingColumns
    ratings: Ratings
    passing: Ratings | None
    verdicts: dict[UnitKey, Value]
    positive: dict[UnitKey, bool]
    ties: int
    share: dict[UnitKey, float]
    mean: dict[UnitKey, float] | None
    is_dev: dict[UnitKey, bool]
    names: dict[int, str]

    @property
    def units(self) -> list[UnitKey]:
        """Every unit that people said something about, by label or verdict."""
        return sorted({*self.columns.units, *self.verdicts})

    @property
    def single_labels(self) -> int:
        """How many units rest on one person's word alone: one label and no verdict."""
        votes = Counter(self.columns.units)
        return sum(votes[unit] == 1 and unit not in self.verdicts for unit in self.positive)

    @property
    def human(self) -> Mapping[UnitKey, float] | None:
        """What scores are correlated with: the mean value, or the share that passes where there is no mean."""
        return self.mean if self.mean is not None else (self.share if self.passing is not None else None)

    def labels(self) -> dict[UnitKey, Value]:
        """The label people gave: the verdict, else the value that more than half of the raters chose."""
        found = {}
        rows = sorted(zip(self.columns.units, self.columns.values, strict=True), key=itemgetter(0))
        for unit, group in groupby(rows, key=itemgetter(0)):
            votes = Counter(value for _, value in group)
            value, count = votes.most_common(1)[0]
            if 2 * count > votes.total():
                found[unit] = value
        return {**found, **self.verdicts}


def reference_of(criterion: Criterion) -> Reference:
    columns, verdicts = rating_columns(criterion), verdict_values(criterion)
    ratings = ratings_from(criterion, columns)
    passing, positive, share, ties = None, {}, {}, 0
    if criterion.passes:
        passes = set(criterion.passes)
        passing = Ratings.from_columns(
            columns.units,
            columns.raters,
            [value in passes for value in columns.values],
            columns.clusters,
            scale="binary",
            levels=[False, True],
        )
        majority = reference_majority(passing, [True])
        positive = dict(zip(cast("tuple[UnitKey, ...]", majority.unit_ids), majority.positive.tolist(), strict=True))
        positive.update((unit, value in passes) for unit, value in verdicts.items())
        share = _means(passing)
        ties = len(share.keys() - positive.keys())
    names = dict(Sample.objects.filter(project_id=criterion.project_id).values_list("pk", "external_id"))
    is_numeric = ratings.ordered and (ratings.levels is None or ratings.level_numbers is not None)
    # Of two values, of which one passes, the share that passes says the same, and always the right way round.
    has_mean = is_numeric and not (passing is not None and criterion.scale == "binary")
    return Reference(
        columns=columns,
        ratings=ratings,
        passing=passing,
        verdicts=verdicts,
        positive=dict(sorted(positive.items())),
        ties=ties,
        share=share,
        mean=_means(ratings) if has_mean else None,
        is_dev=_divided(criterion, positive, names),
        names=names,
    )


def _means(ratings: Ratings) -> dict[UnitKey, float]:
    means = mean_value(ratings)
    return dict(zip(cast("tuple[UnitKey, ...]", means.unit_ids), means.value.tolist(), strict=True))


def _divided(criterion: Criterion, positive: Mapping[UnitKey, bool], names: Mapping[int, str]) -> dict[UnitKey, bool]:
    votes: dict[int, list[bool]] = {}
    for (sample, _), passes in positive.items():
        votes.setdefault(sample, []).append(passes)
    sides = divide(criterion, {sample: 2 * sum(said) >= len(said) for sample, said in votes.items()}, names)
    return {(sample, unit): sides[sample] for sample, unit in positive}
