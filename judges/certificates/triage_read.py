"""What is left to people where a judge may decide alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotate.core.blindness import Reader, samples_without_judges
from annotate.core.rows import fetch_all
from annotate.core.units import LISTED_KINDS, asks_sql, indices_sql
from annotate.labels.read import COUNTING
from annotate.models import Project
from annotate.models.label import VerdictState
from judges.certificates.decision_read import has_region
from judges.core.locked_read import locked_samples
from judges.models import Look

# Distances closer than this, relatively, are one; as alignment.judging.triage.ROUNDING, which takes a second to load. A
# test holds the two against each other.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Left:
    """What judges leave to people, of one criterion's units in one project.

    samples: how many have a unit to decide; none is composed. shown: of how many of these is told whether anything is
    left: not of locked ones, and not of those that the reader has to label or to decide about, since it says what
    judges say; held_back: how many the latter are. rest: the own ids, in import order, of those shown with a unit that
    is left; unlabelled: of these, those with such a unit that no person has labelled yet.
    """

    samples: int
    shown: int
    rest: list[str]
    unlabelled: list[str]
    held_back: int


def left_of(rows: Sequence[tuple[int, str, bool, bool]], project: Project, *, reader: Reader) -> Left:
    """rows: of every sample its key, its own id, whether a unit is left, and whether one is that nobody labelled."""
    keys = [key for key, *_ in rows]
    ahead = samples_without_judges(reader, keys)
    hidden = ahead | locked_samples(project, keys, reader=reader)
    shown = [row for row in rows if row[0] not in hidden]
    return Left(
        samples=len(rows),
        shown=len(shown),
        rest=[name for _, name, is_left, _ in shown if is_left],
        unlabelled=[name for _, name, _, is_unlabelled in shown if is_unlabelled],
        held_back=len(ahead),
    )


def left_to_people(look: Look, *, reader: Reader) -> Left | None:
    """What one judge may not decide alone or has not scored, from the scores and labels there are now; None where by
    the look it decides nothing alone."""
    if not has_region(look):
        return None
    region: dict[str, Any] = look.result["region"]
    kind = look.criterion.unit
    listed = kind in LISTED_KINDS
    places = f"unnest({indices_sql(kind)})" if listed else "generate_series(0, 0)"
    values = {
        "criterion": look.criterion_id,
        "project": look.criterion.project_id,
        "version": look.version_id,
        "dimension": look.dimension,
        "threshold": region["threshold"],
        "distance": region["distance"] * (1 - ROUNDING),
        "disputed": VerdictState.DISPUTED,
        "kind": kind,
    }
    rows = fetch_all(_LEFT.format(places=places, unit="%(kind)s || ':' || place" if listed else "%(kind)s"), values)
    return left_of(rows, look.criterion.project, reader=reader)


# One row per sample that has a unit of the kind, in import order.
_LEFT = f"""
WITH alone AS (
    SELECT sample_id, unit FROM judges_score
    WHERE version_id = %(version)s AND dimension = %(dimension)s AND repeat = 0
      AND abs(number - %(threshold)s) >= %(distance)s
), labelled AS (
    SELECT l.sample_id, l.unit FROM annotate_label l LEFT JOIN annotate_task t ON t.id = l.task_id
    WHERE l.criterion_id = %(criterion)s AND {COUNTING}
    UNION
    SELECT sample_id, unit FROM annotate_verdict WHERE criterion_id = %(criterion)s AND state <> %(disputed)s
), units AS (
    SELECT s.id AS sample_id, s.external_id, {{unit}} AS unit
    FROM annotate_sample s
    JOIN annotate_criterion c ON c.id = %(criterion)s AND {asks_sql()}
    CROSS JOIN LATERAL {{places}} AS place WHERE s.project_id = %(project)s AND NOT s.composed
)
SELECT units.sample_id, units.external_id, bool_or(alone.unit IS NULL),
    bool_or(alone.unit IS NULL AND labelled.unit IS NULL)
FROM units
LEFT JOIN alone USING (sample_id, unit) LEFT JOIN labelled USING (sample_id, unit)
GROUP BY units.sample_id, units.external_id ORDER BY units.sample_id
"""
