"""Frozen reports: everything worked out once, stored, and never changed afterwards."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import scipy
from django.core.cache import cache
from django.db import transaction
from django.db.models import Max

from alignment import Estimate, Sweep, paradox_note, prevalence
from annotate.models import Criterion, Project, User
from annotate.selectors.agreement import agreement
from judges.judge_table import judge_titles
from judges.models import AlignmentReport
from judges.plots.forest import ForestRow, forest_plot
from judges.plots.sweep import sweep_plot
from judges.selectors.alignment import Comparison, compare, reference_as_dict
from judges.selectors.disagreements import most_disagreed
from judges.selectors.matrix import kappa_matrix, people_among_themselves
from judges.selectors.reference import Reference, reference_of
from judges.selectors.reports import FIGURES_VERSION, data_version, pending_key
from judges.selectors.scores import series_for
from judges.services.fingerprint import fingerprint_of
from judges.services.split import DEV_SHARE

_SWEEP_POINTS = 200
LEVEL = 0.95


def freeze_report(*, criterion: Criterion, user: User | None = None) -> AlignmentReport:
    """The report on the data as they are now; the one that exists when nothing it rests on has changed since.

    Two at the same time make one report: the unique fingerprint decides under the project's lock.
    """
    try:
        report = build_report(criterion=criterion)
        with transaction.atomic():
            Project.objects.select_for_update().get(pk=criterion.project_id)
            same = AlignmentReport.objects.filter(criterion=criterion, fingerprint=report.fingerprint).first()
            if same is not None:
                # The figures are frozen; that they are up to date again is not one of them.
                same.parameters = {**same.parameters, "data_version": report.parameters["data_version"]}
                same.save(update_fields=["parameters"])
                return same
            last = AlignmentReport.objects.filter(project_id=criterion.project_id).aggregate(last=Max("number"))["last"]
            report.number = (last or 0) + 1
            report.created_by = user
            report.save(force_insert=True)
        return report
    finally:
        cache.delete(pending_key(criterion.pk))


def build_report(*, criterion: Criterion, judge_name: str | None = None) -> AlignmentReport:
    """A report that is not stored. Raises Invalid for a judge that the project doesn't have."""
    # Read before the data: what changes while we read makes the report out of date, never wrongly up to date.
    version = data_version(criterion)
    series = series_for(criterion, judge_name)
    reference = reference_of(criterion)
    parameters = _parameters(criterion)
    comparisons = [compare(criterion, reference, one) for one in series]
    result = _result(criterion, reference, comparisons)
    return AlignmentReport(
        project=criterion.project,
        criterion=criterion,
        number=0,
        fingerprint=fingerprint_of(criterion, reference, series, parameters),
        parameters={**parameters, "data_version": version},
        result=result,
        plots=_plots(result),
    )


def _parameters(criterion: Criterion) -> dict[str, Any]:
    return {
        "seed": criterion.project.seed,
        "level": LEVEL,
        "dev_share": DEV_SHARE,
        "figures": FIGURES_VERSION,
        "libraries": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "matplotlib": mpl.__version__,
        },
    }


def _result(criterion: Criterion, reference: Reference, comparisons: Sequence[Comparison]) -> dict[str, Any]:
    titles = judge_titles([one.row for one in comparisons])
    among_people = agreement(criterion, reference.ratings)
    # Judges are no raters of the people's own figures, and the matrix holds the pairs that a page can show.
    del among_people["pairs"]
    lists = most_disagreed(criterion, reference, comparisons)
    return {
        "project": {"slug": criterion.project.slug, "name": criterion.project.name},
        "criterion": {
            "key": criterion.key,
            "name": criterion.name,
            "version": criterion.version,
            "unit": criterion.unit,
            "scale": criterion.scale,
            "prompt": criterion.prompt,
            "passes": criterion.passes,
        },
        "agreement": among_people,
        "agreement_note": _paradox(among_people["estimates"]),
        "prevalence": _shares(criterion, reference),
        "reference": reference_as_dict(reference),
        "people": people_among_themselves(criterion, reference).as_dict(),
        "matrix": kappa_matrix(criterion, reference, comparisons, titles),
        "judges": [
            {
                "title": title,
                **one.row,
                "kappa": _headline(one, reference),
                "note": one.note,
                "sweep": None if one.curve is None else _curve(one.curve),
                "disagreements": disagreements,
            }
            for title, one, disagreements in zip(titles, comparisons, lists, strict=True)
        ],
    }


def _headline(one: Comparison, reference: Reference) -> dict[str, Any]:
    """The kappa a judge is known by: on pass and fail, or on the labels where the criterion has no passes."""
    if reference.passing is None and one.row["labels"] is not None:
        return one.row["labels"]["kappa"]
    return one.row["at_threshold"]["kappa"]


def _paradox(estimates: dict[str, dict[str, Any]]) -> str | None:
    kappa, percent, ac1 = (
        Estimate(**estimates[name]) for name in ("cohen_kappa_mean", "percent_agreement", "gwet_ac1")
    )
    return paradox_note(kappa, percent, ac1)


def _shares(criterion: Criterion, reference: Reference) -> list[dict[str, Any]]:
    titles = {option["value"]: option.get("label") or str(option["value"]) for option in criterion.options}
    return [
        {
            "value": row.level,
            "label": titles[row.level],
            "passes": row.level in criterion.passes,
            "share": row.share,
            "count": row.count,
        }
        for row in prevalence(reference.ratings)
    ]


def _curve(curve: Sweep) -> dict[str, list[float | None]]:
    """At most 200 thresholds, evenly among them, the best one always with them."""
    size = curve.thresholds.size
    kept = set(np.linspace(0, size - 1, min(size, _SWEEP_POINTS - 1)).round().astype(int).tolist())
    if curve.best_index is not None:
        kept.add(curve.best_index)
    places = sorted(kept)
    return {
        name: [float(value) if np.isfinite(value) else None for value in getattr(curve, name)[places]]
        for name in ("thresholds", "kappa", "tpr", "tnr")
    }


def _plots(result: dict[str, Any]) -> dict[str, str]:
    judges = result["judges"]
    if not judges:
        return {}
    rows = [ForestRow(row["title"], row["kappa"]) for row in judges]
    plots = {"forest": forest_plot("forest", rows, result["people"])}
    for place, row in enumerate(judges, start=1):
        best = row["sweep_best"]["threshold"]
        # A judge that answers with labels has nothing to choose.
        if row["sweep"] is not None and best is not None and row["labels"] is None:
            name = f"sweep-{place}"
            plots[name] = sweep_plot(name, row["title"], row["sweep"], row["at_threshold"]["threshold"], best)
    return plots
