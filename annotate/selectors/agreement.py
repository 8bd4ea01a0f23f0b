"""How well people agree with each other on a criterion."""

from __future__ import annotations

from typing import Any

from alignment.report import agreement_figures
from annotate.models import Criterion
from annotate.selectors.evidence import evidence_of


def agreement(criterion: Criterion) -> dict[str, Any]:
    """Every agreement statistic of the criterion as plain JSON (docs/statistics.md)."""
    figures = agreement_figures(criterion.key, evidence_of(criterion).ratings(), criterion.project.seed)
    return {**figures, "version": criterion.version}
