"""manage.py settle SLUG --criterion KEY --needed N"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from annotate.core.units import without_abstentions
from annotate.labels.consensus import settle_imported
from annotate.management.base import OneLineCommand
from annotate.models import Verdict
from annotate.models.label import VerdictState
from annotate.projects.read import criterion_named, project_named


class Command(OneLineCommand):
    help = "Create verdicts from imported labels (docs/formats.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument(
            "--needed",
            required=True,
            type=int,
            metavar="N",
            help="labels needed per unit; units with fewer get no verdict",
        )

    def handle(self, *args: Any, slug: str, criterion: str, needed: int, **options: Any) -> None:
        project = project_named(slug)
        asked = criterion_named(project, criterion)
        written = settle_imported(project=project, criterion=asked, needed=needed)
        states = Counter(without_abstentions(Verdict.objects.filter(criterion=asked)).values_list("state", flat=True))
        reopened = states[VerdictState.REOPENED]
        self.stdout.write(
            f"{asked.key}: {written} verdicts written or changed; now {states[VerdictState.SETTLED]} units resolved, "
            f"{states[VerdictState.DISPUTED]} disputed" + (f", {reopened} reopened." if reopened else ".")
        )
