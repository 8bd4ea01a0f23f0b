"""manage.py load_demo: the demo project with its labels, scores, judges and builds, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection, transaction

from annotate.demo import DEMO_FOLDER, DEMO_SLUG, create_demo_project, draw_new_batch, label_first_batch
from annotate.demo.batches import read_lessons
from annotate.demo.weeks import AUDITS, BASELINE, LAST, Weeks
from annotate.files import import_engine
from annotate.management.base import OneLineCommand
from annotate.models import Project
from judges.demo import create_demo_judges, finish_runs, look_at_judges
from judges.models import Run
from systems.demo import (
    SET,
    VERSIONS,
    add_build_criteria,
    compare_builds,
    compare_side_by_side,
    pool_builds,
    work_out_figures,
)

# What waits for a newcomer.
_OPEN_SAMPLES = 10


class Command(OneLineCommand):
    help = "Load the demo project, unless it exists."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--small", action="store_true", help="Only the samples of week 1 and the new ones: a third of the time."
        )

    def handle(self, *args: Any, small: bool, **options: Any) -> None:
        if Project.objects.filter(slug=DEMO_SLUG).exists():
            return
        # All of it or nothing, so that a start that was broken off leaves no half demo behind. Only what its judges say
        # comes after: until then their runs wait, as any run does, and go on when a worker starts.
        with transaction.atomic():
            project = create_demo_project()
            self._import(project, "samples", "samples.jsonl")
            if small:
                label_first_batch(project)
                self._import(project, "samples", "new_samples.jsonl")
                draw_new_batch(project)
                self._import(project, "scores", "scores.jsonl")
            else:
                self._load_weeks(project)
            runs = create_demo_judges(project)
            transaction.on_commit(lambda: self._finish(project, runs, small=small))
        _measure_tables()
        self.stdout.write(f"Loaded the demo project with {project.samples.count()} samples.")

    def _load_weeks(self, project: Project) -> None:
        """Twelve weeks, one after the other, up to what came this week."""
        weeks = Weeks(project)
        weeks.close(label_first_batch(project, until=weeks.end_of(1)))
        self._import(project, "samples", "weeks_samples.jsonl")
        weeks.date_samples()
        self._import(project, "samples", "new_samples.jsonl")
        self._import(project, "scores", "scores.jsonl")
        self._import(project, "scores", "weeks_scores.jsonl")
        _measure_tables()
        baseline = weeks.draw("Baseline", BASELINE)
        weeks.adjudicate(baseline)
        weeks.close(baseline)
        read_lessons(baseline)
        look_at_judges(project, at=weeks.end_of(BASELINE[-1]))
        for week in AUDITS:
            batch = weeks.draw(f"Week {week}", [week]) if week == LAST else weeks.audit(week)
            # What the last week's labels leave open is there for a reviewer to decide.
            if week < LAST:
                weeks.adjudicate(batch)
            weeks.close(batch)
            if week < LAST - 1:
                read_lessons(batch)
        self._load_builds(project)
        draw_new_batch(project, size=_OPEN_SAMPLES, leaving=VERSIONS)

    def _load_builds(self, project: Project) -> None:
        """Two builds that were asked the same questions."""
        add_build_criteria(project)
        self._import(project, "questions", "builds_questions.jsonl", set=SET, replace=False)
        self._import(project, "samples", "builds_samples.jsonl")
        self._import(project, "scores", "builds_scores.jsonl")
        _measure_tables()
        pool_builds(project)
        compare_builds(project)
        compare_side_by_side(project)

    def _finish(self, project: Project, runs: Sequence[Run], *, small: bool) -> None:
        finish_runs(runs)
        if not small:
            work_out_figures(project)

    def _import(self, project: Project, kind: str, name: str, **options: Any) -> None:
        path = DEMO_FOLDER / name
        outcome = import_engine.run(
            project=project, kind=kind, path=path, file_name=path.name, mapping={}, options=options
        )
        if outcome.errors:
            raise CommandError(f"{path.name}: {outcome.errors[0]}")


def _measure_tables() -> None:
    """As an import does: until PostgreSQL has measured what was just filled, it plans for what was there before."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
