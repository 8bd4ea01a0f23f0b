"""People's side of a criterion's evidence, as the alignment module reads it, and how well they agree by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import alignment
from annotate.batches.draws_read import drawn_samples
from annotate.core.blindness import Reader, annotator_numbers, may_know_names
from annotate.core.scales import Value
from annotate.labels.settled_read import unsettled_units, waiting_labels
from annotate.models import AuditEntry, Batch, Criterion, User
from annotate.models.project import UnitKind
from annotate.samples.read import abstentions, dropped_claims, metadata_of, unit_counts
from annotate.tasks.too_fast_read import too_fast_tasks
from annotate.verdicts.ratings_read import VerdictColumns, labels_before, verdict_columns

if TYPE_CHECKING:
    from alignment.report.units import ByUnit, Units
    from annotate.verdicts.rating_codes_read import RatingColumns


def evidence_of(criterion: Criterion, *, reader: Reader, settled_only: bool = True) -> alignment.report.Evidence:
    """What people said: labels that count, and verdicts that hold. Judges and the split are for those who have them.

    settled_only: what people said of units that are not settled yet (annotate.labels.settled_read) is no reference for
    judges.
    """
    import numpy as np

    from alignment.base.arrays import renumbered
    from alignment.base.coded import Coded
    from alignment.report.units import Units
    from annotate.verdicts.rating_codes_read import ELSEWHERE, rating_columns, seconds_of

    columns, verdicts = rating_columns(criterion, reader=reader), verdict_columns(criterion, reader=reader)
    samples = {*Units.of(columns.units).samples, *Units.of(verdicts.values).samples}
    seconds, drawn = seconds_of(criterion, columns.labels), drawn_samples(criterion, settled_only=settled_only)
    # Most have the same one.
    chance_of = cache(alignment.report.Chance)
    hurried = too_fast_tasks(set(renumbered(columns.tasks)[0].tolist()) - {ELSEWHERE})
    return replace(
        _of_people(criterion, columns, verdicts),
        settled_only=settled_only,
        declared=_declared(criterion, verdicts.declared),
        seconds=seconds,
        too_fast=Coded([False, True], np.isin(columns.tasks, list(hurried))),
        before=[
            alignment.report.Before(*row) for row in labels_before(criterion, columns.replaced.tolist(), reader=reader)
        ],
        metadata=metadata_of(criterion.project, samples),
        chances={name: chance_of(*chance) for name, chance in drawn.chances.items()},
        drawn_by=drawn.by,
        sizes=unit_counts(criterion, samples),
        dropped=dropped_claims(criterion, samples),
        abstained=abstentions(criterion.project) if criterion.unit == UnitKind.CLAIM else 0,
    )


def reference_evidence(criterion: Criterion, *, reader: Reader) -> alignment.report.Evidence:
    """Of `evidence_of` what people's agreement and the reference are worked out from, and no more."""
    from annotate.verdicts.rating_codes_read import rating_columns

    return _of_people(criterion, rating_columns(criterion, reader=reader), verdict_columns(criterion, reader=reader))


def _of_people(criterion: Criterion, columns: RatingColumns, verdicts: VerdictColumns) -> alignment.report.Evidence:
    from alignment.report.units import Units
    from annotate.verdicts.rating_codes_read import ELSEWHERE

    here = columns.tasks != ELSEWHERE
    labelled = Units.of(columns.units)
    return alignment.report.Evidence(
        criterion=asked(criterion),
        seed=criterion.project.seed,
        units=columns.units,
        raters=columns.raters,
        values=columns.values,
        verdicts=_on(labelled, verdicts.values),
        unsettled=unsettled_units(columns.units, here, verdicts.standings),
        waiting=waiting_labels(columns.units, here, verdicts.standings),
        days=columns.days,
    )


def _on(units: Units, verdicts: ByUnit[Value]) -> ByUnit[Value]:
    """By the numbers that the labels go by, where there are no others: neither is looked up among the other's then."""
    from alignment.report.units import ByUnit

    return ByUnit.of(units, verdicts, object) if units.with_all(verdicts) is units else verdicts


def _declared(criterion: Criterion, units: Mapping[int | None, int]) -> list[alignment.report.Declared]:
    """Who said that single labels count, by batch, those made elsewhere last."""
    batches = Batch.objects.filter(pk__in=[pk for pk in units if pk is not None]).order_by("number")
    found = [
        _said(units[batch.pk], batch.single_labels_by, batch.single_labels_at, batch.number)
        for batch in batches.select_related("single_labels_by")
    ]
    if None in units:
        settled = AuditEntry.objects.filter(
            project=criterion.project_id, action="verdicts.settled", subject=criterion.key, details__needed=1
        )
        entry = settled.select_related("actor").order_by("-created_at").first()
        by, at = (None, None) if entry is None else (entry.actor, entry.created_at)
        found.append(_said(units[None], by, at, None))
    return found


def _said(units: int, by: User | None, at: datetime | None, batch: int | None) -> alignment.report.Declared:
    day = "" if at is None else at.astimezone(UTC).date().isoformat()
    return alignment.report.Declared(units, "" if by is None else by.name, day, batch)


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


def agreement(criterion: Criterion, *, reader: Reader) -> dict[str, Any]:
    """Every agreement statistic of the criterion as plain JSON (docs/statistics.md), of all that people said; without
    their names, where the reader may not know them."""
    from annotate.verdicts.rating_codes_read import ratings_of

    figures = alignment.report.agreement_figures(criterion.key, ratings_of(criterion))
    if not may_know_names(reader, criterion.project):
        figures = _numbered(figures, annotator_numbers(criterion.project))
    return {**figures, "version": criterion.version}


def _numbered(figures: dict[str, Any], called: Mapping[str, str]) -> dict[str, Any]:
    """Sorted anew: the alphabet says something about who bears a number."""
    pairs = [
        {**pair, **dict(zip("ab", sorted(called[pair[one]] for one in "ab"), strict=True))} for pair in figures["pairs"]
    ]
    return {
        **figures,
        "raters": sorted(called[name] for name in figures["raters"]),
        "pairs": sorted(pairs, key=lambda pair: (pair["a"], pair["b"])),
    }
