"""What share of all units that a judge scored people would pass, from the labels there are and the judge's scores."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any

import numpy as np

from alignment.arrays import Floats
from alignment.estimate import Estimate
from alignment.figures.evidence import Value
from alignment.figures.judged import Judged
from alignment.ppi import ppi_mean

ALL_LABELLED = "every scored unit has a label: nothing to carry over"


def population_figures(judged: Judged) -> dict[str, Any]:
    """The labelled units' mean alone (classical), PPI++ (tuned, with its weight) and PPI with weight 1, as plain JSON.

    Of all scored units, dev and test alike: no threshold is chosen, so nothing of the test half is given away. Numbers
    count as they are, turned round where lower is better; labels as pass (1) and fail (0). Clusters are samples.

    ``ties``: scored units whose labels are split in half, which are in neither part. ``drawn``: the planner drew some
    of the labelled samples, so these are no even part of all.

    Where every scored unit has a label, classical is there nevertheless, and ``reason`` says why the others are not.
    """
    said = judged.said.labels if judged.answers_labels else judged.said.numbers
    labelled = [(unit, said[unit]) for unit in judged.decided]
    others = [row for row in said.items() if row[0] not in judged.scores]
    reason = judged.refusal() or (None if others else ALL_LABELLED)
    score, units = _numbers(judged, [value for _, value in chain(labelled, others)]), len(labelled)
    samples = [unit[0] for unit, _ in chain(labelled, others)]
    number = dict(zip(dict.fromkeys(samples), count(), strict=False))
    cluster = np.fromiter(map(number.__getitem__, samples), np.int64, len(samples))
    found = ppi_mean(
        [float(judged.reference.positive[unit]) for unit in judged.decided],
        score[:units],
        cluster[:units],
        score[units:],
        cluster[units:],
        interval="influence",
    )
    # Samples are numbered as they come, those with labelled units first.
    known, chances = found.classical.clusters, judged.reference.evidence.chances.items()
    return {
        "reason": reason,
        "labelled": {"units": units, "samples": known},
        "unlabelled": {"units": len(others), "samples": int(np.count_nonzero(np.bincount(cluster[units:])))},
        "ties": len(judged.scores) - units if judged.reference.passing is not None else 0,
        "drawn": any(chance.stratum and number.get(sample, known) < known for sample, chance in chances),
        "classical": _because(reason, found.classical),
        "tuned": _because(reason, found.tuned),
        "plain": _because(reason, found.plain),
        "weight": found.weight,
    }


def _numbers(judged: Judged, values: Sequence[Value]) -> Floats:
    """Higher is better in all of them: the weight is never below 0."""
    if judged.answers_labels:
        passes = judged.criterion.passes
        return np.array([value in passes for value in values], dtype=np.float64)
    numbers = np.array(values, dtype=np.float64)
    return numbers if judged.said.higher_is_better else -numbers


def _because(reason: str | None, found: Estimate) -> dict[str, Any]:
    """With the report's own words where there is no value."""
    return (found if found.value is not None else replace(found, reason=reason)).as_dict()
