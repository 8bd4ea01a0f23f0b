"""A judge compared with people sample by sample: on the metrics that the labels of a sample's units add up to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from alignment.base.arrays import Floats, Ints, cluster_rows
from alignment.base.caveats import interval_caveat
from alignment.base.estimate import Estimate, Remark, remark
from alignment.base.interval import Plan, share_of_trials
from alignment.judging.bland_altman import bland_altman
from alignment.judging.correlation import pearson, spearman
from alignment.report.comparison import Comparison
from alignment.report.evidence import JudgeScores
from alignment.report.judged import NONE_SCORED, judge_titles
from alignment.report.reference import NO_PASSES, Reference
from alignment.report.units import ByUnit, UnitKey, Units
from alignment.report.values import scale_of, scores_on_scale
from alignment.retrieval.sample_metrics import context_precisions, ndcgs_at_k, precisions_at_k, reciprocal_ranks

K = 5
_DIGITS = 12

NO_SAMPLE = remark("no_whole_sample")
NO_GRADES = remark("no_grades")
NEGATIVE = remark("negative_scores")
NONE_DECIDED = remark("no_sample_decided")
OUTSIDE = remark("scores_no_shares")
LOWER_IS_BETTER = remark("lower_is_better")
_FIGURES = ("people", "judge", "difference", "pearson", "spearman")


@dataclass(frozen=True, slots=True)
class Metric:
    """count: from rows of (samples, ranks), padded with 0, and the samples' numbers of units, to one figure each.

    depth: how many of a sample's first units it rests on; None: on all. graded: on grades, not on pass and fail.
    """

    key: str
    count: Callable[[Floats, Ints], Floats]
    depth: int | None = None
    graded: bool = False


def share_of_units(rows: Floats, sizes: Ints) -> Floats:
    """Of each sample, from rows of 0 and 1."""
    return rows.sum(axis=1) / sizes


#: Of each kind of unit the metrics that its labels add up to.
METRICS: dict[str, tuple[Metric, ...]] = {
    "claim": (Metric("faithfulness", share_of_units),),
    "context": (
        Metric("context_precision", lambda rows, _: context_precisions(rows > 0)),
        Metric("precision_at_k", lambda rows, _: precisions_at_k(rows > 0, K), depth=K),
        Metric("retrieved_precision", share_of_units),
        Metric("reciprocal_rank", lambda rows, _: reciprocal_ranks(rows > 0)),
        Metric("ndcg_at_k", lambda rows, _: ndcgs_at_k(rows, K), graded=True),
    ),
    "fact": (Metric("context_recall", share_of_units),),
    "entity": (Metric("context_entity_recall", share_of_units),),
}


def per_sample_figures(
    reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]
) -> dict[str, Any] | None:
    """Each metric by people and by judges; None where a sample has one unit of the criterion's kind.

    A sample counts when people's reference is known of every unit that the metric rests on. Of judges that score the
    units: their cross-fitted decisions on the dev half; for grades their values as they stand. Judges that score
    samples as a whole: as they stand. All on dev where there are halves, else on all samples. abstained: how many
    answers abstain, which are in no figure here; left out when none does.
    """
    metrics = METRICS.get(reference.evidence.criterion.unit)
    if metrics is None:
        return None
    sheet = _Sheet(reference)
    whole = reference.evidence.whole
    named = judge_titles([dict(zip(("judge", "version", "dimension"), one.name, strict=True)) for one in whole])
    passing = _passing(sheet, comparisons)
    graded = _graded(sheet, comparisons) if any(metric.graded for metric in metrics) else passing
    return {
        "unit": reference.evidence.criterion.unit,
        "k": K,
        **({"abstained": reference.evidence.abstained} if reference.evidence.abstained else {}),
        "metrics": [
            _metric(sheet, metric, graded if metric.graded else passing, titles, list(zip(named, whole, strict=True)))
            for metric in metrics
        ],
    }


class _Sheet:
    """Samples that people said something about in rows, ranks of units in columns, NaN where there is no value."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        units, evidence = reference.units, reference.evidence
        self.samples = units.samples
        self.cluster = cluster_rows([evidence.group_of(sample) for sample in self.samples])[0]
        self.sizes = np.array([evidence.sizes.get(sample, 0) for sample in self.samples], dtype=np.int64)
        self.width = int(self.sizes.max(initial=0))
        judges = (*evidence.judges, *evidence.whole)
        # Of labelled samples what is not dev is closed, unless the evidence is that of a look.
        self.on_dev = reference.passing is not None and not any(
            not reference.closed.isdisjoint(Units.of(values).samples)
            for one in judges
            for values in (one.numbers, one.labels)
        )
        rank = _ranks(units, evidence.dropped)
        counts = (rank >= 0) & (rank < self.sizes[units.sample])
        # The last place is where values are put that are left out.
        self.place = np.where(counts, units.sample * self.width + rank, len(self.samples) * self.width)

    def of_units(self, values: Mapping[UnitKey, float]) -> Floats:
        """Shape (samples, ranks); values of units that a sample no longer has are left out."""
        found = ByUnit.of(self.reference.units, values, np.float64)
        cells = np.full(len(self.samples) * self.width + 1, np.nan)
        cells[self.place[found.places]] = found.column
        return cells[:-1].reshape(len(self.samples), self.width)

    def measured(self, metric: Metric, cells: Floats) -> Floats:
        """The metric of each sample, shape (samples,), NaN where a unit that it rests on has no value."""
        wanted = self.sizes if metric.depth is None else np.minimum(self.sizes, metric.depth)
        missing = (np.isnan(cells) & (np.arange(self.width) < wanted[:, None])).any(axis=1)
        whole = (wanted > 0) & ~missing
        found = np.full(len(self.samples), np.nan)
        # Rounded: figures that differ in their last digits only are ties to a correlation of ranks.
        found[whole] = metric.count(np.nan_to_num(cells[whole]), self.sizes[whole]).round(_DIGITS)
        return found


def _ranks(units: Units, dropped: Mapping[str, Sequence[int]]) -> Ints:
    """Each unit's place among those that its sample has; -1 where it is none any more."""
    rank = units.number.copy()
    for sample, gone in dropped.items():
        own = units.of_sample(sample)
        rank[own] = [-1 if at in gone else at - sum(one < at for one in gone) for at in units.number[own].tolist()]
    return rank


class _Sides(NamedTuple):
    """What people and the judges that score the units said of them, of shape (samples, ranks).

    judges: beside each why it said nothing, where it didn't. reason: why people's values don't add up to any metric.
    """

    people: Floats
    judges: list[tuple[Comparison, Floats, Remark]]
    reason: Remark | None


def _passing(sheet: _Sheet, comparisons: Sequence[Comparison]) -> _Sides:
    judges = [
        (one, sheet.of_units(one.decisions), one.row["at_threshold"]["reason"] or NONE_DECIDED) for one in comparisons
    ]
    reason = NO_PASSES if sheet.reference.passing is None else None
    return _Sides(sheet.of_units(sheet.reference.positive), judges, reason)


def _graded(sheet: _Sheet, comparisons: Sequence[Comparison]) -> _Sides:
    """People's grade of a unit is the verdict where there is one, else the mean of the labels."""
    reference, levels = sheet.reference, scale_of(sheet.reference)
    if reference.mean is None:
        return _Sides(sheet.of_units({}), [], NO_GRADES)
    means = reference.mean.only(~reference.left_out)
    grades = means.with_all(reference.verdicts.read_as(float, np.float64))
    if (grades.column.min(initial=0.0) if levels is None else levels[0]) < 0:
        return _Sides(sheet.of_units({}), [], NO_GRADES)
    judges = []
    for one in comparisons:
        placed, _, reason = scores_on_scale(reference, one, levels)
        if placed.column.min(initial=0.0) < 0:
            placed, reason = placed.only(np.zeros_like(placed.known)), NEGATIVE
        judges.append((one, sheet.of_units(placed), reason or NONE_DECIDED))
    return _Sides(sheet.of_units(grades), judges, None)


def _metric(
    sheet: _Sheet, metric: Metric, sides: _Sides, titles: Sequence[str], whole: Sequence[tuple[str, JudgeScores]]
) -> dict[str, Any]:
    people = sheet.measured(metric, sides.people)
    counted = int((~np.isnan(people)).sum())
    reason = sides.reason or (None if counted else NO_SAMPLE)
    found = {"key": metric.key, "left_out": len(sheet.samples) - counted, "reason": reason}
    if reason is not None:
        return {**found, "people": Estimate.undefined(reason).as_dict(), "judges": [], "caveat": None}
    rows = []
    for title, (one, cells, none) in zip(titles, sides.judges, strict=True):
        about = {
            "title": title,
            "dimension": one.said.dimension,
            "whole": False,
            "on_dev": not metric.graded or sheet.on_dev,
        }
        own = sheet.measured(metric, cells)
        rows.append({**about, **_beside(sheet, metric, people, own, one.said.name, none)})
    measures = sheet.reference.evidence.measures
    for title, score in whole:
        if measures.get(score.dimension, metric.key) == metric.key:
            about = {"title": title, "dimension": score.dimension, "whole": True, "on_dev": sheet.on_dev}
            rows.append({**about, **_as_whole(sheet, metric, people, score)})
    known = ~np.isnan(people)
    measured = [row["people"]["clusters"] for row in rows if row["people"]["n"]]
    return {
        **found,
        "people": _mean(people[known], sheet.cluster[known], metric).as_dict(),
        "judges": rows,
        "caveat": interval_caveat(clusters=min([np.unique(sheet.cluster[known]).size, *measured])),
    }


def _as_whole(sheet: _Sheet, metric: Metric, people: Floats, said: JudgeScores) -> dict[str, Any]:
    scored = {sample: number for (sample, _), number in said.numbers.items()}
    numbers = np.array([scored.get(sample, np.nan) for sample in sheet.samples], dtype=np.float64)
    both = numbers[~np.isnan(numbers) & ~np.isnan(people)]
    apart = None if said.higher_is_better else LOWER_IS_BETTER
    if ((both < 0) | (both > 1)).any():
        apart = OUTSIDE
    return _beside(sheet, metric, people, numbers, (*said.name, "whole"), NONE_SCORED, apart)


def _beside(
    sheet: _Sheet,
    metric: Metric,
    people: Floats,
    judge: Floats,
    name: tuple[str, ...],
    none: Remark,
    apart: Remark | None = None,
) -> dict[str, Any]:
    """Both sides on the samples that both have. none: why there are none; apart: why they can't be subtracted."""
    both = ~np.isnan(people) & ~np.isnan(judge)
    if not both.any():
        return dict.fromkeys(_FIGURES, Estimate.undefined(none).as_dict())
    human, said = people[both], judge[both]
    cluster = sheet.cluster[both]
    if apart is None:
        mean = _mean(said, cluster, metric)
        difference = bland_altman(said, human, cluster, interval="jackknife").bias
    else:
        mean = difference = Estimate.undefined(apart, n=human.size, clusters=np.unique(cluster).size)
    rng = sheet.reference.rng("per sample", about=(metric.key, *name, "spearman"))
    return {
        "people": _mean(human, cluster, metric).as_dict(),
        "judge": mean.as_dict(),
        "difference": difference.as_dict(),
        "pearson": pearson(said, human, cluster, interval="jackknife").as_dict(),
        "spearman": spearman(said, human, cluster, rng=rng).as_dict(),
    }


def _mean(values: Floats, cluster: Ints, metric: Metric) -> Estimate:
    plan = Plan("jackknife", None, 0.95)
    return share_of_trials(values, cluster, plan, name=f"mean {metric.key}", undefined=NO_SAMPLE)
