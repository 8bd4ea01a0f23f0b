"""Two judges and then people: what each pair would decide on dev, and what one pair may decide by a look at test."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from alignment.aligning.cascades import (
    AGREEMENTS,
    CHEAP,
    DEAR,
    NOTHING_DECIDED,
    PEOPLE,
    Cascade,
    CertifiedCascade,
    TwoJudges,
    cascade_at,
    cascade_family,
    certified_cascades,
)
from alignment.aligning.selection import NO_ANSWER
from alignment.base.arrays import Bools, Floats, Ints
from alignment.base.estimate import Remark, remark
from alignment.judging.share_bound import mean_share_bound
from alignment.judging.threshold import decide
from alignment.judging.triage import CONFIDENCE
from alignment.report.comparison import Comparison
from alignment.report.drawn import NO_KNOWN_CHANCE, Drawn, drawn
from alignment.report.evidence import Chance
from alignment.report.judged import Judged
from alignment.report.lots import whole_or_by_lot
from alignment.report.reference import DEV, TEST, Reference
from alignment.report.units import ByUnit

#: Of so many judges, those of the highest kappa, pairs are worked out: each further one brings two with every other.
MOST_JUDGES = 6


def cascade_figures(reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]) -> dict[str, Any]:
    """What every ordered pair of judges would decide on dev, as plain JSON: {"agreements", "pairs"}.

    A pair: {"cheap", "dear": titles, "levels": for each of the shares of agreement {"agreement", "disagreement",
    "cheap", "dear", "people"}}. Cross-fitted: a fold's units are decided by a cascade, and by thresholds, that were
    chosen on the others. ``disagreement``: of what the judges decide, the mean over groups of the share on which people
    say otherwise or have not settled, with a one-sided bound at 95 %; ``cheap``, ``dear`` and ``people``: of the units
    the share that each decides. No pair where there are no two judges with decisions, or no two folds.
    """
    fold = reference.of_samples(reference.fold_of, -1, np.int64)
    counted = (reference.side == DEV) & (fold >= 0) & _has_people(reference)
    able = [(title, one, *_cross_fitted(one)) for title, one in zip(titles, comparisons, strict=True) if one.decisions]
    able.sort(key=lambda row: -(row[1].row["at_threshold"]["kappa"]["value"] or -1.0))
    places = np.flatnonzero(counted)
    pairs = []
    if np.unique(fold[places]).size > 1:
        for (cheap, _, *cheap_said), (dear, _, *dear_said) in permutations(able[:MOST_JUDGES], 2):
            said = _two(reference, places, [column[places] for column in (*cheap_said, *dear_said)])
            pairs.append({"cheap": cheap, "dear": dear, "levels": _levels(said, fold[places])})
    return {"agreements": list(AGREEMENTS), "pairs": pairs}


def _levels(said: TwoJudges, fold: Ints) -> list[dict[str, Any]]:
    deciders = {agreement: np.full(fold.size, PEOPLE) for agreement in AGREEMENTS}
    for own in np.unique(fold):
        others, here = said.only(fold != own), said.only(fold == own)
        for agreement, decider in deciders.items():
            decider[fold == own] = cascade_at(others, 1 - agreement).decider(here)
    return [{"agreement": agreement, **_measured(said, decider)} for agreement, decider in deciders.items()]


def _measured(said: TwoJudges, decider: Ints) -> dict[str, Any]:
    decided = decider != PEOPLE
    disagreement = mean_share_bound(
        said.disagrees(decider)[decided], said.cluster[decided], np.ones(int(decided.sum())), CONFIDENCE,
        single=np.unique(said.cluster).size == said.cluster.size, name="disagreement", undefined=NOTHING_DECIDED,
    )  # fmt: skip
    return {"disagreement": disagreement.as_dict(), **_shares(decider)}


def _shares(decider: Ints) -> dict[str, float]:
    counts = np.bincount(decider, minlength=3) / max(decider.size, 1)
    return {name: float(counts[place]) for name, place in (("cheap", CHEAP), ("dear", DEAR), ("people", PEOPLE))}


def _has_people(reference: Reference) -> Bools:
    """Units that people settled, those that several labelled and have not, and those whose labels, made elsewhere, are
    split evenly."""
    return reference.positive.known | reference.share.known | (reference.left_out & ~reference.alone)


def _people(reference: Reference) -> Ints:
    return np.where(reference.positive.known, reference.positive.values_at, NO_ANSWER).astype(np.int64)


def _cross_fitted(one: Comparison) -> tuple[Ints, Floats]:
    """Of every unit of the reference the judge's pass (1), fail (0) or none, and how sure it is; none of them by a
    threshold that was chosen on it."""
    said, sure = _said(one.judged, one.row["at_threshold"]["threshold"])
    if one.margins is not None:
        margin = one.margins.column
        said[one.margins.places], sure[one.margins.places] = margin >= 0, np.abs(margin)
    return said, sure


def _said(judged: Judged, threshold: float | None) -> tuple[Ints, Floats]:
    """Of every unit of the reference the judge's pass (1), fail (0) or none, and how sure it is of that: how far the
    score is from the threshold, or a label's confidence. A judge that has no confidences is as sure of each label; of
    one that has, a label without never decides."""
    size = len(judged.reference.units)
    said, sure = np.full(size, NO_ANSWER, dtype=np.int64), np.full(size, np.nan)
    if judged.answers_labels:
        passing = judged.passing
        if judged.said.confidence:
            confidence = ByUnit.of(judged.reference.units, judged.said.confidence, np.float64)
            sure[passing.places] = np.where(confidence.known, confidence.values_at, -np.inf)[passing.places]
        else:
            sure[passing.places] = 0.0
        said[passing.places] = passing.column
    elif threshold is not None:
        places, scores = judged.scores.places, judged.scores.column
        said[places] = decide(scores, threshold, judged.said.higher_is_better)
        sure[places] = np.abs(scores - threshold)
    return said, sure


def _two(reference: Reference, places: Ints, columns: Sequence[Any], cluster: Ints | None = None) -> TwoJudges:
    group = reference.group[places] if cluster is None else cluster
    cheap, cheap_sure, dear, dear_sure = columns
    return TwoJudges.of(cheap, cheap_sure, dear, dear_sure, _people(reference)[places], group)


@dataclass(frozen=True, eq=False, slots=True)
class CascadesLooked:
    """row: the figures as plain JSON; where there is nothing to see only its ``reason``. dev: the samples that the
    thresholds and the family were fitted on. test: those that were looked at. chances: how each of these was drawn."""

    row: dict[str, Any]
    dev: list[str]
    test: list[str]
    chances: dict[str, Chance]


def cascades_looked(cheap: Judged, dear: Judged, level: float) -> CascadesLooked:
    """What two judges of one reference may decide one after the other, by the test part, for each share of agreement.

    ``level``: the confidence that the look is worth (``level_of_look``), which the shares divide. Thresholds are the
    best on all of dev, and the family of cascades is fixed there. As a look at one judge it rests on drawn units alone,
    each with its chance, and one sample stands for a group of which only a part was drawn.

    row: {"reason": None, "confidence", "judges": [{"threshold", "coverage", "by_confidence"} of the cheap one, of the
    dear one], "drawn_by", "dev": how many units, "units", "groups", "unsettled": of test, "family": [[cheap, dear] in
    the order tried], "certified": of each share {"agreement", "confidence", "tried", "reason", "step"}}; a step is None
    or {"cheap", "dear" (from which sureness on each decides, None: nowhere), "disagreement", "of_settled", "shares":
    {"cheap", "dear", "people"}}.
    """
    reference = cheap.reference
    sides = {side: np.flatnonzero((reference.side == side) & _has_people(reference)) for side in (DEV, TEST)}
    reason = cheap.refusal() or dear.refusal()
    reason = reason or next((why for one in (cheap, dear) if (why := _unfit(one)) is not None), None)
    if reason is not None or not reference.evidence.chances:
        return CascadesLooked({"reason": reason or NO_KNOWN_CHANCE}, [], [], {})
    known = {side: _drawn(reference, places) for side, places in sides.items()}
    test, least_scored = known[TEST], reference.evidence.endpoint.coverage
    coverage = [_coverage(one, test) for one in (cheap, dear)]
    if not test.units or not known[DEV].units:
        return CascadesLooked({"reason": remark("none_drawn_on_test", n=sides[TEST].size)}, [], [], {})
    for one, asked in zip((cheap, dear), coverage, strict=True):
        if asked < least_scored:
            why = remark("cascade_unscored", judge=one.said.judge, n=round(asked * len(test.units)), of=len(test.units))
            return CascadesLooked({"reason": why}, [], [], {})
    thresholds = [None if one.answers_labels else one.sweep(one.dev).best_threshold for one in (cheap, dear)]
    columns = [column for one, at in zip((cheap, dear), thresholds, strict=True) for column in _said(one, at)]
    least = min(one.probability for one in reference.evidence.chances.values())
    two = {
        side: _two(reference, of.places, [column[of.places] for column in columns], of.cluster)
        for side, of in known.items()
    }
    family = cascade_family(
        two[DEV], np.unique(test.cluster).size, probability=known[DEV].probability, least=least, confidence=level
    )
    certified = (
        certified_cascades(two[TEST], family, probability=test.probability, least=least, confidence=level)
        if family
        else [CertifiedCascade(share, level, None, 0, NOTHING_DECIDED) for share in AGREEMENTS]
    )
    row = {
        "reason": None,
        "confidence": level,
        "judges": [
            {
                "threshold": threshold,
                "coverage": asked,
                "by_confidence": threshold is None and bool(one.said.confidence),
            }
            for one, threshold, asked in zip((cheap, dear), thresholds, coverage, strict=True)
        ],
        "drawn_by": [source._asdict() for source in reference.evidence.drawn_by],
        "dev": len(known[DEV].units),
        "units": len(test.units),
        "groups": int(np.unique(test.cluster).size),
        "unsettled": int((two[TEST].people == NO_ANSWER).sum()),
        "family": [_cuts(step) for step in family],
        "certified": [_certified(one) for one in certified],
    }
    looked = sorted({sample for sample, _ in test.units})
    chances = {sample: reference.evidence.chances[sample] for sample in looked}
    return CascadesLooked(row, sorted({sample for sample, _ in known[DEV].units}), looked, chances)


def _unfit(judged: Judged) -> Remark | None:
    if judged.answers_labels:
        return None if judged.dev else remark("no_score_in_part", part="dev")
    return judged.one_class(judged.dev, "dev")


def _drawn(reference: Reference, places: Ints) -> Drawn:
    return drawn(reference, whole_or_by_lot(reference.evidence, reference.units.at(places)))


def _coverage(judged: Judged, known: Drawn) -> float:
    """Of these units the share that the judge was asked about: what it then has no score of goes to people at work,
    too, and what it was not asked about may be what is hard."""
    asked = set(judged.said.asked)
    return sum(unit in asked for unit in known.units) / max(len(known.units), 1)


def _certified(one: CertifiedCascade) -> dict[str, Any]:
    step = None
    if one.step is not None:
        cheap, dear, people = one.step.shares
        step = {
            **dict(zip(("cheap", "dear"), _cuts(one.step.cascade), strict=True)),
            "disagreement": one.step.disagreement.as_dict(),
            "of_settled": one.step.of_settled.as_dict(),
            "shares": {"cheap": cheap, "dear": dear, "people": people},
        }
    return {
        "agreement": one.agreement,
        "confidence": one.confidence,
        "tried": one.tried,
        "reason": one.reason,
        "step": step,
    }


def _cuts(cascade: Cascade) -> list[float | None]:
    """From which sureness on each decides; None: nowhere."""
    return [float(at) if np.isfinite(at) else None for at in (cascade.cheap, cascade.dear)]
