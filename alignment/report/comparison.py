"""One judge compared with people on a criterion: its figures, how it scores what people pass and fail, and where they
disagree most.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

import numpy as np

from alignment.base.arrays import Floats, renumbered
from alignment.base.coded import taken
from alignment.base.estimate import Estimate, Remark, estimates_as_dicts
from alignment.judging.correlation import kendall, pearson, spearman
from alignment.judging.label_judge import judge_label_kappa
from alignment.judging.threshold import Sweep
from alignment.report.decisions import on_dev
from alignment.report.evidence import JudgeScores, Value
from alignment.report.judged import Judged
from alignment.report.reference import DEV, METHOD, NO_NUMBERS, NO_PASSES, NO_SIDE, Reference
from alignment.report.units import ByUnit, UnitKey

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
    scores: ByUnit[float]
    labels: Mapping[UnitKey, Value]
    decisions: ByUnit[bool]
    curve: Sweep | None = None
    note: Remark | None = None
    margins: ByUnit[float] | None = None
    open_decisions: ByUnit[bool] | None = None

    @property
    def all_decisions(self) -> ByUnit[bool]:
        """Those on open units among them."""
        return self.decisions if self.open_decisions is None else self.decisions.with_all(self.open_decisions)


def reference_figures(reference: Reference) -> dict[str, Any]:
    if reference.passing is None:
        unread = {"positives": None, "ties": None, "reason": NO_PASSES}
        return {"method": METHOD, "units": len(reference.counted), **unread, **_settled(reference)}
    return {
        "method": METHOD,
        "units": len(reference.positive),
        "positives": int(reference.positive.column.sum()),
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
    # What has no side yet may come to test.
    are_open = reference.left_out & ~reference.alone & (reference.side == DEV)
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
        open_decisions=None if decided.left_out is None else decided.left_out.only(are_open),
    )


def coverage_of(judged: Judged) -> dict[str, int]:
    """Of the units people said something about, without those of closed samples; `unlabelled` counts the judge's scores
    on other units."""
    reference, said = judged.reference, judged.said
    given, answered = np.zeros((2, len(reference.units)), dtype=np.bool_)
    for values in (said.numbers, said.labels, said.failed):
        places = reference.units.places(values)
        given[places[places >= 0]] = True
    places = reference.units.places(judged.labels if judged.answers_labels else said.numbers)
    answered[places[places >= 0]] = True
    closed = dict.fromkeys(reference.closed.union(said.closed), True)
    people = ~reference.of_samples(closed, False, np.bool_)
    scored, asked = int((people & answered).sum()), int((people & given).sum())
    return {
        "scored": scored,
        "failed": asked - scored,
        "missing": int(people.sum()) - asked,
        "unlabelled": len(said.asked) - asked,
    }


def _correlations(judged: Judged) -> dict[str, Any]:
    human = judged.reference.human
    if human is None:
        return dict.fromkeys(_CORRELATIONS, Estimate.undefined(NO_NUMBERS).as_dict())
    places = np.flatnonzero(human.known & judged.scores.known)
    columns = judged.scores.values_at[places], human.values_at[places], judged.reference.group[places]
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
    reference = judged.reference
    human, labels = reference.labels(), ByUnit.of(reference.units, judged.labels, object)
    # Without pass or fail there are no halves; with them, labels on test are as locked as decisions.
    shown = human.known & labels.known & ((reference.passing is None) | (reference.side == DEV))
    found = judge_label_kappa(
        human.values_at[shown].tolist(),
        labels.values_at[shown].tolist(),
        reference.group[shown],
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
    score, passes, _ = judged.columns(judged.dev)
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
    is_open = (reference.side == DEV) | ((reference.side == NO_SIDE) & (reference.passing is None))
    places = np.flatnonzero(people.known & judge.known & ~reference.left_out & is_open)
    distance = np.abs(people.values_at[places] - judge.values_at[places])
    # Those that may be among the furthest: more, where several are as far.
    least = np.partition(distance, -PER_JUDGE)[-PER_JUDGE] if distance.size > PER_JUDGE else 0.0
    kept = (distance > 0) & (distance >= least)
    units = list(reference.units.at(places[kept]))
    rows = [Distant(unit, apart, human.get(unit)) for unit, apart in zip(units, distance[kept].tolist(), strict=True)]
    return nsmallest(PER_JUDGE, rows, key=lambda row: (-row.distance, reading_order(row.unit)))


def _people(reference: Reference, one: Comparison) -> ByUnit[float]:
    evidence = reference.evidence
    if reference.passing is not None:
        # A verdict outweighs the labels it was made from.
        return reference.share.with_all(reference.positive.only(reference.verdicts.known))
    if reference.mean is not None:
        return _between(reference.mean, evidence.criterion.levels or reference.mean.column)
    labels = ByUnit[Value].of(reference.units, one.labels, object)
    place = reference.units.places(evidence.units)
    rows = np.flatnonzero(labels.known[place])
    pairs = zip(taken(evidence.values, rows), labels.values_at[place[rows]], strict=True)
    agrees = np.array([value == label for value, label in pairs], dtype=np.float64)
    labelled, of = renumbered(place[rows])
    return ByUnit.at(reference.units, labelled, np.bincount(of, agrees) / np.bincount(of))


def _judge(reference: Reference, one: Comparison) -> ByUnit[float]:
    criterion, units = reference.evidence.criterion, reference.units
    if one.labels and reference.passing is not None:
        passes = one.judged.passing
        return ByUnit(units, passes.known, passes.values_at.astype(np.float64))
    if one.labels and reference.mean is None:
        return ByUnit(units, one.scores.known, np.ones(len(units)))
    scaled = _between(one.scores, criterion.levels if one.labels else one.scores.only(~reference.left_out).column)
    return scaled if one.said.higher_is_better else ByUnit(units, scaled.known, 1 - scaled.values_at)


def _between(values: ByUnit[float], ends: Sequence[Any] | Floats) -> ByUnit[float]:
    """Values from 0 at the lowest end to 1 at the highest; all in the middle when there is only one."""
    if not len(values) or not len(ends):
        return values.only(np.zeros_like(values.known))
    low, high = float(min(ends)), float(max(ends))
    scaled = (values.values_at - low) / (high - low) if high > low else np.full(values.known.size, 0.5)
    return ByUnit(values.units, values.known, scaled)


def reading_order(unit: UnitKey) -> tuple[str, str, int]:
    kind, _, index = unit[1].partition(":")
    return unit[0], kind, int(index or 0)
