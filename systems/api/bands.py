"""Bands and targets of metrics by API."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.bodies import StrictJSON
from annotate.api.schema import answers
from systems.api import bands_serializers as shapes
from systems.experiments.bands_read import ProjectBands, bands_of
from systems.experiments.bands_write import change_bands


class BandsView(ProjectAPIView):
    actions = {"GET": "systems.read", "PUT": "systems.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.MetricBands)
    def get(self, request: Request, slug: str) -> ProjectBands:
        """What is poor, fair, good and excellent, and the target, of each metric. Until an admin stores them, the usual
        ones."""
        return bands_of(self.project)

    @answers(shapes.MetricBands, takes=shapes.MetricBandsChange)
    def put(self, request: Request, data: dict[str, Any], slug: str) -> ProjectBands:
        """Stores the bands of all metrics; figures that were made before are then out of date.

        Such as {"metrics": {"faithfulness": {"limits": [0.5, 0.7, 0.85], "target": 0.85}}}.
        """
        return change_bands(actor=self.user, project=self.project, metrics=data["metrics"])
