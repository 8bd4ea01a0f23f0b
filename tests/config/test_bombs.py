"""Files that stand for gigabytes, of every shape and format, in the process for imports: each refused, none a fault."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.files.import_jobs import create_job, start
from annotate.models import ImportJob, Project, Sample
from bench.hostile_files import FORMATS, bombs, shapes_of
from tests.processes import Worker

# Above the process that they are forks of.
MOST_GROWTH_BYTES = 300_000_000
# Other sizes than the benchmark's.
SEED = 1


@pytest.mark.parametrize("file_format", FORMATS)
def test_each_is_refused_within_its_memory(file_format: str, importer: Worker) -> None:
    project = Project.objects.create(slug="p", name="P")
    jobs = {}
    for bomb in bombs(file_format, shapes_of(file_format), SEED):
        upload = SimpleUploadedFile(bomb.file_name, bomb.content)
        job = create_job(project=project, user=None, kind="samples", upload=upload)
        jobs[start(job).pk] = bomb.name
    waiting = ImportJob.objects.filter(status__in=("waiting", "running"))
    growth = importer.growth_until(lambda: not waiting.all().exists(), seconds=120)
    for job in ImportJob.objects.all():
        assert job.status == "failed", jobs[job.pk]
        assert job.errors[0]["code"] not in ("internal", "interrupted"), jobs[job.pk]
        assert job.deaths == 0, jobs[job.pk]
    assert not Sample.objects.exists()
    assert growth <= MOST_GROWTH_BYTES
