"""Files that no well-meant person uploads, written without knowing the code: each is refused for what it is, with its
row and its field where one is at fault, and nothing of it is stored."""

from __future__ import annotations

import pytest

from annotate.files.import_queue import run_job
from annotate.models import ImportJob
from tests.hostile.conftest import TRAIL, nothing_stored
from tests.hostile.outside import Outside, P
from tests.hostile.uploads import SENT, UPLOADS, Sent, Upload

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("upload", UPLOADS, ids=str)
def test_imports(outside: Outside, upload: Upload) -> None:
    with nothing_stored(but=TRAIL):
        form = {"kind": upload.kind, **upload.form}
        reply = outside.upload(f"{P}/imports/", form, upload.file_name, upload.make())
        assert reply.status in (202, 422), reply.text[:500]
        job = ImportJob.objects.get(pk=reply.json()["id"])
        if reply.status == 202:  # here, as an importer would
            run_job(job.pk)
            job.refresh_from_db()
    error = job.errors[0]
    assert (job.status, error["code"]) == ("failed", upload.code), error
    assert (upload.row, upload.where) == (upload.row and error["row"], upload.where and error["field"]), error
    assert error["message"]
    assert len(error["excerpt"]) <= 80


@pytest.mark.parametrize("sent", SENT, ids=str)
def test_criteria_and_images(outside: Outside, sent: Sent) -> None:
    with nothing_stored(but=TRAIL):  # of what an import above noted, and took back
        reply = outside.upload(f"{P}/{sent.to}", {}, sent.file_name, sent.data)
    assert reply.status == sent.status, reply.text[:500]
    assert sent.says in reply.json()["error"]["message"]
