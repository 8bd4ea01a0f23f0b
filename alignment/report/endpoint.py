"""The declared endpoint of a judge on one side of the samples, and what it may do by it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alignment.base.arrays import Bools
from alignment.base.coded import array_of, kept
from alignment.base.estimate import Estimate, Remark
from alignment.judging.decision import Beside, Decision, Part, decision_on
from alignment.judging.weighted import Design, weighted_at_threshold, weighted_mean
from alignment.report.comparison import Comparison
from alignment.report.decisions import LEVEL
from alignment.report.drawn import NO_KNOWN_CHANCE, Drawn, counted, drawn, settled_on
from alignment.report.evidence import Evidence
from alignment.report.people import ceiling_difference
from alignment.report.planned import share_of
from alignment.report.units import ByUnit, UnitKey, Units


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """What a judge shows on a side. figure: the endpoint, with what the judge did not score counted as wrong. coverage:
    the share of the drawn settled units that it scored, at 95 %. drawn: the units that both are of. row: endpoint,
    figure, coverage and how many units are drawn, as plain JSON; and ``if_right``: what the figure would be had the
    judge been right on all that it did not score, None where it scored all."""

    figure: Estimate
    coverage: Estimate
    drawn: Drawn
    row: dict[str, Any]


def shown_on(one: Comparison, decisions: ByUnit[bool], *, is_dev: bool, level: float = LEVEL) -> Shown:
    """``decisions``: pass or fail by the judge of the units of the side that it scored. ``level``: of the endpoint."""
    reference = one.judged.reference
    evidence = reference.evidence
    settled: Sequence[UnitKey] = settled_on(reference, is_dev=is_dev)
    if one.said.closed:
        settled = kept(settled, [sample not in one.said.closed for sample, _ in settled])
    counts = counted(reference, settled)
    known, if_right = drawn(reference, settled), None
    if not counts["units"]:
        figure = coverage = Estimate.undefined(NO_KNOWN_CHANCE, level=level)
    else:
        scored = decisions.known[known.places]
        passed = reference.positive.values_at[known.places]
        decided = np.where(scored, decisions.values_at[known.places], ~passed)
        figure = _figure(one, decided, known, level)
        coverage = weighted_mean(scored, *known.design, bounds=(0.0, 1.0))
        if not scored.all():
            if_right = _figure(one, np.where(scored, decided, passed), known, level).value
    endpoint = evidence.endpoint.as_dict()
    row = {
        "endpoint": endpoint,
        "figure": figure.as_dict(),
        "if_right": if_right,
        "coverage": coverage.as_dict(),
        "drawn": counts,
    }
    return Shown(figure, coverage, known, row)


def _figure(one: Comparison, decided: Bools, known: Drawn, level: float) -> Estimate:
    """decided: pass or fail of each of the known units."""
    reference = one.judged.reference
    if reference.evidence.endpoint.name == "kappa_less_people":
        weights = ByUnit.at(reference.units, known.places, 1 / known.probability)
        decisions = ByUnit.at(reference.units, known.places, decided)
        return ceiling_difference(reference, replace(one, decisions=decisions, open_decisions=None), level, weights)
    passed = reference.positive.values_at[known.places]
    cluster, probability, stratum = known.design
    return weighted_at_threshold(
        decided.astype(np.float64), passed, cluster, 0.5, probability, stratum, level=level
    ).kappa


def decide(
    one: Comparison,
    shown: Shown,
    beside: Beside,
    *,
    part: Part,
    region: Estimate | None = None,
    next_level: float | None = None,
    seconds: float | None = None,
) -> Decision:
    """``region``, ``next_level`` and ``seconds`` as in ``decision_on``."""
    reference = one.judged.reference
    return decision_on(
        reference.evidence.endpoint,
        shown.figure,
        shown.coverage,
        region=region,
        beside=beside,
        part=part,
        alike=Design.of(*shown.drawn.design).alike,
        next_level=next_level,
        share=share_of(reference, dev=part == "dev"),
        seconds=seconds,
    )


def decision_on_dev(one: Comparison, less_people: Estimate, caveat: Remark | None) -> dict[str, Any]:
    """What the judge would come to by the dev part, day to day: {"decision", "drawn"} as plain JSON.

    ``less_people``: its kappa less a person's. Undefined where its decisions are: without pass and fail nothing is
    decided, and there are no sides.
    """
    judged, row = one.judged, one.row["at_threshold"]
    evidence = judged.reference.evidence
    shown = shown_on(one, one.decisions, is_dev=True)
    if row["reason"] is not None:
        shown = replace(shown, figure=Estimate.undefined(row["reason"]), coverage=Estimate.undefined(row["reason"]))
    beside = Beside(
        kappa=Estimate(**row["kappa"]),
        less_people=less_people,
        auc=None if row["reason"] is not None else judged.roc_auc(judged.dev),
        open_units=open_on(evidence, is_dev=True),
        caveat=caveat,
    )
    decision = decide(one, shown, beside, part="dev", seconds=seconds_of_sample(evidence))
    return {"decision": decision.as_dict(), "drawn": shown.row["drawn"]}


def open_on(evidence: Evidence, *, is_dev: bool) -> int:
    """How many labelled units of a side people are not done with."""
    sides = evidence.is_dev
    return sum(why == "open" and sides.get(unit[0]) is is_dev for unit, why in evidence.unsettled.items())


def seconds_of_sample(evidence: Evidence) -> float | None:
    """People's time for the labels of a sample, by the median of the choices that were timed; None where none was."""
    seconds = array_of(evidence.seconds, lambda gap: np.nan if gap is None else gap, np.float64)
    timed = seconds[~np.isnan(seconds)]
    if not timed.size:
        return None
    return float(np.median(timed)) * len(evidence.units) / len(Units.of(evidence.units).samples)
