"""manage.py load_demo: the demo project with its labels, scores and judges, once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.db import connection, transaction

from annotate.demo import DEMO_FOLDER, DEMO_SLUG, create_demo_project, label_demo_batch
from annotate.files.import_engine import run
from annotate.management.base import OneLineCommand
from annotate.models import Label, Project, Sample, Task, Verdict
from judges.demo import create_demo_judges, finish_runs
from judges.models import Ask, Score

_FILLED = (Sample, Task, Label, Verdict, Ask, Score)


class Command(OneLineCommand):
    help = "Loads the demo project, unless there is one already."

    def handle(self, *args: Any, **options: Any) -> None:
        if Project.objects.filter(slug=DEMO_SLUG).exists():
            return
        # All of it or nothing, so that a start that was broken off leaves no half demo behind. Only what its judges say
        # comes after: until then their runs wait, as any run does, and go on when a worker starts.
        with transaction.atomic():
            project = create_demo_project()
            self._import(project, "samples")
            label_demo_batch(project)
            self._import(project, "scores")
            runs = create_demo_judges(project)
            transaction.on_commit(lambda: finish_runs(runs))
        _measure_tables()
        self.stdout.write(f"Loaded the demo project with {project.samples.count()} samples.")

    def _import(self, project: Project, kind: str) -> None:
        path = DEMO_FOLDER / f"{kind}.jsonl"
        outcome = run(project=project, kind=kind, path=path, file_name=path.name, mapping={})
        if outcome.errors:
            raise CommandError(f"{path.name}: {outcome.errors[0]}")


def _measure_tables() -> None:
    """As an import does: until PostgreSQL has measured what was just filled, it plans as if it were empty."""
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in _FILLED)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")
