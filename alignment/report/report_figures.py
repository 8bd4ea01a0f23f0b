"""All figures of a report on one criterion, and whether two results say the same."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from alignment.agreement.summary import paradox_note, prevalence
from alignment.base.estimate import Estimate
from alignment.judging.threshold import Sweep
from alignment.report.agreement import agreement_at_a_glance, kappa_matrix, people_among_themselves
from alignment.report.annotators import annotator_figures
from alignment.report.calibration import grade_figures, probability_figures
from alignment.report.cascades import cascade_figures
from alignment.report.caveats import caveat_of_auc, caveat_of_judge, caveat_of_people, learned_remark
from alignment.report.compared import compared_figures
from alignment.report.comparison import Comparison, compare, furthest, reference_figures, score_histogram
from alignment.report.confidence import confidence_figures
from alignment.report.endpoint import decision_on_dev
from alignment.report.evidence import Evidence
from alignment.report.judged import judge_titles
from alignment.report.passing import passing_figures
from alignment.report.people import beside_people, judge_behind_noise
from alignment.report.per_sample import per_sample_figures
from alignment.report.planned import drawn_figures, planning_figures, population_figures
from alignment.report.reference import Reference, reference_of
from alignment.report.slices import Labelled, judge_slices, judge_weeks, labelled_units
from alignment.report.too_fast import too_fast_figures
from alignment.report.triaged import triage_figures
from alignment.report.values import judge_steadiness, judge_values

_SWEEP_POINTS = 200
_PARADOX = ("cohen_kappa_mean", "percent_agreement", "gwet_ac1")


def report_figures(evidence: Evidence) -> dict[str, Any]:
    """The result of a report as plain JSON. Needs ``is_dev`` of every sample with a reference."""
    reference = reference_of(evidence)
    comparisons = [compare(reference, judge) for judge in evidence.judges]
    labelled = labelled_units(reference)
    titles = judge_titles([one.row for one in comparisons])
    # Judges are no raters of the people's own figures, and the matrix holds the pairs that a page can show.
    among_people = agreement_at_a_glance(evidence.criterion.key, reference.ratings)
    people = people_among_themselves(reference.base)
    criterion = evidence.criterion
    return {
        "criterion": {
            **{name: getattr(criterion, name) for name in ("key", "name", "version", "unit", "scale", "prompt")},
            "passes": list(criterion.passes),
        },
        "agreement": among_people,
        "agreement_caveat": caveat_of_people(reference),
        "agreement_note": paradox_note(*(Estimate(**among_people["estimates"][name]) for name in _PARADOX)),
        "prevalence": _shares(reference),
        "reference": reference_figures(reference),
        "passing": passing_figures(reference),
        "people": people.as_dict(),
        "matrix": kappa_matrix(reference, comparisons, titles),
        "annotators": annotator_figures(reference),
        "too_fast": too_fast_figures(reference, comparisons, titles),
        "judges": [_judge(reference, title, one, labelled) for title, one in zip(titles, comparisons, strict=True)],
        "compared": compared_figures(reference, comparisons, titles),
        "cascades": cascade_figures(reference, comparisons, titles),
        "planning": planning_figures(reference, comparisons, titles, people),
        "drawn": drawn_figures(reference, comparisons, titles),
        "per_sample": per_sample_figures(reference, comparisons, titles),
    }


def _judge(reference: Reference, title: str, one: Comparison, labelled: Labelled) -> dict[str, Any]:
    # The kappa a judge is known by: on pass and fail, or on the labels where the criterion has no passes.
    by_labels = reference.passing is None and one.row["labels"] is not None
    kappa = one.row["labels" if by_labels else "at_threshold"]["kappa"]
    people, caveat = beside_people(reference, one), caveat_of_judge(one.judged)
    confidence = confidence_figures(one)
    return {
        "title": title,
        **one.row,
        "kappa": kappa,
        **decision_on_dev(one, Estimate(**people["difference"]), caveat),
        "note": one.note,
        "caveat": caveat,
        "learned": learned_remark(one.said.learned),
        "roc_auc_caveat": caveat_of_auc(one.judged),
        "sweep": None if one.curve is None else _curve(one.curve),
        "histogram": score_histogram(one.judged),
        "calibration": probability_figures(one.judged),
        "grades": grade_figures(one.judged),
        # Left out where it has none: reports of before are what they were.
        **({} if confidence is None else {"confidence": confidence}),
        "population": population_figures(one.judged),
        "people": people,
        "values": judge_values(reference, one),
        "slices": judge_slices(reference, one),
        "weeks": judge_weeks(reference, one, labelled),
        "steadiness": judge_steadiness(reference, one),
        "noise": judge_behind_noise(reference, one),
        "triage": triage_figures(reference, one),
        "disagreements": [
            {
                "sample": row.unit[0],
                "unit": row.unit[1],
                "human": row.human,
                "passes": reference.positive.get(row.unit),
                "judge_passes": one.decisions.get(row.unit),
                "score": one.said.numbers.get(row.unit),
                "label": one.labels.get(row.unit),
                "distance": row.distance,
            }
            for row in furthest(reference, one)
        ],
    }


def _shares(reference: Reference) -> list[dict[str, Any]]:
    criterion = reference.evidence.criterion
    titles = {option.value: option.label for option in criterion.options}
    return [
        {
            "value": row.level,
            "label": titles[row.level],  # type: ignore[index]  # levels are the options' values
            "passes": row.level in criterion.passes,
            "share": row.share,
            "count": row.count,
        }
        for row in prevalence(reference.ratings)
    ]


def _curve(curve: Sweep) -> dict[str, Sequence[float | None] | float | None]:
    """At most 200 of the `observed` thresholds, evenly among them, the best one always with them.

    With tp, fp and how many units people pass and fail the confusion matrix at each is known.
    """
    size = curve.thresholds.size
    kept = set(np.linspace(0, size - 1, min(size, _SWEEP_POINTS - 1)).round().astype(int).tolist())
    if curve.best_index is not None:
        kept.add(curve.best_index)
    places = sorted(kept)
    shown = {
        name: [float(value) if np.isfinite(value) else None for value in getattr(curve, name)[places]]
        for name in ("thresholds", "kappa", "tpr", "tnr")
    }
    return {
        **shown,
        "tp": curve.tp[places].tolist(),
        "fp": curve.fp[places].tolist(),
        "positives": int(curve.tp[0] + curve.fn[0]),
        "negatives": int(curve.fp[0] + curve.tn[0]),
        "observed": size,
        "best": curve.best_threshold,
    }


# Other builds of the same numerical libraries may round the last digits another way.
TOLERANCE = 1e-9


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Each figure that is not the same in both plain JSON values, as a line `path: this and that`.

    Numbers are the same when they differ by at most 1e-9 of the greater; everything else when it is equal.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from differences(one.get(key), other.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{path}[{place}]")
    elif _is_number(one) and _is_number(other):
        if abs(one - other) > TOLERANCE * max(1.0, abs(one), abs(other)):
            yield f"{path}: {one!r} and {other!r}"
    elif one != other or isinstance(one, bool) is not isinstance(other, bool):
        yield f"{path}: {one!r} and {other!r}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
