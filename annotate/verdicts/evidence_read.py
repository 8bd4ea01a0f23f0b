"""People's side of a criterion's evidence, as the alignment module reads it, and how well they agree by it."""

from __future__ import annotations

from typing import Any, cast

import alignment
from annotate.batches.draws_read import chances_of
from annotate.core.blindness import SYSTEM, Reader
from annotate.models import Criterion
from annotate.samples.read import metadata_of, unit_counts
from annotate.verdicts.ratings_read import labels_before, rating_columns, verdict_values


def evidence_of(criterion: Criterion, *, reader: Reader) -> alignment.report.Evidence:
    """What people said: labels that count, and verdicts that hold. Judges and the split are for those who have them."""
    columns = rating_columns(criterion, reader=reader)
    verdicts = verdict_values(criterion, reader=reader)
    samples = {sample for sample, _ in (*columns.units, *verdicts)}
    return alignment.report.Evidence(
        criterion=asked(criterion),
        seed=criterion.project.seed,
        units=columns.units,
        raters=columns.raters,
        values=columns.values,
        verdicts=verdicts,
        days=columns.days,
        seconds=columns.seconds,
        before=[alignment.report.Before(*row) for row in labels_before(criterion, reader=reader)],
        metadata=metadata_of(criterion.project, samples),
        chances={name: alignment.report.Chance(*chance) for name, chance in chances_of(criterion).items()},
        sizes=unit_counts(criterion, samples),
    )


def asked(criterion: Criterion) -> alignment.report.Criterion:
    """What was asked, without Django."""
    return alignment.report.Criterion(
        key=criterion.key,
        version=criterion.version,
        name=criterion.name,
        unit=criterion.unit,
        scale=cast("alignment.Scale", criterion.scale),
        prompt=criterion.prompt,
        options=tuple(
            alignment.report.Option(option["value"], option.get("label") or str(option["value"]))
            for option in criterion.options
        ),
        passes=tuple(criterion.passes),
    )


def agreement(criterion: Criterion) -> dict[str, Any]:
    """Every agreement statistic of the criterion as plain JSON (docs/statistics.md)."""
    figures = alignment.report.agreement_figures(
        criterion.key, evidence_of(criterion, reader=SYSTEM).ratings(), criterion.project.seed
    )
    return {**figures, "version": criterion.version}
