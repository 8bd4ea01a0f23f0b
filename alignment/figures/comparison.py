"""One judge held against people on a criterion."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from alignment.auc import roc_auc
from alignment.correlation import pearson, spearman
from alignment.estimate import Estimate
from alignment.figures.evidence import JudgeScores, UnitKey, Value
from alignment.figures.reference import METHOD, NO_NUMBERS, NO_PASSES, Reference
from alignment.figures.seeds import generator
from alignment.labels import judge_label_kappa
from alignment.multirater import gwet_ac1
from alignment.ratings import Ratings
from alignment.summary import paradox_note
from alignment.tau import kendall
from alignment.threshold import Sweep, at_threshold, sweep

NO_REFERENCE = "no unit has a human reference yet"
NO_SCORES = "the judge scored none of the units that have a human reference"

_CORRELATIONS = {"spearman": spearman, "kendall": kendall, "pearson": pearson}
_AT_THRESHOLD = ("kappa", "tpr", "tnr", "f1", "precision", "accuracy", "mcc")


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """One judge held against people.

    row: the figures as plain JSON. scores: the judge's scores as numbers, of the units people said something about.
    labels: its labels, for a judge that answers with the criterion's options. decisions: pass or fail by the judge, of
    the units it may be judged by (the test part, once a threshold was chosen on dev). curve: all thresholds on all.
    note: the sentence on the kappa paradox, where it applies.
    """

    said: JudgeScores
    row: dict[str, Any]
    scores: dict[UnitKey, float]
    labels: dict[UnitKey, Value]
    decisions: dict[UnitKey, bool]
    curve: Sweep | None
    note: str | None


def reference_figures(reference: Reference) -> dict[str, Any]:
    if reference.passing is None:
        unread = {"positives": None, "ties": None, "reason": NO_PASSES}
        return {"method": METHOD, "units": len(reference.units), **unread}
    return {
        "method": METHOD,
        "units": len(reference.positive),
        "positives": sum(reference.positive.values()),
        "ties": reference.ties,
        "verdicts": len(reference.evidence.verdicts),
        "single_labels": reference.single_labels,
        "reason": None,
    }


def compare(reference: Reference, scores: JudgeScores) -> Comparison:
    return _Comparing(reference, scores).done()


class _Comparing:
    """What the steps of one comparison share."""

    def __init__(self, reference: Reference, scores: JudgeScores) -> None:
        self.reference, self.said = reference, scores
        self.criterion, self.is_dev = reference.evidence.criterion, reference.evidence.is_dev
        self.higher = scores.higher_is_better
        known = set(reference.units)
        # A judge answers with numbers or with labels; a label among numbers is a failure.
        self.answers_labels = not scores.numbers and bool(scores.labels)
        self.labels = dict(scores.labels) if self.answers_labels else {}
        self.scores = self._numbers(known)
        self.decided = [unit for unit in reference.positive if unit in self.scores]

    def _numbers(self, known: set[UnitKey]) -> dict[UnitKey, float]:
        """The scores; labels count as their own numbers, else as pass (1) and fail (0), else not at all."""
        numbers = dict(self.said.numbers)
        if self.answers_labels:
            if self.reference.mean is not None:
                numbers = {unit: float(value) for unit, value in self.labels.items()}
            else:
                numbers = {unit: float(value in self.criterion.passes) for unit, value in self.labels.items()}
        return {unit: number for unit, number in numbers.items() if unit in known}

    def done(self) -> Comparison:
        all_data = self._sweep(self.decided) if self.decided else None
        judged, decisions, note = self._at_threshold()
        judge, version, dimension = self.said.name
        row = {
            "judge": judge,
            "version": version,
            "dimension": dimension,
            "higher_is_better": self.higher,
            "coverage": self._coverage(),
            **self._correlations(),
            "roc_auc": self._roc_auc(),
            "at_threshold": judged,
            "sweep_best": self._best(all_data),
            "labels": self._label_agreement(),
        }
        return Comparison(self.said, row, self.scores, self.labels, decisions, all_data, note)

    def _coverage(self) -> dict[str, int]:
        """Of the units people said something about; `unlabelled` counts the judge's scores on other units."""
        given = {*self.said.numbers, *self.said.labels, *self.said.failed}
        people = set(self.reference.units)
        answered = self.labels.keys() if self.answers_labels else self.said.numbers.keys()
        scored = len(people & answered)
        return {
            "scored": scored,
            "failed": len(people & given) - scored,
            "missing": len(people - given),
            "unlabelled": len(given - people),
        }

    def _rng(self, figure: str) -> np.random.Generator:
        return generator(self.reference.evidence.seed, "align", self.criterion.key, *self.said.name, figure)

    def _correlations(self) -> dict[str, Any]:
        human = self.reference.human
        if human is None:
            undefined = Estimate.undefined(NO_NUMBERS).as_dict()
            return dict.fromkeys(_CORRELATIONS, undefined)
        units = [unit for unit in human if unit in self.scores]
        columns = ([self.scores[u] for u in units], [human[u] for u in units], [u[0] for u in units])
        return {name: measure(*columns, rng=self._rng(name)).as_dict() for name, measure in _CORRELATIONS.items()}

    def _roc_auc(self) -> dict[str, Any]:
        reason = self._refusal()
        if reason is not None:
            return Estimate.undefined(reason, method="ROC AUC").as_dict()
        rng = self._rng("roc_auc")
        return roc_auc(*self._columns(self.decided), higher_is_better=self.higher, rng=rng).as_dict()

    def _at_threshold(self) -> tuple[dict[str, Any], dict[UnitKey, bool], str | None]:
        """Chosen on dev, measured on test. Labels need no threshold: nothing is fitted, so all units count."""
        reason = self._refusal()
        if reason is not None:
            return _undefined(reason), {}, None
        if self.answers_labels:
            passing = {unit: float(self.labels[unit] in self.criterion.passes) for unit in self.decided}
            return self._measured(passing, 0.5, higher=True, split="all", shown=None)
        dev = [unit for unit in self.decided if self.is_dev[unit[0]]]
        test = [unit for unit in self.decided if not self.is_dev[unit[0]]]
        reason = self._one_class(dev, "dev") or self._one_class(test, "test")
        threshold = self._sweep(dev).best_threshold if reason is None else None
        if threshold is None:
            return _undefined(reason or "kappa is undefined at every threshold of the dev part"), {}, None
        scores = {unit: self.scores[unit] for unit in test}
        return self._measured(scores, threshold, higher=self.higher, split="test", shown=threshold)

    def _measured(
        self, scores: dict[UnitKey, float], threshold: float, *, higher: bool, split: str, shown: float | None
    ) -> tuple[dict[str, Any], dict[UnitKey, bool], str | None]:
        positive = [self.reference.positive[unit] for unit in scores]
        clusters = [sample for sample, _ in scores]
        found = at_threshold(
            list(scores.values()), positive, clusters, threshold, higher_is_better=higher, rng=self._rng("at_threshold")
        )
        decisions = {unit: s >= threshold if higher else s <= threshold for unit, s in scores.items()}
        ac1 = gwet_ac1(_two_raters(list(scores), positive, list(decisions.values())), rng=self._rng("ac1"))
        row = {
            "threshold": shown,
            "split": split,
            **{name: getattr(found, name).as_dict() for name in _AT_THRESHOLD},
            "ac1": ac1.as_dict(),
            "confusion": found.confusion,
            "reason": None,
        }
        return row, decisions, paradox_note(found.kappa, found.accuracy, ac1)

    def _sweep(self, units: list[UnitKey]) -> Sweep:
        scores, positive, _ = self._columns(units)
        return sweep(scores, positive, higher_is_better=self.higher)

    def _best(self, all_data: Sweep | None) -> dict[str, Any]:
        best = {"threshold": None, "kappa": None, "optimistic": True}
        if all_data is None:
            return {**best, "reason": self._refusal()}
        return {
            **best,
            "threshold": all_data.best_threshold,
            "kappa": all_data.best_kappa,
            "reason": all_data.reason,
        }

    def _label_agreement(self) -> dict[str, Any] | None:
        if not self.answers_labels:
            return None
        human = self.reference.labels()
        units = [unit for unit in self.labels if unit in human]
        found = judge_label_kappa(
            [human[unit] for unit in units],
            [self.labels[unit] for unit in units],
            [sample for sample, _ in units],
            scale=self.reference.ratings.scale,
            levels=self.reference.ratings.levels,
            rng=self._rng("labels"),
        )
        return {name: getattr(found, name).as_dict() for name in ("percent", "kappa", "linear", "quadratic")}

    def _refusal(self) -> str | None:
        """Why the judge can't be held against pass and fail, or None when it can."""
        if self.reference.passing is None:
            return NO_PASSES
        if not self.reference.positive:
            return NO_REFERENCE
        return None if self.decided else NO_SCORES

    def _one_class(self, units: list[UnitKey], part: str) -> str | None:
        positives = sum(self.reference.positive[unit] for unit in units)
        if 0 < positives < len(units):
            return None
        if not units:
            return f"no unit of the {part} part has a score"
        which = "positive" if positives else "negative"
        return f"all {len(units)} scored units of the {part} part are {which} by people"

    def _columns(self, units: list[UnitKey]) -> tuple[list[float], list[bool], list[str]]:
        return (
            [self.scores[unit] for unit in units],
            [self.reference.positive[unit] for unit in units],
            [sample for sample, _ in units],
        )


def _two_raters(units: list[UnitKey], human: list[bool], judge: list[bool]) -> Ratings:
    return Ratings.from_columns(
        [*units, *units],
        ["human"] * len(units) + ["judge"] * len(units),
        [*human, *judge],
        [sample for sample, _ in units] * 2,
        scale="binary",
        levels=[False, True],
    )


def _undefined(reason: str) -> dict[str, Any]:
    return {
        "threshold": None,
        "split": "test",
        **{name: Estimate.undefined(reason).as_dict() for name in (*_AT_THRESHOLD, "ac1")},
        "confusion": None,
        "reason": reason,
    }
