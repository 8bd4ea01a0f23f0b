"""A judge's pass and fail against people's: day to day on dev, and at a look on test."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from alignment.agreement.multirater import gwet_ac1
from alignment.agreement.summary import paradox_note
from alignment.base.estimate import Estimate, Remark, estimates_as_dicts, remark
from alignment.base.ratings import Ratings
from alignment.base.tables import kappa
from alignment.judging.threshold import at_threshold
from alignment.judging.weighted import weighted_at_threshold
from alignment.report.drawn import Drawn, drawn
from alignment.report.evidence import UnitKey
from alignment.report.judged import Judged
from alignment.report.reference import FOLDS

LEVEL = 0.95
TOO_FEW = remark("few_to_choose_threshold")

_FIGURES = ("kappa", "tpr", "tnr", "f1", "precision", "accuracy", "mcc")
#: Those of a look.
WEIGHTED = ("kappa", "tpr", "tnr", "accuracy")


@dataclass(frozen=True, eq=False, slots=True)
class Decided:
    """row: the figures as plain JSON. decisions: pass or fail by the judge, of the units that the figures rest on.
    note: the kappa paradox, where it applies. margins, left_out: those of CrossFitted; none on test."""

    row: dict[str, Any]
    decisions: dict[UnitKey, bool]
    note: Remark | None
    margins: dict[UnitKey, float] = field(default_factory=dict)
    left_out: dict[UnitKey, bool] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class CrossFitted:
    """Pass or fail of every dev unit by a judge, none by a threshold that was chosen on it; ``reason``: why there are
    no decisions. ``margins``: by how much a score cleared its threshold, negative for a fail; empty for labels.
    ``left_out``: pass or fail of ``Judged.left_out``, by the same thresholds."""

    decisions: dict[UnitKey, bool]
    margins: dict[UnitKey, float]
    reason: Remark | None
    left_out: dict[UnitKey, bool] = field(default_factory=dict)


def cross_fitted(judged: Judged) -> CrossFitted:
    """Each fifth of the dev samples decided by the threshold that is best on the other four; labels need none."""
    reason = judged.refusal() or judged.one_class(judged.dev, "dev")
    if reason is not None:
        return CrossFitted({}, {}, reason)
    if judged.answers_labels:
        return CrossFitted(
            decisions_at(judged, judged.dev, None), {}, None, decisions_at(judged, judged.left_out, None)
        )
    decisions: dict[UnitKey, bool] = {}
    margins: dict[UnitKey, float] = {}
    # No threshold was chosen on samples of which nothing is settled.
    left_out = decisions_at(judged, judged.left_out, judged.sweep(judged.dev).best_threshold)
    for fold, inside, outside in _folds(judged):
        threshold = judged.sweep(outside).best_threshold
        if threshold is None:
            return CrossFitted({}, {}, TOO_FEW)
        decisions |= decisions_at(judged, inside, threshold)
        sign = 1 if judged.said.higher_is_better else -1
        margins |= {unit: sign * (judged.scores[unit] - threshold) for unit in inside}
        beside = [unit for unit in judged.left_out if judged.reference.fold_of.get(unit[0]) == fold]
        left_out |= decisions_at(judged, beside, threshold)
    # Back in their own order: folds shuffle samples.
    return CrossFitted(
        {unit: decisions[unit] for unit in judged.dev}, {u: margins[u] for u in judged.dev}, None, left_out
    )


def on_dev(judged: Judged) -> Decided:
    """What can be looked at every day, since it costs nothing: the test part stays closed.

    Figures of the cross-fitted decisions; the threshold shown is the best one on all of dev.
    """
    found = cross_fitted(judged)
    if found.reason is not None:
        return _none(found.reason, "dev")
    threshold = None if judged.answers_labels else judged.sweep(judged.dev).best_threshold
    measured = _measured(judged, found.decisions, threshold)
    row = {**measured.row, "left_out": _bounds(judged, found)}
    return replace(measured, row=row, margins=found.margins, left_out=found.left_out)


def _bounds(judged: Judged, found: CrossFitted) -> dict[str, Any] | None:
    """Kappa if people came to agree with the judge on every unit that is left out, and if they did on none; None where
    none is."""
    if not found.left_out:
        return None
    settled = Counter((judged.reference.positive[unit], passes) for unit, passes in found.decisions.items())
    rest = Counter(found.left_out.values())
    agree = settled + Counter({(passes, passes): n for passes, n in rest.items()})
    differ = settled + Counter({(not passes, passes): n for passes, n in rest.items()})
    return {"units": rest.total(), "all_agree": kappa_of_counts(agree), "none_agrees": kappa_of_counts(differ)}


def kappa_of_counts(counts: Mapping[tuple[bool, bool], int]) -> float | None:
    """Of pairs of people's pass and the judge's; None where it is undefined."""
    found = float(kappa(np.array([counts[people, judge] for people in (False, True) for judge in (False, True)])))
    return found if np.isfinite(found) else None


def on_test(judged: Judged) -> Decided:
    """What a look at the test part shows: the threshold chosen on all of dev, measured where nothing was chosen.

    For all samples, by the drawn units, each with its chance. Every interval is at 95 %, by itself.
    """
    known = drawn(judged.reference, judged.test)
    reason = judged.refusal() or (None if known.units else _none_drawn(judged)) or judged.one_class(known.units, "test")
    if judged.answers_labels and reason is None:
        return _weighted(judged, known, None)
    reason = reason or judged.one_class(judged.dev, "dev")
    if reason is not None:
        return _none(reason, "test", WEIGHTED)
    threshold = judged.sweep(judged.dev).best_threshold
    # Defined: dev holds both kinds, and the lowest score as threshold lets everything pass.
    assert threshold is not None
    return _weighted(judged, known, threshold)


def _none_drawn(judged: Judged) -> Remark | None:
    """Where some samples have a known chance, and none of the scored test units is of one."""
    return remark("none_drawn_on_test", n=len(judged.test)) if judged.test else None


def decisions_at(judged: Judged, units: list[UnitKey], threshold: float | None) -> dict[UnitKey, bool]:
    """Pass or fail of each unit: by the threshold, or, when there is none, by the judge's label."""
    if threshold is None:
        return {unit: judged.labels[unit] in judged.criterion.passes for unit in units}
    higher, scores = judged.said.higher_is_better, judged.scores
    return {unit: scores[unit] >= threshold if higher else scores[unit] <= threshold for unit in units}


def _folds(judged: Judged) -> list[tuple[int, list[UnitKey], list[UnitKey]]]:
    """Each fold with the units inside and outside; the same samples for every judge."""
    fold_of = judged.reference.fold_of
    inside: list[list[UnitKey]] = [[] for _ in range(FOLDS)]
    outside: list[list[UnitKey]] = [[] for _ in range(FOLDS)]
    for unit in judged.dev:
        own = fold_of[unit[0]]
        for fold in range(FOLDS):
            (inside if fold == own else outside)[fold].append(unit)
    return [(fold, inside[fold], outside[fold]) for fold in range(FOLDS) if inside[fold]]


def _measured(judged: Judged, decisions: dict[UnitKey, bool], threshold: float | None) -> Decided:
    """On dev, every unit alike."""
    positive = [judged.reference.positive[unit] for unit in decisions]
    clusters = judged.reference.clusters(decisions)
    passed = np.fromiter(decisions.values(), np.float64, len(decisions))
    found = at_threshold(passed, positive, clusters, 0.5, interval="jackknife", level=LEVEL)
    pair = Ratings.from_columns(
        [*decisions, *decisions],
        ["human"] * len(decisions) + ["judge"] * len(decisions),
        [*positive, *decisions.values()],
        clusters * 2,
        scale="binary",
        levels=[False, True],
    )
    ac1 = gwet_ac1(pair, interval="jackknife", level=LEVEL)
    row = {
        "threshold": threshold,
        "split": "dev",
        **estimates_as_dicts(found, _FIGURES),
        "ac1": ac1.as_dict(),
        "confusion": found.confusion,
        "left_out": None,
        "reason": None,
    }
    return Decided(row, decisions, paradox_note(found.kappa, found.accuracy, ac1))


def _weighted(judged: Judged, known: Drawn, threshold: float | None) -> Decided:
    """On test, each unit with its chance; ``confusion`` counts units as they are."""
    decisions = decisions_at(judged, known.units, threshold)
    passed = np.array([judged.reference.positive[unit] for unit in known.units])
    judge = np.fromiter(decisions.values(), np.float64, len(decisions))
    found = weighted_at_threshold(judge, passed, known.cluster, 0.5, known.probability, known.stratum, level=LEVEL)
    counts = np.bincount(2 * passed + judge.astype(np.int64), minlength=4)
    row = {
        "threshold": threshold,
        "split": "test",
        **estimates_as_dicts(found, WEIGHTED),
        "confusion": counts.reshape(2, 2).tolist(),
        "reason": None,
    }
    return Decided(row, decisions, None)


def _none(reason: Remark, split: str, figures: Sequence[str] = (*_FIGURES, "ac1")) -> Decided:
    undefined = {name: Estimate.undefined(reason).as_dict() for name in figures}
    row = {"threshold": None, "split": split, **undefined, "confusion": None, "left_out": None, "reason": reason}
    return Decided(row, {}, None)
