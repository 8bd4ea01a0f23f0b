"""One judge held against people on a criterion."""

from dataclasses import dataclass, field
from typing import Any

from alignment.auc import roc_auc
from alignment.correlation import pearson, spearman
from alignment.estimate import Estimate
from alignment.figures.decisions import on_dev
from alignment.figures.evidence import JudgeScores, UnitKey, Value
from alignment.figures.judged import Judged
from alignment.figures.reference import METHOD, NO_NUMBERS, NO_PASSES, Reference
from alignment.labels import judge_label_kappa
from alignment.tau import kendall
from alignment.threshold import Sweep

_CORRELATIONS = {"spearman": spearman, "kendall": kendall, "pearson": pearson}


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """One judge held against people.

    judged: what it said, beside people. row: the figures as plain JSON. scores: the judge's scores as numbers, of the
    units people said something about. labels: its labels, for a judge that answers with the criterion's options.
    decisions: pass or fail by the judge on the dev part. curve: all thresholds on dev. note: the sentence on the kappa
    paradox, where it applies. margins: by how much each decision on dev cleared its threshold, for a judge that needs
    one.
    """

    judged: Judged
    said: JudgeScores
    row: dict[str, Any]
    scores: dict[UnitKey, float]
    labels: dict[UnitKey, Value]
    decisions: dict[UnitKey, bool]
    curve: Sweep | None
    note: str | None
    margins: dict[UnitKey, float] = field(default_factory=dict)


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


def compare(reference: Reference, said: JudgeScores) -> Comparison:
    """The day-to-day figures: at a threshold on dev alone; what chooses nothing on all units, and so is the best
    threshold, which is called optimistic."""
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
    return Comparison(
        judged, said, row, judged.scores, judged.labels, decided.decisions, curve, decided.note, decided.margins
    )


def coverage_of(judged: Judged) -> dict[str, int]:
    """Of the units people said something about; `unlabelled` counts the judge's scores on other units."""
    said = judged.said
    given = {*said.numbers, *said.labels, *said.failed}
    people = set(judged.reference.units)
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
    columns = ([judged.scores[u] for u in units], [human[u] for u in units], [u[0] for u in units])
    return {name: measure(*columns, rng=judged.rng(name)).as_dict() for name, measure in _CORRELATIONS.items()}


def _roc_auc(judged: Judged) -> dict[str, Any]:
    reason = judged.refusal()
    if reason is not None:
        return Estimate.undefined(reason, method="ROC AUC").as_dict()
    higher = judged.said.higher_is_better
    return roc_auc(*judged.columns(judged.decided), higher_is_better=higher, rng=judged.rng("roc_auc")).as_dict()


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
        [sample for sample, _ in units],
        scale=judged.reference.ratings.scale,
        levels=judged.reference.ratings.levels,
        rng=judged.rng("labels"),
    )
    return {name: getattr(found, name).as_dict() for name in ("percent", "kappa", "linear", "quadratic")}
