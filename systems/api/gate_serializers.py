"""What the API takes and replies about the gate of systems."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.serializers import FreeObject, Of, Shape, Text
from systems.experiments import gate
from systems.experiments.spelling import Estimate


class GateAsked(Shape, required="gate"):
    gate = Text(help_text="The text of gate.yaml (docs/ci.md).")


class Held(Shape, of=gate.Held, shows="metric title versus limit by required outcome code sentence labelled figures"):
    metric = s.CharField(source="condition.metric")
    versus = s.CharField(source="condition.versus", help_text="bar or baseline")
    limit = s.FloatField(source="condition.limit", help_text="The bar, or the margin.")
    by = s.CharField(source="condition.by", help_text="lower or point")
    required = s.BooleanField(source="condition.required")  # type: ignore[assignment]
    outcome = s.CharField(help_text="pass, fail or cannot_tell")
    code = Of("met, not_met, too_few_labelled or not_known")
    sentence = Of("The same for people.")
    labelled = Of("How many questions, of the version that has the fewest; null: it needs none.")
    figures = FreeObject(help_text="{baseline, candidate, difference}: an estimate each, corrected by people's labels.")

    def get_figures(self, held: gate.Held) -> dict[str, Estimate]:
        baseline, candidate = held.levels
        return {"baseline": baseline, "candidate": candidate, "difference": held.difference}


class SystemsGate(
    Shape, of=gate.Gate, shows="outcome exit_code sentence experiment set candidate baseline level conditions"
):
    outcome = s.CharField(help_text="pass, fail or cannot_tell")
    exit_code = s.IntegerField(help_text="0, 1 or 2, as manage.py gate_systems ends.")
    sentence = s.CharField()
    set = Of("null: all questions that the versions were asked.")
    level = Of("Of all intervals against the baseline together.")
    conditions = Held(many=True)


class SystemsGateWithReports(
    SystemsGate,
    of=gate.Gate,
    shows="outcome exit_code sentence experiment set candidate baseline level conditions markdown junit is_out_of_date",
):
    markdown = s.CharField(help_text="For a comment on a pull request.")
    junit = s.CharField(help_text="XML.")
    is_out_of_date = s.BooleanField(help_text="Something has changed since that the figures may rest on.")
