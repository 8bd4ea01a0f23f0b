"""What a look at the test part shows: what the judge may do, and everything that was fitted on dev, measured where
nothing was chosen.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alignment.base.arrays import cluster_rows
from alignment.base.estimate import Estimate, remark
from alignment.base.tables import FN, FP, TN, TP
from alignment.calibration.fit import NotFitted
from alignment.calibration.reliability import equal_mass_bins
from alignment.judging.decision import Beside, Decision
from alignment.judging.looks import level_of_look
from alignment.judging.weighted import weighted_at_threshold, weighted_grades, weighted_mean, weighted_roc_auc
from alignment.report.calibration import bins_for, chosen_calibrator, cutpoint_calibrator
from alignment.report.caveats import caveat_of
from alignment.report.comparison import Comparison
from alignment.report.decisions import Decided, on_test
from alignment.report.drawn import Drawn, drawn, settled_on
from alignment.report.endpoint import decide, open_on, shown_on
from alignment.report.evidence import Chance
from alignment.report.judged import Judged
from alignment.report.lots import whole_or_by_lot
from alignment.report.people import ceiling_difference
from alignment.report.triaged import no_region, region_on_test
from alignment.report.units import ByUnit

AFTER_ENDPOINT = remark("region_after_endpoint")
_CALIBRATED = ("kappa", "brier")
#: The cell of a confusion matrix, by people's verdict and the judge's.
_CELL = {(False, False): TN, (False, True): FP, (True, False): FN, (True, True): TP}


@dataclass(frozen=True, eq=False, slots=True)
class Looked:
    """row: the figures as plain JSON. dev: the samples that threshold and calibrators were fitted on. test: of each
    drawn sample that was looked at, its units by people and judge: [tn, fp, fn, tp]. chances: how each of these samples
    was drawn, empty where nobody knows of any."""

    row: dict[str, Any]
    dev: list[str]
    test: dict[str, list[int]]
    chances: dict[str, Chance]


def looked(judged: Judged, look: int, *, seconds: float | None = None) -> Looked:
    """What the judge may do, by the test part; and threshold, calibrator, cut-points and certified region.

    ``look``: its number, from 1. The endpoint, and the region, which is tried when the endpoint has passed, have the
    level that it leaves (``level_of_look``); every other interval is at 95 %, by itself. ``seconds``: people's time for
    a labelled sample. When there is nothing to see, the row's ``reason`` says why, and it holds no more than that of
    ``on_test``.
    """
    level = level_of_look(look)
    decided = on_test(judged)
    if decided.row["reason"] is not None:
        return Looked(decided.row, [], {}, {})
    one = Comparison(
        judged=judged,
        said=judged.said,
        row={"at_threshold": decided.row},
        scores=judged.scores,
        labels=judged.labels,
        decisions=decided.decisions,
    )
    evidence, threshold = judged.reference.evidence, decided.row["threshold"]
    shown = shown_on(one, decided.decisions, is_dev=False, level=level)
    known = drawn(judged.reference, decided.decisions)
    scores, passes, _ = judged.columns(known.units)
    auc = weighted_roc_auc(scores, passes, *known.design, higher_is_better=judged.said.higher_is_better)
    calibrated = _calibrated(judged, known)
    weights = ByUnit.at(judged.reference.units, shown.drawn.places, 1 / shown.drawn.probability)
    ceiling = ceiling_difference(judged.reference, one, weights=weights)
    beside = Beside(
        kappa=Estimate(**decided.row["kappa"]),
        calibrated=None if calibrated["calibrator"] is None else Estimate(**calibrated["kappa"]),
        less_people=ceiling,
        auc=auc,
        open_units=open_on(evidence, is_dev=False),
        caveat=caveat_of(judged, list(decided.decisions)),
    )

    def may(region: Estimate | None) -> Decision:
        next_level = level_of_look(look + 1)
        return decide(one, shown, beside, part="test", region=region, next_level=next_level, seconds=seconds)

    decision, risk = may(None), evidence.endpoint.risk
    if decision.verdict == "with_a_person" or threshold is None:
        region = region_on_test(judged, threshold, level, risk)
        decision = may(Estimate(**region["inside"]))
    else:
        region = no_region(threshold, level, risk, AFTER_ENDPOINT)
    row = {
        **decided.row,
        **shown.row,
        "drawn_by": [source._asdict() for source in evidence.drawn_by],
        "decision": decision.as_dict(),
        "answers": _answers(judged),
        "roc_auc": auc.as_dict(),
        "error": _error(judged, decided).as_dict(),
        "calibrated": calibrated,
        "cutpoints": _cutpoints(judged, known),
        "region": region,
        "ceiling": ceiling.as_dict(),
    }
    cells: dict[str, list[int]] = {}
    for unit, said in decided.decisions.items():
        cells.setdefault(unit[0], [0, 0, 0, 0])[_CELL[judged.reference.positive[unit], said]] += 1
    chances = {sample: evidence.chances[sample] for sample in cells if evidence.chances}
    return Looked(row, sorted({sample for sample, _ in judged.dev}), cells, chances)


def _answers(judged: Judged) -> list[dict[str, Any]] | None:
    """How a judge's labels are read: as which score, and whether they pass; None for a judge that gives scores."""
    if not judged.answers_labels:
        return None
    return [
        {"value": value, "score": judged.score_of(value), "passes": value in judged.criterion.passes}
        for value in judged.criterion.levels
    ]


def _error(judged: Judged, decided: Decided) -> Estimate:
    """Share of a group's decisions that are wrong, averaged over groups: what a drift watch holds audits against. As
    there, what the judge was asked about and did not score is decided wrongly."""
    reference, positive = judged.reference, judged.reference.positive
    asked = judged.said.asked
    counted = [unit for unit in settled_on(reference, is_dev=False) if unit in asked]
    known = drawn(reference, whole_or_by_lot(reference.evidence, counted))
    said = decided.decisions
    wrong = (~said.known | (said.values_at != positive.values_at))[known.places].astype(np.float64)
    row, first = cluster_rows(known.cluster)[0], np.unique(known.cluster, return_index=True)[1]
    shares = np.bincount(row, wrong) / np.bincount(row)
    probability, stratum = (np.array(column)[first] for column in known.design[1:])
    found = weighted_mean(shares, np.arange(first.size), probability, stratum, bounds=(0.0, 1.0))
    return replace(found, n=len(known.units))


def _calibrated(judged: Judged, known: Drawn) -> dict[str, Any]:
    """The calibrator that dev chose, and what its probabilities and verdicts are worth on test."""
    fitted = chosen_calibrator(judged)
    if isinstance(fitted, NotFitted):
        undefined = dict.fromkeys(_CALIBRATED, Estimate.undefined(fitted.reason).as_dict())
        return {"calibrator": None, **undefined, "points": [], "reason": fitted.reason}
    scores, passes, _ = judged.columns(known.units)
    verdict, likely = fitted.verdict(scores), fitted.probability(scores)
    assert likely is not None
    kappa = weighted_at_threshold(
        verdict.astype(float), passes, known.cluster, 0.5, known.probability, known.stratum
    ).kappa
    brier = weighted_mean((likely - passes) ** 2, *known.design, bounds=(0.0, 1.0))
    design = [np.array(column) for column in known.design]
    bin_of = equal_mass_bins(likely, bins_for(likely.size))
    points = []
    for number in np.unique(bin_of):
        here = bin_of == number
        observed = weighted_mean(passes[here], *(column[here] for column in design), bounds=(0.0, 1.0))
        points.append(
            {
                "lowest": float(likely[here].min()),
                "highest": float(likely[here].max()),
                "predicted": float(np.average(likely[here], weights=1 / design[1][here])),
                "observed": observed.as_dict(),
            }
        )
    return {
        "calibrator": fitted.as_dict(),
        "kappa": kappa.as_dict(),
        "brier": brier.as_dict(),
        "points": points,
        "reason": None,
    }


def _cutpoints(judged: Judged, known: Drawn) -> dict[str, Any]:
    """The judge's scores read as the criterion's levels, on the drawn test units with a level by people."""
    fitted = cutpoint_calibrator(judged)
    if isinstance(fitted, NotFitted):
        kappa = Estimate.undefined(fitted.reason).as_dict()
        return {"calibrator": None, "levels": None, "confusion": None, "kappa": kappa, "reason": fitted.reason}
    levels, labels = judged.criterion.levels, judged.reference.labels()
    place = {value: at for at, value in enumerate(levels)}
    graded = drawn(judged.reference, [unit for unit in known.units if unit in labels])
    human = np.array([place[label] for label in labels.values_at[graded.places].tolist()], dtype=np.int64)
    given = fitted.verdict(judged.scores.values_at[graded.places])
    cells = human * len(levels) + given
    return {
        "calibrator": fitted.as_dict(),
        "levels": levels,
        # Rows people, columns the judge.
        "confusion": np.bincount(cells, minlength=len(levels) ** 2).reshape(len(levels), -1).tolist(),
        "kappa": weighted_grades(given, human, len(levels), *graded.design).as_dict(),
        "reason": None,
    }
