"""Bands (poor, fair, good, excellent) and targets of metrics: as an admin of the project stored them, else the usual
ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import alignment
from annotate.models import Project
from systems.core.answer_criteria import answer_criteria
from systems.core.graded import is_graded
from systems.core.response_fields import FIELDS
from systems.models import MetricBands

# Recall over all relevant documents, which retrieval works out.
RECALL, RECALL_K = "recall_at_5", 5


@dataclass(frozen=True, slots=True)
class Bands:
    """limits: where fair, good and excellent begin, or nothing. target: what the project aims at."""

    limits: Sequence[float] = ()
    target: float | None = None

    def stored(self) -> dict[str, Any]:
        return {"limits": list(self.limits), "target": self.target}


NO_BANDS = Bands()
USUAL = {
    "faithfulness": Bands((0.5, 0.7, 0.85), 0.85),
    "relevancy": Bands((0.5, 0.7, 0.85), 0.8),
    "context_precision": Bands((0.3, 0.6, 0.8), 0.75),
    "context_recall": Bands((0.4, 0.65, 0.85), 0.8),
    RECALL: Bands((0.5, 0.65, 0.8), 0.8),
}


@dataclass(frozen=True, slots=True)
class ProjectBands:
    """metrics: those that have any, by name. is_stored: an admin has stored them."""

    project: Project
    metrics: Mapping[str, Bands]
    is_stored: bool

    def of(self, metric: Mapping[str, Any]) -> Bands:
        """Of a metric of a rule, whatever it is called there."""
        return self.metrics.get(metric.get("derived") or metric.get("field") or metric["criterion"], NO_BANDS)

    def limits(self, metric: Mapping[str, Any]) -> Sequence[float] | None:
        return self.of(metric).limits or None

    def shown(self, metric: Mapping[str, Any]) -> dict[str, Any] | None:
        found = self.of(metric)
        return None if found == NO_BANDS else found.stored()


def bands_of(project: Project) -> ProjectBands:
    stored = MetricBands.objects.filter(project=project).first()
    if stored is None:
        known = metrics_with_bands(project)
        return ProjectBands(project, {name: one for name, one in USUAL.items() if name in known}, False)
    return ProjectBands(
        project, {name: Bands(tuple(one["limits"]), one["target"]) for name, one in stored.metrics.items()}, True
    )


def metrics_with_bands(project: Project) -> dict[str, str]:
    """Of each metric that may have bands in which direction it is better: what is derived from a criterion's units and
    the criterion itself, recall, and what is measured."""
    found: dict[str, str] = {}
    kinds = alignment.report.derived_metrics()
    for criterion in answer_criteria(project).order_by("id"):
        if criterion.passes:
            found |= dict.fromkeys(kinds.get(criterion.unit, []), "higher")
        if criterion.passes or is_graded(criterion):
            found.setdefault(criterion.key, "higher")
    found[RECALL] = "higher"
    return found | {name: field.direction for name, field in FIELDS.items() if field.direction is not None}
