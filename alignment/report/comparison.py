"""One judge compared with people on a criterion: its figures, how it scores what people pass and fail, and where they
disagree most.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any

import numpy as np

from alignment.base.estimate import Estimate, Remark, estimates_as_dicts
from alignment.judging.correlation import kendall, pearson, spearman
from alignment.judging.label_judge import judge_label_kappa
from alignment.judging.threshold import Sweep
from alignment.report.decisions import on_dev
from alignment.report.evidence import JudgeScores, UnitKey, Value
from alignment.report.judged import Judged
from alignment.report.reference import METHOD, NO_NUMBERS, NO_PASSES, Reference

_CORRELATIONS = {"spearman": spearman, "kendall": kendall, "pearson": pearson}


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """One judge compared with people.

    judged: what it said, beside people. row: the figures as plain JSON. scores: the judge's scores as numbers, of the
    units people said something about. labels: its labels, for a judge that answers with the criterion's options.
    decisions: pass or fail by the judge on the dev part. curve: all thresholds on dev. note: the kappa paradox, where
    it applies. margins: by how much each decision on dev cleared its threshold, for a judge that needs
    one. open_decisions: pass or fail by the judge on dev units that several people labelled and that are not settled:
    how well people agree with each other and with it needs no verdict.
    """

    judged: Judged
    said: JudgeScores
    row: dict[str, Any]
    scores: dict[UnitKey, float]
    labels: dict[UnitKey, Value]
    decisions: dict[UnitKey, bool]
    curve: Sweep | None = None
    note: Remark | None = None
    margins: dict[UnitKey, float] = field(default_factory=dict)
    open_decisions: dict[UnitKey, bool] = field(default_factory=dict)


def reference_figures(reference: Reference) -> dict[str, Any]:
    if reference.passing is None:
        unread = {"positives": None, "ties": None, "reason": NO_PASSES}
        return {"method": METHOD, "units": len(reference.counted), **unread, **_settled(reference)}
    return {
        "method": METHOD,
        "units": len(reference.positive),
        "positives": sum(reference.positive.values()),
        "ties": reference.ties,
        "verdicts": len(reference.evidence.verdicts),
        "reason": None,
        **_settled(reference),
    }


def _settled(reference: Reference) -> dict[str, Any]:
    """Whether the reference is settled units only; ``unsettled`` counts the units that are not, left out then and among
    the others else."""
    evidence = reference.evidence
    counted = Counter(evidence.unsettled.values())
    return {
        "settled_only": evidence.settled_only,
        "unsettled": {why: counted[why] for why in ("single", "elsewhere", "open")},
        "single_labels": reference.single_labels,
        "declared": [row._asdict() for row in evidence.declared],
    }


def compare(reference: Reference, said: JudgeScores) -> Comparison:
    """The day-to-day figures, of what the evidence has open (``Evidence.locked``): where there are halves, of dev. The
    best threshold was chosen on what it is measured on, and is called optimistic."""
    judged = Judged(reference, said)
    decided = on_dev(judged)
    judge, version, dimension = said.name
    row = {
        "judge": judge,
        "version": version,
        "dimension": dimension,
        "higher_is_better": said.higher_is_better,
        "coverage": coverage_of(judged),
        **_correlations(judged),
        "roc_auc": _roc_auc(judged),
        "at_threshold": decided.row,
        "sweep_best": _best(judged),
        "labels": _label_agreement(judged),
    }
    curve = judged.sweep(judged.dev) if judged.dev else None
    unsettled, is_dev = reference.evidence.unsettled, reference.evidence.is_dev
    return Comparison(
        judged=judged,
        said=said,
        row=row,
        scores=judged.scores,
        labels=judged.labels,
        decisions=decided.decisions,
        curve=curve,
        note=decided.note,
        margins=decided.margins,
        # What has no side yet may come to test.
        open_decisions={
            unit: passes
            for unit, passes in decided.left_out.items()
            if unsettled[unit] == "open" and is_dev.get(unit[0], False)
        },
    )


def coverage_of(judged: Judged) -> dict[str, int]:
    """Of the units people said something about, without those of closed samples; `unlabelled` counts the judge's scores
    on other units."""
    said, closed = judged.said, judged.reference.closed.union(judged.said.closed)
    given = said.asked
    people = {unit for unit in judged.reference.units if unit[0] not in closed}
    answered = judged.labels.keys() if judged.answers_labels else said.numbers.keys()
    scored = len(people & answered)
    return {
        "scored": scored,
        "failed": len(people & given) - scored,
        "missing": len(people - given),
        "unlabelled": len(given - people),
    }


def _correlations(judged: Judged) -> dict[str, Any]:
    human = judged.reference.human
    if human is None:
        return dict.fromkeys(_CORRELATIONS, Estimate.undefined(NO_NUMBERS).as_dict())
    units = [unit for unit in human if unit in judged.scores]
    columns = ([judged.scores[u] for u in units], [human[u] for u in units], judged.reference.clusters(units))
    return {name: measure(*columns, rng=judged.rng(name)).as_dict() for name, measure in _CORRELATIONS.items()}


def _roc_auc(judged: Judged) -> dict[str, Any]:
    reason = judged.refusal()
    if reason is not None:
        return Estimate.undefined(reason, method="ROC AUC").as_dict()
    return judged.roc_auc(judged.decided).as_dict()


def _best(judged: Judged) -> dict[str, Any]:
    found = judged.sweep(judged.decided) if judged.decided else None
    return {
        "threshold": None if found is None else found.best_threshold,
        "kappa": None if found is None else found.best_kappa,
        "optimistic": True,
        "reason": judged.refusal() if found is None else found.reason,
    }


def _label_agreement(judged: Judged) -> dict[str, Any] | None:
    if not judged.answers_labels:
        return None
    human, sides = judged.reference.labels(), judged.reference.evidence.is_dev
    # Without pass or fail there are no halves; with them, labels on test are as locked as decisions.
    halves = judged.reference.passing is not None
    units = [unit for unit in judged.labels if unit in human and (not halves or sides.get(unit[0], False))]
    found = judge_label_kappa(
        [human[unit] for unit in units],
        [judged.labels[unit] for unit in units],
        judged.reference.clusters(units),
        scale=judged.reference.ratings.scale,
        levels=judged.reference.ratings.levels,
        interval="jackknife",
    )
    return estimates_as_dicts(found, ("percent", "kappa", "linear", "quadratic"))


BINS = 20


def score_histogram(judged: Judged) -> dict[str, Any] | None:
    """Scores of the dev units in 20 bins of equal width from the lowest to the highest, as counts by people's verdict.

    A bin holds its lower edge, the last one both; scores that are all equal share one bin. None for a judge without
    scores on dev, or that answers with labels.
    """
    if judged.answers_labels or not judged.dev:
        return None
    columns = judged.columns(judged.dev)
    score, passes = np.array(columns[0]), np.array(columns[1], dtype=np.bool_)
    lowest, highest = float(score.min()), float(score.max())
    # Halves first: the difference of two floats may be too large for one.
    width = highest / BINS - lowest / BINS
    edges = [lowest + place * width for place in range(BINS)] if width > 0 else [lowest]
    bin_of = np.searchsorted(edges, score, side="right") - 1
    return {
        "edges": [*edges, highest],
        "passes": np.bincount(bin_of[passes], minlength=len(edges)).tolist(),
        "fails": np.bincount(bin_of[~passes], minlength=len(edges)).tolist(),
    }


PER_JUDGE = 30


@dataclass(frozen=True, slots=True)
class Distant:
    """``distance`` lies between 0 and 1; ``human`` is people's mean value or share of passes, None when there is
    neither."""

    unit: UnitKey
    distance: float
    human: float | None


def furthest(reference: Reference, one: Comparison) -> list[Distant]:
    """The units on which the judge is furthest from people, the furthest first.

    Of the dev part, where there is one: what the judge will be measured on must not be seen while it is improved.

    People's share of passes (or their mean, between the ends of the scale) against the judge's score between its own
    lowest and highest, turned round when lower is better.
    """
    people, judge = _people(reference, one), _judge(reference, one)
    human = reference.human or people
    is_dev = reference.evidence.is_dev
    both = (people.keys() & judge.keys()) - reference.left_out
    open_units = {unit for unit in both if is_dev.get(unit[0], reference.passing is None)}
    rows = [Distant(unit, abs(people[unit] - judge[unit]), human.get(unit)) for unit in open_units]
    apart = [row for row in rows if row.distance > 0]
    return nsmallest(PER_JUDGE, apart, key=lambda row: (-row.distance, reading_order(row.unit)))


def _people(reference: Reference, one: Comparison) -> Mapping[UnitKey, float]:
    evidence = reference.evidence
    if reference.passing is not None:
        # A verdict outweighs the labels it was made from.
        settled = {unit: float(reference.positive[unit]) for unit in evidence.verdicts}
        return {**reference.share, **settled}
    if reference.mean is not None:
        return _between(reference.mean, evidence.criterion.levels or list(reference.mean.values()))
    agreeing: dict[UnitKey, list[bool]] = defaultdict(list)
    for unit, value in zip(evidence.units, evidence.values, strict=True):
        if unit in one.labels:
            agreeing[unit].append(value == one.labels[unit])
    return {unit: sum(votes) / len(votes) for unit, votes in agreeing.items()}


def _judge(reference: Reference, one: Comparison) -> Mapping[UnitKey, float]:
    criterion = reference.evidence.criterion
    if one.labels and reference.passing is not None:
        return {unit: float(value in criterion.passes) for unit, value in one.labels.items()}
    if one.labels and reference.mean is None:
        return dict.fromkeys(one.labels, 1.0)
    compared = [score for unit, score in one.scores.items() if unit not in reference.left_out]
    scaled = _between(one.scores, criterion.levels if one.labels else compared)
    return scaled if one.said.higher_is_better else {unit: 1 - score for unit, score in scaled.items()}


def _between(values: Mapping[UnitKey, float], ends: Sequence[Any]) -> dict[UnitKey, float]:
    """Values from 0 at the lowest end to 1 at the highest; all in the middle when there is only one."""
    if not values or not ends:
        return {}
    low, high = min(ends), max(ends)
    return {unit: (value - low) / (high - low) if high > low else 0.5 for unit, value in values.items()}


def reading_order(unit: UnitKey) -> tuple[str, str, int]:
    kind, _, index = unit[1].partition(":")
    return unit[0], kind, int(index or 0)
