"""manage.py load_demo: the demo project with its labels, scores and judges, once."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection, transaction

from annotate.core.errors import Refusal
from annotate.demo import DEMO_FOLDER, DEMO_SLUG, create_demo_project, draw_new_batch, label_first_batch
from annotate.demo.weeks import AUDITS, BASELINE, LAST, Weeks
from annotate.files import import_engine
from annotate.management.base import OneLineCommand
from annotate.models import Label, Project, Sample, Task, User, Verdict
from annotate.projects.read import criterion_named
from judges.certificates.write import issue_certificate, look_at_test
from judges.endpoints.write import create_endpoint
from judges.models import Ask, Certificate, Look, Run, RunState, Score
from judges.runs.places import place_of
from judges.runs.work import work
from judges.runs.write import start_run
from judges.versions.specs import judge_from_spec

_SEED = 7
_WAIT_SECONDS = 60
_FILLED = (Sample, Task, Label, Verdict, Ask, Score)


# Which judges are looked at, in which order, and whether a certificate is issued.
_LOOKS = (("claim-checker", True), ("lenient-llm", False), ("passage-match", True))
# What waits for a newcomer.
_OPEN_SAMPLES = 10


class Command(OneLineCommand):
    help = "Loads the demo project, unless there is one already."

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
            transaction.on_commit(lambda: finish_runs(runs))
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
        weeks.read_lessons(baseline)
        look_at_judges(project, at=weeks.end_of(BASELINE[-1]))
        for week in AUDITS:
            batch = weeks.draw(f"Week {week}", [week]) if week == LAST else weeks.audit(week)
            # What the last week's labels leave open is there for a reviewer to decide.
            if week < LAST:
                weeks.adjudicate(batch)
            weeks.close(batch)
            if week < LAST - 1:
                weeks.read_lessons(batch)
        draw_new_batch(project, size=_OPEN_SAMPLES)

    def _import(self, project: Project, kind: str, name: str) -> None:
        path = DEMO_FOLDER / name
        outcome = import_engine.run(project=project, kind=kind, path=path, file_name=path.name, mapping={})
        if outcome.errors:
            raise CommandError(f"{path.name}: {outcome.errors[0]}")


def look_at_judges(project: Project, *, at: datetime) -> None:
    """As the admin did then, by the labels there were."""
    alma = User.objects.get(username="alma")
    criterion = criterion_named(project, "support")
    for name, certifies in _LOOKS:
        look = look_at_test(criterion=criterion, judge_name=name, user=alma)
        Look.objects.filter(pk=look.pk).update(created_at=at)
        if certifies:
            certificate = issue_certificate(look=look, user=alma)
            Certificate.objects.filter(pk=certificate.pk).update(created_at=at)


def _measure_tables() -> None:
    """As an import does: until PostgreSQL has measured what was just filled, it plans as if it were empty."""
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in _FILLED)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")


def create_demo_judges(project: Project) -> list[Run]:
    """Makes them, and starts the runs of those that ask no model. Where an endpoint on this machine isn't allowed
    (JUDGE_PRIVATE_HOSTS), the one that needs it is left out."""
    has_endpoint = _create_endpoint(project)
    runs = []
    for file in sorted((DEMO_FOLDER / "judges").glob("*.json")):
        spec = json.loads(file.read_text(encoding="utf-8"))
        if spec.get("endpoint") is None:
            version = judge_from_spec(project=project, spec=spec).version
            runs.append(start_run(version=version, scope={"all": True}))
        elif has_endpoint:
            judge_from_spec(project=project, spec=spec)
    return runs


def finish_runs(runs: Sequence[Run]) -> None:
    """Works at runs that are committed until they are done, also when a worker is at them. Raises Refusal when that
    takes too long."""
    deadline = time.monotonic() + _WAIT_SECONDS
    for run in runs:
        while run.state == RunState.RUNNING:
            if time.monotonic() > deadline:
                raise Refusal("not_scored", f"The demo's judges are not done after {_WAIT_SECONDS} s.")
            work(place_of(run), rng=Random(_SEED), in_worker=False)
            run.refresh_from_db()
            if run.state == RunState.RUNNING:
                # A worker has got hold of it first.
                time.sleep(0.05)


def _create_endpoint(project: Project) -> bool:
    try:
        create_endpoint(project=project, **json.loads((DEMO_FOLDER / "endpoint.json").read_text(encoding="utf-8")))
    except Refusal:
        return False
    return True
