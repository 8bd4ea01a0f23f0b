"""manage.py load_demo: the demo project with its labels and scores, once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from annotate.demo import DEMO_FOLDER, DEMO_SLUG, create_demo_project, label_demo_batch
from annotate.importing import engine
from annotate.management.base import OneLineCommand
from annotate.models import Project


class Command(OneLineCommand):
    help = "Loads the demo project, unless there is one already."

    def handle(self, *args: Any, **options: Any) -> None:
        if Project.objects.filter(slug=DEMO_SLUG).exists():
            return
        # All of it or nothing, so that a start that was broken off leaves no half demo behind.
        with transaction.atomic():
            project = create_demo_project()
            self._import(project, "samples")
            label_demo_batch(project)
            self._import(project, "scores")
        self.stdout.write(f"Loaded the demo project with {project.samples.count()} samples.")

    def _import(self, project: Project, kind: str) -> None:
        path = DEMO_FOLDER / f"{kind}.jsonl"
        outcome = engine.run(project=project, kind=kind, path=path, file_name=path.name, mapping={})
        if outcome.errors:
            raise CommandError(f"{path.name}: {outcome.errors[0]}")
