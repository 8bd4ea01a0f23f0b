"""Diagnosis by API: at which stage responses failed, and which criteria say so."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.bodies import StrictJSON
from annotate.api.schema import answers
from annotate.core.blindness import Reader
from annotate.models import Project
from systems.api import diagnosis_serializers as shapes
from systems.diagnosis.cases import Diagnosed
from systems.diagnosis.judged_read import diagnosed_by_judges
from systems.diagnosis.mapping_read import Mapped, mapping_of
from systems.diagnosis.read import DiagnosedResponses, diagnosed
from systems.diagnosis.write import change_mapping


class DiagnosisView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.Diagnosis, query=shapes.DiagnosisAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> DiagnosedResponses:
        """How many responses failed at which stage, and how far that may be believed.

        By verdicts that hold, or, with `by=judges`, by what judges said as it stands. Responses whose sample you still
        have to label are left out; by judges also those that are locked, or that you have to decide about.
        """
        return found_by(self.project, asked, reader=self.user)


class DiagnosedView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.DiagnosedPage, query=shapes.DiagnosedAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> list[Diagnosed]:
        """Responses, each with its stage, the labels that decided it, and those that would."""
        found = found_by(self.project, asked, reader=self.user)
        stage = asked.get("stage")
        return [row for row in found.rows if stage is None or (row.diagnosis.stage or shapes.UNDECIDED) == stage]


class DiagnosisMappingView(ProjectAPIView):
    actions = {"GET": "systems.read", "PUT": "systems.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.DiagnosisMapping)
    def get(self, request: Request, slug: str) -> Mapped:
        """Which criterion answers which question of the tree. Until somebody stores it, what the built-in criteria
        propose."""
        return mapping_of(self.project)

    @answers(shapes.DiagnosisMapping, takes=shapes.DiagnosisMappingChange)
    def put(self, request: Request, data: dict[str, Any], slug: str) -> Mapped:
        """Stores which criterion answers which question.

        Such as {"questions": {"claim_supported": {"criterion": "support", "yes": "passes"}}}.
        """
        return change_mapping(actor=self.user, project=self.project, questions=data["questions"])


def found_by(project: Project, asked: dict[str, str], *, reader: Reader) -> DiagnosedResponses:
    read = diagnosed_by_judges if asked.get("by") == "judges" else diagnosed
    return read(project, version=asked.get("version", ""), in_set=asked.get("set", ""), reader=reader)
