"""A judge's pass and fail against people's: day to day on dev, and at a look on test."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alignment.agreement.multirater import gwet_ac1
from alignment.agreement.summary import paradox_note
from alignment.base.arrays import Bools, Floats
from alignment.base.estimate import Estimate, Remark, estimates_as_dicts, remark
from alignment.base.ratings import Ratings, encode
from alignment.base.tables import kappa
from alignment.judging.threshold import at_threshold
from alignment.judging.weighted import weighted_at_threshold
from alignment.report.drawn import Drawn, drawn
from alignment.report.judged import Judged
from alignment.report.units import ByUnit, UnitKey

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
    decisions: ByUnit[bool]
    note: Remark | None
    margins: ByUnit[float] | None = None
    left_out: ByUnit[bool] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class CrossFitted:
    """Pass or fail of every dev unit by a judge, none by a threshold that was chosen on it; ``reason``: why there are
    no decisions. ``margins``: by how much a score cleared its threshold, negative for a fail; None for labels.
    ``left_out``: pass or fail of ``Judged.left_out``, by the same thresholds."""

    decisions: ByUnit[bool]
    margins: ByUnit[float] | None
    reason: Remark | None
    left_out: ByUnit[bool]


def cross_fitted(judged: Judged) -> CrossFitted:
    """Each fifth of the dev samples decided by the threshold that is best on the other four; labels need none."""
    reason = judged.refusal() or judged.one_class(judged.dev, "dev")
    if reason is not None:
        return _not_fitted(judged, reason)
    reference = judged.reference
    if judged.answers_labels:
        return CrossFitted(
            decisions_at(judged, judged.dev, None), None, None, decisions_at(judged, judged.left_out, None)
        )
    fold = reference.of_samples(reference.fold_of, -1, np.int64)
    dev, left_out = (reference.units.places(units) for units in (judged.dev, judged.left_out))
    # No threshold was chosen on samples of which nothing is settled.
    threshold_at = np.full(len(reference.units), judged.sweep(judged.dev).best_threshold, dtype=np.float64)
    for own in np.unique(fold[dev]).tolist():
        threshold = judged.sweep(reference.units.at(dev[fold[dev] != own])).best_threshold
        if threshold is None:
            return _not_fitted(judged, TOO_FEW)
        threshold_at[fold == own] = threshold
    sign = 1 if judged.said.higher_is_better else -1
    margins = sign * (judged.scores.values_at[dev] - threshold_at[dev])
    passed = _passed(judged, threshold_at)
    return CrossFitted(
        ByUnit.at(reference.units, dev, passed[dev]),
        ByUnit.at(reference.units, dev, margins),
        None,
        ByUnit.at(reference.units, left_out, passed[left_out]),
    )


def _not_fitted(judged: Judged, reason: Remark) -> CrossFitted:
    return CrossFitted(no_decisions(judged), None, reason, no_decisions(judged))


def no_decisions(judged: Judged) -> ByUnit[bool]:
    return ByUnit.of(judged.reference.units, {}, np.bool_)


def on_dev(judged: Judged) -> Decided:
    """What can be looked at every day, since it costs nothing: the test part stays closed.

    Figures of the cross-fitted decisions; the threshold shown is the best one on all of dev.
    """
    found = cross_fitted(judged)
    if found.reason is not None:
        return _none(judged, found.reason, "dev")
    threshold = None if judged.answers_labels else judged.sweep(judged.dev).best_threshold
    measured = _measured(judged, found.decisions, threshold)
    row = {**measured.row, "left_out": _bounds(judged, found)}
    return replace(measured, row=row, margins=found.margins, left_out=found.left_out)


def _bounds(judged: Judged, found: CrossFitted) -> dict[str, Any] | None:
    """Kappa if people came to agree with the judge on every unit that is left out, and if they did on none; None where
    none is."""
    if not found.left_out:
        return None
    settled = cells_of(judged, found.decisions)
    rest = Counter(found.left_out.column.tolist())
    agree = settled + Counter({(passes, passes): n for passes, n in rest.items()})
    differ = settled + Counter({(not passes, passes): n for passes, n in rest.items()})
    return {"units": rest.total(), "all_agree": kappa_of_counts(agree), "none_agrees": kappa_of_counts(differ)}


def cells_of(judged: Judged, decisions: ByUnit[bool]) -> Counter[tuple[bool, bool]]:
    """How many units people pass or fail and the judge passes or fails."""
    positive = judged.reference.positive.values_at[decisions.places]
    return Counter(zip(positive.tolist(), decisions.column.tolist(), strict=True))


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
        return _none(judged, reason, "test", WEIGHTED)
    threshold = judged.sweep(judged.dev).best_threshold
    # Defined: dev holds both kinds, and the lowest score as threshold lets everything pass.
    assert threshold is not None
    return _weighted(judged, known, threshold)


def _none_drawn(judged: Judged) -> Remark | None:
    """Where some samples have a known chance, and none of the scored test units is of one."""
    return remark("none_drawn_on_test", n=len(judged.test)) if judged.test else None


def decisions_at(judged: Judged, units: Sequence[UnitKey], threshold: float | None) -> ByUnit[bool]:
    """Pass or fail of each unit: by the threshold, or, when there is none, by the judge's label."""
    places = judged.reference.units.places(units)
    passed = judged.passing.values_at if threshold is None else _passed(judged, threshold)
    return ByUnit.at(judged.reference.units, places, passed[places])


def _passed(judged: Judged, threshold: float | Floats) -> Bools:
    """By threshold, of each unit of the reference; of no meaning where the judge gave no score."""
    scores = judged.scores.values_at
    passed: Bools = scores >= threshold if judged.said.higher_is_better else scores <= threshold
    return passed


def _measured(judged: Judged, decisions: ByUnit[bool], threshold: float | None) -> Decided:
    """On dev, every unit alike."""
    _, positive, clusters = judged.columns(judged.reference.units.at(decisions.places))
    found = at_threshold(
        decisions.column.astype(np.float64), positive, clusters, 0.5, interval="jackknife", level=LEVEL
    )
    pair = Ratings(
        unit=np.tile(decisions.places, 2),
        rater=np.repeat([0, 1], len(decisions)),
        value=np.concatenate([positive, decisions.column]),
        cluster=np.tile(encode(clusters.tolist())[0], 2),
        levels=(False, True),
        scale="binary",
        raters=("human", "judge"),
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
    passed = judged.reference.positive.values_at[decisions.places]
    judge = decisions.column.astype(np.float64)
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


def _none(judged: Judged, reason: Remark, split: str, figures: Sequence[str] = (*_FIGURES, "ac1")) -> Decided:
    undefined = {name: Estimate.undefined(reason).as_dict() for name in figures}
    row = {"threshold": None, "split": split, **undefined, "confusion": None, "left_out": None, "reason": reason}
    return Decided(row, no_decisions(judged), None)
