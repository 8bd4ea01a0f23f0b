"""A judge's pass and fail against people's: day to day on dev, and at a look on test."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from alignment.agreement.multirater import gwet_ac1
from alignment.agreement.summary import paradox_note
from alignment.base.estimate import Estimate, Remark, estimates_as_dicts, remark
from alignment.base.ratings import Ratings
from alignment.judging.looks import kappa_at_look, level_of_look
from alignment.judging.threshold import ThresholdResult, at_threshold
from alignment.report.evidence import UnitKey
from alignment.report.judged import Judged
from alignment.report.reference import FOLDS

LEVEL = 0.95
TOO_FEW = remark("few_to_choose_threshold")

_FIGURES = ("kappa", "tpr", "tnr", "f1", "precision", "accuracy", "mcc")


@dataclass(frozen=True, eq=False, slots=True)
class Decided:
    """row: the figures as plain JSON. decisions: pass or fail by the judge, of the units that the figures rest on.
    note: the kappa paradox, where it applies. margins: those of CrossFitted; none on test."""

    row: dict[str, Any]
    decisions: dict[UnitKey, bool]
    note: Remark | None
    margins: dict[UnitKey, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class CrossFitted:
    """Pass or fail of every dev unit by a judge, none by a threshold that was chosen on it; ``reason``: why there are
    no decisions. ``margins``: by how much a score cleared its threshold, negative for a fail; empty for labels."""

    decisions: dict[UnitKey, bool]
    margins: dict[UnitKey, float]
    reason: Remark | None


def cross_fitted(judged: Judged) -> CrossFitted:
    """Each fifth of the dev samples decided by the threshold that is best on the other four; labels need none."""
    reason = judged.refusal() or judged.one_class(judged.dev, "dev")
    if reason is not None:
        return CrossFitted({}, {}, reason)
    if judged.answers_labels:
        return CrossFitted(decisions_at(judged, judged.dev, None), {}, None)
    decisions: dict[UnitKey, bool] = {}
    margins: dict[UnitKey, float] = {}
    for inside, outside in _folds(judged):
        threshold = judged.sweep(outside).best_threshold
        if threshold is None:
            return CrossFitted({}, {}, TOO_FEW)
        decisions |= decisions_at(judged, inside, threshold)
        sign = 1 if judged.said.higher_is_better else -1
        margins |= {unit: sign * (judged.scores[unit] - threshold) for unit in inside}
    # Back in their own order: folds shuffle samples.
    return CrossFitted({unit: decisions[unit] for unit in judged.dev}, {u: margins[u] for u in judged.dev}, None)


def on_dev(judged: Judged) -> Decided:
    """What can be looked at every day, since it costs nothing: the test part stays closed.

    Figures of the cross-fitted decisions; the threshold shown is the best one on all of dev.
    """
    found = cross_fitted(judged)
    if found.reason is not None:
        return _none(found.reason, "dev")
    threshold = None if judged.answers_labels else judged.sweep(judged.dev).best_threshold
    return replace(_measured(judged, found.decisions, threshold), margins=found.margins)


def on_test(judged: Judged, look: int) -> Decided:
    """What a look at the test part shows: the threshold chosen on all of dev, measured where nothing was chosen.

    ``look`` is its number, from 1, which decides how wide intervals are (alignment.judging.looks): looking costs.
    """
    reason = judged.refusal() or judged.one_class(judged.test, "test")
    if judged.answers_labels and reason is None:
        return _measured(judged, decisions_at(judged, judged.test, None), None, look)
    reason = reason or judged.one_class(judged.dev, "dev")
    if reason is not None:
        return _none(reason, "test")
    threshold = judged.sweep(judged.dev).best_threshold
    # Defined: dev holds both kinds, and the lowest score as threshold lets everything pass.
    assert threshold is not None
    return _measured(judged, decisions_at(judged, judged.test, threshold), threshold, look)


def decisions_at(judged: Judged, units: list[UnitKey], threshold: float | None) -> dict[UnitKey, bool]:
    """Pass or fail of each unit: by the threshold, or, when there is none, by the judge's label."""
    if threshold is None:
        return {unit: judged.labels[unit] in judged.criterion.passes for unit in units}
    higher, scores = judged.said.higher_is_better, judged.scores
    return {unit: scores[unit] >= threshold if higher else scores[unit] <= threshold for unit in units}


def _folds(judged: Judged) -> list[tuple[list[UnitKey], list[UnitKey]]]:
    """Of each fold the units inside and outside; the same samples for every judge."""
    fold_of = judged.reference.fold_of
    parts = [
        (
            [unit for unit in judged.dev if fold_of[unit[0]] == fold],
            [unit for unit in judged.dev if fold_of[unit[0]] != fold],
        )
        for fold in range(FOLDS)
    ]
    return [(inside, outside) for inside, outside in parts if inside]


def _measured(
    judged: Judged, decisions: dict[UnitKey, bool], threshold: float | None, look: int | None = None
) -> Decided:
    """``look``: at test, its number; None: on dev."""
    split, level = ("dev", LEVEL) if look is None else ("test", level_of_look(look))
    positive = [judged.reference.positive[unit] for unit in decisions]
    clusters = [sample for sample, _ in decisions]
    passed = np.fromiter(decisions.values(), np.float64, len(decisions))

    def figures(at: float) -> ThresholdResult:
        return at_threshold(passed, positive, clusters, 0.5, rng=judged.rng(f"{split} at_threshold"), level=at)

    found = figures(level)
    if look is not None:
        found = replace(found, kappa=kappa_at_look(figures(LEVEL).kappa, look))
    pair = Ratings.from_columns(
        [*decisions, *decisions],
        ["human"] * len(decisions) + ["judge"] * len(decisions),
        [*positive, *decisions.values()],
        clusters * 2,
        scale="binary",
        levels=[False, True],
    )
    ac1 = gwet_ac1(pair, rng=judged.rng(f"{split} ac1"), level=level)
    row = {
        "threshold": threshold,
        "split": split,
        **estimates_as_dicts(found, _FIGURES),
        "ac1": ac1.as_dict(),
        "confusion": found.confusion,
        "reason": None,
    }
    return Decided(row, decisions, paradox_note(found.kappa, found.accuracy, ac1))


def _none(reason: Remark, split: str) -> Decided:
    undefined = {name: Estimate.undefined(reason).as_dict() for name in (*_FIGURES, "ac1")}
    return Decided({"threshold": None, "split": split, **undefined, "confusion": None, "reason": reason}, {}, None)
