"""Where a judge and people differ on dev: which way, what kappa is without some of it, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from alignment.base.arrays import Bools, Ints
from alignment.base.estimate import Estimate, Remark
from alignment.judging.label_judge import judge_label_kappa
from alignment.judging.slices import slices_at_threshold
from alignment.judging.threshold import at_threshold
from alignment.report.decisions import cross_fitted
from alignment.report.evidence import JudgeScores, Value
from alignment.report.judged import NO_SCORES, Judged
from alignment.report.people import ONLY_NUMBERS
from alignment.report.reference import Reference
from alignment.report.slices import slice_columns
from alignment.report.units import UnitKey

Advice = Literal["teach_judge", "clarify_guideline", "relabel"]
#: Units that several people judged, of which the advice knows whether people agree.
FEWEST_SEVERAL = 5
# Of those: from which share on people don't agree; and how many there are at least.
_SPLIT_SHARE, _FEWEST_SPLIT = 1 / 3, 3
# Of all units: from which share on one person's word stands against several; and how many there are at least.
_ALONE_SHARE, _FEWEST_ALONE = 1 / 2, 3
#: So many others who say what the judge says stand against one person.
SEVERAL = 2


@dataclass(frozen=True, eq=False, slots=True)
class Compared:
    """The units that judge and people decided, of dev where there are halves. places: among the reference's units;
    people, judge: pass or fail, or labels where nothing passes."""

    reference: Reference
    places: Ints
    people: Sequence[Value]
    judge: Sequence[Value]

    @property
    def units(self) -> Sequence[UnitKey]:
        return self.reference.units.at(self.places)

    @property
    def wrong(self) -> Bools:
        return np.array([one != other for one, other in zip(self.people, self.judge, strict=True)], dtype=np.bool_)

    def kappa(self, left_out: Ints | None = None) -> Estimate:
        """Of the judge with people, as reports have it; without the units of these rows."""
        kept = np.ones(self.places.size, dtype=np.bool_)
        if left_out is not None:
            kept[left_out] = False
        rows = np.flatnonzero(kept).tolist()
        people, judge = [self.people[row] for row in rows], [self.judge[row] for row in rows]
        groups = self.reference.group[self.places[rows]]
        if self.reference.passing is not None:
            score = np.array(judge, dtype=np.float64)
            return at_threshold(score, np.array(people, dtype=np.bool_), groups, 0.5, interval="jackknife").kappa
        ratings = self.reference.ratings
        asked = {"scale": ratings.scale, "levels": ratings.levels}
        return judge_label_kappa(people, judge, groups.tolist(), **asked, interval="jackknife").kappa  # type: ignore[arg-type]

    def worse_slices(self) -> list[dict[str, Any]]:
        """Where the judge is wrong more often than on all other units (Holm over all slices of the metadata, 5 %), as
        plain JSON: the highest share of mistakes first. Of which keys there are slices: as in reports."""
        right = np.logical_not(self.wrong)
        columns, _ = slice_columns(self.reference, self.places)
        # Where everything should be right, the share that is right is the accuracy, whatever the scale.
        found = slices_at_threshold(
            right.astype(np.float64),
            np.ones(right.size, dtype=np.bool_),
            self.reference.group[self.places],
            0.5,
            columns,
            measure="accuracy",
            interval="none",
        )
        worse = [(one.result.accuracy.value, one) for one in found if one.worse and one.result is not None]
        all_right = int(right.sum())
        rows = []
        for share, one in worse:
            assert share is not None
            own = round(share * one.n)
            rows.append({
                "key": one.key,
                "value": one.value,
                "units": one.n,
                "wrong": one.n - own,
                "elsewhere": right.size - one.n,
                "wrong_elsewhere": right.size - one.n - (all_right - own),
                "p_adjusted": one.p_adjusted,
            })  # fmt: skip
        return sorted(rows, key=lambda row: (-row["wrong"] / row["units"], row["key"], str(row["value"])))


def compared_units(reference: Reference, said: JudgeScores) -> Compared | Remark:
    """As a report compares them, with no threshold that was chosen on the unit itself; or why there is nothing."""
    judged = Judged(reference, said)
    if reference.passing is not None:
        found = cross_fitted(judged)
        if found.reason is not None:
            return found.reason
        places = found.decisions.places
        people = reference.positive.values_at[places].tolist()
        return Compared(reference, places, people, found.decisions.column.tolist())
    if not judged.labels:
        return ONLY_NUMBERS if said.numbers else NO_SCORES
    human = reference.labels()
    both = [unit for unit in judged.labels if unit in human]
    order = np.argsort(reference.units.places(both), kind="stable").tolist()
    units = [both[at] for at in order]
    return Compared(
        reference,
        reference.units.places(units),
        [human[unit] for unit in units],
        [judged.labels[unit] for unit in units],
    )


@dataclass(frozen=True, slots=True)
class Voices:
    """Of some units how many there are (units), on how many several people said something (several), of these on how
    many not all the same (split), and on how many one person stands alone against others who say what the judge says
    (alone)."""

    units: int
    several: int
    split: int
    alone: int

    @classmethod
    def of(cls, units: Sequence[tuple[Sequence[Value], int]], settled: Sequence[Value]) -> "Voices":
        """units: of each what every person said, once, and how many other judges of standing say what the judge says;
        settled: people's value of it. What differs from that counts as the judge's where there are two values only; so
        give the values that are compared."""
        several = [people for people, _ in units if len(people) > 1]
        alone = 0
        for (people, judges), value in zip(units, settled, strict=True):
            agreeing = sum(one == value for one in people)
            alone += agreeing == 1 and len(people) - agreeing + judges >= SEVERAL
        return cls(len(units), len(several), sum(len(set(people)) > 1 for people in several), alone)

    @property
    def is_known(self) -> bool:
        """Whether enough units have a second opinion to say that people agree."""
        return self.several >= FEWEST_SEVERAL

    def advice(self) -> Advice:
        """Relabel where on half of the units, and three, one person stands alone against two or more others; clarify
        the guideline where people differ on a third, and three, of the units that several of them judged; else teach
        the judge. It is a rule for what to look at first, and no test."""
        if self.alone >= max(_FEWEST_ALONE, _ALONE_SHARE * self.units):
            return "relabel"
        if self.is_known and self.split >= max(_FEWEST_SPLIT, _SPLIT_SHARE * self.several):
            return "clarify_guideline"
        return "teach_judge"
