"""What the API takes and replies about bands and targets."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from annotate.api.serializers import FreeObject, Keyed, Shape
from systems.experiments.bands_read import NO_BANDS, ProjectBands, metrics_with_bands


class MetricBands(Shape, of=ProjectBands, shows="metrics stored"):
    metrics = FreeObject(
        help_text="{metric: {limits: [where fair, good and excellent begin] or [], target: number or null}}"
    )
    stored = s.BooleanField(source="is_stored", help_text="false: the usual ones.")

    def get_metrics(self, bands: ProjectBands) -> dict[str, Any]:
        known = metrics_with_bands(bands.project)
        return {name: bands.metrics.get(name, NO_BANDS).stored() for name in known}


class MetricBandsChange(Shape, required="metrics"):
    metrics = Keyed(
        child=s.JSONField(),
        code="bad_bands",
        of=object,
        help_text="Those of all metrics; what is left out has neither bands nor a target.",
    )
