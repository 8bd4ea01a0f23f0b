"""Files in an object store: an S3 server of its own, which asks who sends a request."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client

from annotate.core import stored
from annotate.core.errors import StorageError
from annotate.files.import_jobs import create_job, preview, start
from annotate.files.import_queue import run_job
from annotate.files.releases import make_release
from annotate.files.uploads import open_upload, take_part
from annotate.models import ImportJob, LeftFile, Project, Release, Sample, User
from config.storage import try_out_storage
from tests.annotate.core.test_stored import a_day_passes
from tests.annotate.factories import World, finish, make_sample, make_world, must_take
from tests.annotate.files.hostile import parquet
from tests.clients import as_user, client_of
from tests.config.object_storage.conftest import use
from tests.database import empty_database
from tests.s3_server import BUCKET, PREFIX, S3Server

MIB = 1024 * 1024
ROW = b'{"id": "a", "question": "what?", "answer": "x"}\n'


@pytest.fixture(autouse=True)
def _temporary(settings: Any, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path


@pytest.fixture
def project(s3: S3Server, db: None) -> Project:
    return Project.objects.create(slug="p", name="P")


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("admin")


def arrived(project: Project, name: str, content: bytes) -> ImportJob:
    return create_job(project=project, user=None, kind="samples", upload=ContentFile(content, name))


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", ROW), ("a.parquet", parquet(question=["q"], answer=["x"]))])
def test_an_upload_is_looked_at_imported_and_gone(
    name: str, content: bytes, project: Project, s3: S3Server, tmp_path: Path
) -> None:
    job = arrived(project, name, content)
    assert s3.stored() == [f"{PREFIX}/imports/{job.pk}"]
    assert [row["answer"] for row in preview(job).rows] == ["x"]
    done = start(job)
    if name.endswith("parquet"):  # which waits for the importer
        assert done.status == "waiting"
        done = run_job(job.pk)
    assert (done.status, Sample.objects.get().answer) == ("done", "x")
    assert s3.stored() == []
    assert list(tmp_path.iterdir()) == []
    assert not LeftFile.objects.exists()


def test_an_upload_in_parts_is_joined_imported_and_gone(project: Project, s3: S3Server, tmp_path: Path) -> None:
    sender = User.objects.create_user("sender")
    job = open_upload(project=project, user=sender, kind="samples", file_name="a.jsonl", size=len(ROW))
    for at, part in ((0, ROW[:20]), (20, ROW[20:])):
        job = take_part(job=job, offset=at, stream=io.BytesIO(part), checksum=None)
    assert len(s3.stored()) == 2
    assert (run_job(job.pk).status, Sample.objects.get().answer) == ("done", "x")
    assert s3.stored() == []
    assert list(tmp_path.iterdir()) == []
    assert not LeftFile.objects.exists()


def test_only_the_beginning_of_a_text_is_fetched_for_a_preview(project: Project, s3: S3Server) -> None:
    job = arrived(project, "a.jsonl", ROW * 700_000)
    assert job.size > 30 * MIB
    log = s3.process.log
    before = log.stat().st_size
    assert len(preview(job).rows) == 10
    asked = log.read_bytes()[before:].count(b"GET /")
    assert asked <= 6  # of 4 MiB each, and one for what kind of file it is


def test_a_file_that_came_in_parts_is_one_again(project: Project, s3: S3Server, admin: User) -> None:
    job = open_upload(project=project, user=admin, kind="samples", file_name="a.jsonl", size=len(ROW))
    for at, end in ((0, 20), (20, len(ROW))):
        job = take_part(job=job, offset=at, stream=io.BytesIO(ROW[at:end]), checksum=None)
    assert len(s3.stored()) == 2
    assert (run_job(job.pk).status, Sample.objects.get().answer) == ("done", "x")
    assert s3.stored() == []


def test_a_release_is_handed_out_by_us_and_nobody_else(world: World, s3: S3Server) -> None:
    release = make_release(project=world.project, user=world.alice, file_format="jsonl")
    (key,) = s3.stored()
    assert key == f"{PREFIX}/{release.stored_as}"
    address = f"/api/projects/{world.project.slug}/releases/{release.number}/file/"
    reply = client_of(world.alice).get(address)
    content = b"".join(reply.streaming_content)
    assert hashlib.sha256(content).hexdigest() == release.manifest["sha256"]
    assert int(reply["Content-Length"]) == len(content) == release.manifest["bytes"]
    assert client_of(world.dora).get(address).status_code == 404
    assert httpx2.get(f"{s3.url}/{BUCKET}/{key}").status_code == 403
    with pytest.raises(NotImplementedError):
        default_storage.url(release.stored_as)
    s3.client.delete_object(Bucket=BUCKET, Key=key)
    assert client_of(world.alice).get(address).status_code == 409


def test_neither_way_is_more_than_a_buffer_in_memory(db: None, s3: S3Server, tmp_path: Path) -> None:
    path = tmp_path / "large"
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for number in range(48):
            part = bytes([number]) * MIB
            digest.update(part)
            file.write(part)
    stored.exists("releases/none")  # the library is loaded
    tracemalloc.start()
    try:
        with stored.Written(path) as file, stored.kept("releases/large", file):
            pass
        seen = hashlib.sha256()
        with stored.open_file("releases/large") as found:
            for chunk in found.chunks():
                seen.update(chunk)
        with stored.on_disk("releases/large") as copy:
            assert copy.stat().st_size == 48 * MIB
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen.digest() == digest.digest()
    assert most < 24 * MIB


class Broken(io.BytesIO):
    """Of which the last part can't be read."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= 16 * MIB:
            raise OSError("unreadable")
        return super().read(size)


def test_nothing_stays_of_what_fails_half_way(db: None, s3: S3Server) -> None:
    broken = File(Broken(bytes(24 * MIB)), "broken")
    with pytest.raises(OSError, match="unreadable"), stored.kept("imports/broken", broken):
        pass
    assert (s3.stored(), s3.unfinished()) == ([], [])
    assert not LeftFile.objects.exists()


def test_nothing_stays_of_what_a_killed_process_stored_half(db: None, s3: S3Server) -> None:
    half, other = f"{PREFIX}/imports/half", f"{PREFIX}/imports/half-of-another"
    for key in (half, other):
        begun = s3.client.create_multipart_upload(Bucket=BUCKET, Key=key)
        s3.client.upload_part(Bucket=BUCKET, Key=key, PartNumber=1, UploadId=begun["UploadId"], Body=b"x")
    LeftFile.objects.create(stored_as="imports/half")
    a_day_passes()
    stored.remove_left()
    assert s3.unfinished() == [other]
    s3.client.abort_multipart_upload(Bucket=BUCKET, Key=other, UploadId=begun["UploadId"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"BUCKET": "none-such"}, "there is no such bucket"),
        ({"BUCKET": "No bucket!"}, "that is no name of a bucket"),
        ({"ACCESS_KEY_ID": "nobody"}, "S3_ACCESS_KEY_ID is not known there"),
        ({"SECRET_ACCESS_KEY": "other"}, "S3_SECRET_ACCESS_KEY is not that of S3_ACCESS_KEY_ID"),
    ],
)
def test_a_store_that_refuses_us_ends_the_start(
    wrong: dict[str, str], said: str, s3: S3Server, db: None, settings: Any, monkeypatch: pytest.MonkeyPatch,
    client: Client,
) -> None:  # fmt: skip
    use(s3, settings, monkeypatch, **wrong)
    with pytest.raises(SystemExit) as ended:
        try_out_storage()
    assert said in str(ended.value)
    assert s3.url in str(ended.value)
    assert s3.secret not in str(ended.value)
    reply = client.get("/readyz").json()
    assert (reply["status"], reply["files"]) == ("degraded", False)


def test_a_store_that_lets_us_is_tried_out(s3: S3Server, client: Client, db: None) -> None:
    try_out_storage()
    assert s3.stored() == []
    assert client.get("/readyz").json()["files"] is True


def test_a_store_that_is_away_is_waited_for(
    project: Project, s3: S3Server, settings: Any, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    """What needs no file goes on; what does is answered 503, and a job stays as it is."""
    job = arrived(project, "a.jsonl", ROW)
    ImportJob.objects.update(status="waiting")
    use(s3, settings, monkeypatch, ENDPOINT_URL="http://127.0.0.1:1")
    try_out_storage()  # says so in the log
    assert client.get("/readyz").json()["files"] is False
    with pytest.raises(StorageError):
        run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.deaths) == ("waiting", 0)
    use(s3, settings, monkeypatch)
    assert run_job(job.pk).status == "done"


def test_a_request_that_needs_it_meanwhile_is_answered_503(
    s3: S3Server, world: World, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = make_release(project=world.project, user=world.alice, file_format="jsonl")
    use(s3, settings, monkeypatch, ENDPOINT_URL="http://127.0.0.1:1")
    asking = as_user(world.alice)
    asking.raise_request_exception = False
    reply = asking.get(f"/api/projects/{world.project.slug}/releases/{release.number}/file/")
    assert (reply.status_code, reply["Retry-After"]) == (503, "5")
    assert reply.json()["error"]["message"].startswith("The store of files can't answer")


@pytest.fixture
def world(transactional_db: None, s3: S3Server) -> World:
    world = make_world()
    make_sample(world.project, 1)
    batch = world.batch(strategy="pull")
    for annotator in (world.ann, world.ben):
        finish(must_take(annotator, batch))
    return world


def manifest(path: Path) -> dict[str, Any]:
    with tarfile.open(path) as tar:
        return json.load(tar.extractfile("manifest.json"))


@pytest.mark.slow
def test_a_backup_moves_all_from_a_disk_into_the_store(
    world: World, s3: S3Server, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says the same of the content in both."""
    in_store = settings.STORAGES
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.STORAGES = {
        **in_store, "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    }  # fmt: skip
    release = make_release(project=world.project, user=world.alice, file_format="jsonl")
    arrived(world.project, "a.jsonl", ROW)
    assert s3.stored() == []
    call_command("backup", tmp_path / "disk.tar", stdout=io.StringIO())
    empty_database()
    settings.STORAGES = in_store
    call_command("restore", tmp_path / "disk.tar", stdout=io.StringIO())
    assert len(s3.stored()) == 2
    call_command("backup", tmp_path / "store.tar", stdout=io.StringIO())
    assert manifest(tmp_path / "store.tar") == manifest(tmp_path / "disk.tar")
    with stored.open_file(Release.objects.get().stored_as) as file:
        assert hashlib.sha256(file.read()).hexdigest() == release.manifest["sha256"]
