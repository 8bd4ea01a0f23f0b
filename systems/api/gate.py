"""The gate of systems by API."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.bodies import StrictJSON
from annotate.api.schema import answers
from annotate.api.serializers import With
from annotate.tasks.mail import public_url
from systems.api import gate_serializers as shapes
from systems.experiments.gate import held_to
from systems.experiments.gate_file import read_gate
from systems.experiments.gate_formats import gate_junit, gate_markdown
from systems.experiments.read import ExperimentState, one_experiment, shown_figures


class SystemsGateView(ProjectAPIView):
    """A POST that stores nothing: conditions don't fit into an address."""

    actions = {"POST": "systems.read"}
    parser_classes = [StrictJSON]

    @answers(shapes.SystemsGateWithReports, takes=shapes.GateAsked, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, experiment_name: str) -> With:
        """Holds a version of an experiment to the conditions of gate.yaml, as `manage.py gate_systems` does.

        By the latest figures of the experiment, which are not worked out anew: `is_out_of_date` says whether others
        might come of it. What the file says wrong is refused (422) in a sentence that names the place.
        """
        conditions = read_gate(data["gate"], "gate.yaml")
        experiment = one_experiment(self.project, experiment_name)
        found = held_to(shown_figures(experiment, reader=self.user).result, conditions)
        url = public_url("experiment", slug, found.experiment)
        return With(
            found,
            markdown=gate_markdown(found, url),
            junit=gate_junit(found),
            is_out_of_date=ExperimentState(experiment).is_out_of_date,
        )
