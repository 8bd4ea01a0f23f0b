"""Several hosts on one database: what each of them would do is done by one (at full size: bench.several_hosts)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.utils import timezone

from annotate.batches.audits_write import create_schedule
from annotate.core.jobs import ask_for
from annotate.files.import_jobs import create_job, start
from annotate.models import AuditEntry, AuditSchedule, Batch, ImportJob, Job, Project, Release, Sample
from annotate.models.job import JobKind
from tests.annotate.factories import finish, make_samples, make_world
from tests.processes import Worker, environment, forget_messages

ROWS = 30


@pytest.fixture(autouse=True)
def _media(settings: Any) -> None:
    from config.settings import MEDIA_ROOT

    settings.MEDIA_ROOT = MEDIA_ROOT


def test_three_workers_and_three_importers_do_each_thing_once(transactional_db: None, tmp_path: Path) -> None:
    world = make_world()
    make_samples(world.project, 3)
    for task in world.batch(criteria=["grade"]).tasks.all():
        finish(task)
    today = timezone.localdate()
    create_schedule(
        project=world.project, actor=world.alice, today=today, name="Weekly", opens=False, samples=2,
        criteria=world.criteria("grade"), annotators=[world.ann, world.ben],
    )  # fmt: skip
    AuditSchedule.objects.update(next_on=today)
    doomed = Project.objects.create(slug="doomed", name="Doomed", deleting_at=timezone.now())
    for number in range(6):
        rows = [{"id": f"{number}-{row}", "question": "q", "answer": "x"} for row in range(ROWS)]
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        project = (world.project, world.other)[number % 2]
        upload = SimpleUploadedFile("a.jsonl", content)
        start(create_job(project=project, user=None, kind="samples", upload=upload))
    forget_messages()
    asked = {"format": "jsonl", "filters": None}
    ask_for(project=world.project, user=world.alice, kind=JobKind.RELEASE, asked=asked)

    commands = [["config.worker", "--concurrency", "1"], ["config.importer"]] * 3
    processes = [Worker(command, environment(), tmp_path / f"{n}.log") for n, command in enumerate(commands)]
    try:
        for process in processes:
            process.start()

        def all_done() -> bool:
            return not (
                ImportJob.objects.exclude(status="done").exists()
                or Job.objects.exclude(status="done").exists()
                or Project.objects.filter(pk=doomed.pk).exists()
                or not Batch.objects.filter(name__startswith="Weekly").exists()
            )

        processes[0].wait_for(all_done)
    finally:
        for process in processes:
            process.kill()
    forget_messages()
    assert Sample.objects.filter(external_id__contains="-").count() == 6 * ROWS
    assert set(ImportJob.objects.values_list("deaths", flat=True)) == {0}
    said = Counter(AuditEntry.objects.values_list("action", flat=True))
    assert [said[name] for name in ("import.done", "project.deleted", "release.created")] == [6, 1, 1]
    assert Release.objects.count() == Batch.objects.filter(name__startswith="Weekly").count() == 1
    call_command("trail", "verify")
