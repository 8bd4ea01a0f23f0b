"""How well each judge agrees with people on a criterion."""

from __future__ import annotations

from typing import Any

from alignment.report import compare, reference_figures, reference_of
from annotate.models import Criterion
from judges.services.evidence import full_evidence


def align(criterion: Criterion, judge_name: str | None = None) -> dict[str, Any]:
    """Every judge (or the one named) against people on the criterion, as plain JSON (docs/statistics.md).

    Raises Invalid for a judge that the project doesn't have.
    """
    evidence = full_evidence(criterion, judge_name)
    reference = reference_of(evidence)
    return {
        "criterion": criterion.key,
        "version": criterion.version,
        "reference": reference_figures(reference),
        "judges": [compare(reference, judge).row for judge in evidence.judges],
    }
