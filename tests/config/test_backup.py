"""`backup` and `restore` on real databases: what comes back is what was there, and what can't be whole is refused."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from psycopg import sql

from annotate.core.trail import note
from annotate.files.import_jobs import create_job
from annotate.files.releases import make_release
from annotate.models import ImportJob, Label, LeftFile, Project, Release, User, VerdictEvent
from config import embedded
from config.backup.archive import MANIFEST, SEAL
from judges.endpoints.keys import encrypted
from judges.models import Endpoint
from tests.annotate.factories import World, concurrently, finish, make_sample, make_world, must_take
from tests.clients import as_user
from tests.config.test_upgrade import INSTALLATION
from tests.database import empty_database
from tests.disk import room_for
from tests.processes import environment

ODD = "tab\t, line\nend, back\\slash \\N \\. “中文” \U0001f600"


@pytest.fixture(autouse=True)
def _media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def world(transactional_db: None) -> World:
    """With labels, verdicts and their log, a release and a file that waits, a key, somebody logged in, and a number
    that was given to a row that is gone."""
    world = make_world()
    make_sample(world.project, 1, question=ODD)
    make_sample(world.project, 2)
    batch = world.batch(strategy="pull")
    for annotator in (world.ann, world.ben):
        finish(must_take(annotator, batch))
    make_release(project=world.project, user=world.alice, file_format="jsonl")
    create_job(project=world.project, user=None, kind="samples", upload=ContentFile(b'{"id": "a"}\n', "a.jsonl"))
    Endpoint.objects.create(
        project=world.project, name="LLM", base_url="https://llm.example/v1", key_source="stored",
        key_encrypted=encrypted("sk-0123456789abcdef"),
    )  # fmt: skip
    User.objects.create_user("gone").delete()
    as_user(world.alice)
    return world


@pytest.fixture
def second(django_db_setup: None) -> Iterator[str]:
    """The name of a database without a table."""
    name = f"{connection.settings_dict['NAME']}_second"
    create, drop = (sql.SQL(f"{what} DATABASE {{}}").format(sql.Identifier(name)) for what in ("CREATE", "DROP"))
    with psycopg.connect(embedded.database_url(embedded.data_dir()), autocommit=True) as session:
        session.execute(create)
        yield name
        session.execute(drop)


@contextmanager
def used(name: str) -> Iterator[None]:
    """This process works on that database."""
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


def backup(path: Path) -> dict[str, Any]:
    """Returns its manifest."""
    call_command("backup", path, stdout=io.StringIO())
    with tarfile.open(path) as tar:
        return json.load(tar.extractfile(MANIFEST))


def restore(path: Path) -> str:
    said = io.StringIO()
    call_command("restore", path, stdout=said)
    return said.getvalue()


def refusal(command: str, path: Path) -> str:
    with pytest.raises(CommandError) as refused:
        call_command(command, path, stdout=io.StringIO())
    return str(refused.value)


def _where() -> list[str]:
    at = connection.settings_dict
    return [f"--host={at['HOST']}", f"--username={at['USER']}", f"--dbname={at['NAME']}"]


def schema() -> str:
    folder, _ = embedded.postgres_programs()
    command = [folder / "pg_dump", *_where(), "--schema-only"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return "\n".join(line for line in lines if not line.startswith(("\\restrict", "\\unrestrict")))


@pytest.mark.slow
def test_what_is_restored_is_what_was_there(world: World, second: str, tmp_path: Path, settings: Any) -> None:
    path, again = tmp_path / "a.tar", tmp_path / "b.tar"
    said = io.StringIO()
    call_command("backup", path, stdout=said)
    assert "SECRET_KEY" in said.getvalue()
    assert "(now: 1)" in said.getvalue()
    tables, release, logged = schema(), Release.objects.get(), VerdictEvent.objects.count()
    assert logged
    settings.MEDIA_ROOT = tmp_path / "elsewhere"
    with used(second):
        assert refusal("backup", again) == "The database has no tables yet: there is nothing to back up."
        assert restore(path).startswith(f"{path} is restored; rows: ")
        backup(again)
        # Byte by byte, as nothing in it says when or where it was made.
        assert again.read_bytes() == path.read_bytes()
        assert schema() == tables
        with default_storage.open(release.stored_as) as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == release.manifest["sha256"]
        # The log wrote nothing by itself, and goes on; new rows have new numbers.
        assert VerdictEvent.objects.count() == logged
        note(actor=world.alice, action="x.y", subject="after", project=world.project)
        call_command("trail", "verify", stdout=io.StringIO())
        assert User.objects.create_user("new").pk == world.dora.pk + 2
    assert path.stat().st_mode & 0o777 == 0o600


def test_every_table_is_in_it(world: World, tmp_path: Path) -> None:
    kept = backup(tmp_path / "a.tar")["tables"]
    assert set(connection.introspection.table_names()) - kept.keys() == {"django_migrations", "django_session"}
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_sequences")
        assert cursor.fetchone()[0] - 1 == len([one for one in kept.values() if one["sequence"]])


def test_it_is_of_one_moment_while_people_work(world: World, tmp_path: Path) -> None:
    """A file that is written while it is read: by then the moment is chosen."""
    release = Release.objects.get()
    pipe = Path(default_storage.path(release.stored_as))
    content = pipe.read_bytes()
    before = backup(tmp_path / "before.tar")
    pipe.unlink()
    os.mkfifo(pipe)

    def work() -> None:
        with pipe.open("wb") as file:
            finish(must_take(world.chen, world.project.batches.get()))
            note(actor=world.alice, action="x", subject="y", project=world.project)
            file.write(content)

    labels = Label.objects.count()
    meanwhile, _ = concurrently(lambda: backup(tmp_path / "meanwhile.tar"), work)
    assert Label.objects.count() > labels
    assert meanwhile["files"] == before["files"]
    for kept in (before, meanwhile):
        for table in kept["tables"].values():
            # Numbers that were given meanwhile are not given again.
            table["sequence"] = None
    assert meanwhile["tables"] == before["tables"]


def test_a_file_that_is_gone_is_named(world: World, tmp_path: Path) -> None:
    job = ImportJob.objects.get()
    default_storage.delete(job.stored_as)
    LeftFile.objects.create(stored_as="releases/of-a-deleted-project.csv")
    said = io.StringIO()
    call_command("backup", tmp_path / "a.tar", stdout=io.StringIO(), stderr=said)
    assert said.getvalue() == f"Not in it, because they are no longer stored: {job.stored_as}\n"
    empty_database()
    restore(tmp_path / "a.tar")
    assert ImportJob.objects.get() == job


def test_an_installation_with_rows_is_kept(world: World, tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    backup(path)
    Label.objects.update(comment="later")
    assert "rows in " in (said := refusal("restore", path))
    assert "annotate_label (" in said
    assert set(Label.objects.values_list("comment", flat=True)) == {"later"}


@pytest.fixture
def whole(world: World, tmp_path: Path) -> Path:
    """A backup of an installation that is empty since."""
    path = tmp_path / "a.tar"
    backup(path)
    empty_database()
    for folder in ("imports", "releases"):
        for name in default_storage.listdir(folder)[1]:
            default_storage.delete(f"{folder}/{name}")
    return path


def nothing_is_there() -> bool:
    kept = {"django_migrations", "django_content_type", "auth_permission"}
    with connection.cursor() as cursor:
        for table in set(connection.introspection.table_names()) - kept:
            cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")
            if cursor.fetchone():
                return False
    return not any(default_storage.listdir(folder)[1] for folder in ("imports", "releases"))


def test_a_file_that_breaks_off_is_refused(whole: Path) -> None:
    content = whole.read_bytes()
    for end in (len(content) - 1, len(content) - 2000, len(content) // 2, 3000):
        whole.write_bytes(content[:end])
        assert "is damaged: it is not whole. What can be read ends with " in refusal("restore", whole)
    whole.write_bytes(content + b"more")
    assert "is damaged: it is not whole" in refusal("restore", whole)
    assert nothing_is_there()


def test_an_altered_byte_is_found_wherever_it_is(whole: Path) -> None:
    content = whole.read_bytes()
    with tarfile.open(whole) as tar:
        places = {member.name: (member.offset, member.offset_data, member.size) for member in tar.getmembers()}
    for name, (header, start, size) in places.items():
        # In its header: a letter of its name; and in what it holds.
        for place in (header, start + size // 2)[: 2 if size else 1]:
            whole.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            said = refusal("restore", whole)
            assert str(whole) in said
            if place != header and name not in (MANIFEST, SEAL):
                assert f"is damaged: {name} (bytes {start:,} to " in said
    assert nothing_is_there()


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "it is no tar file"), (b"PGDMP" * 1000, "it is no tar file"), (None, "it begins with “other”")],
)
def test_a_foreign_file_is_refused(db: None, tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "a.tar"
    if content is None:
        with tarfile.open(path, "w") as tar:
            tar.addfile(tarfile.TarInfo("other"))
    else:
        path.write_bytes(content)
    assert said in refusal("restore", path)
    assert "No such file" in refusal("restore", tmp_path / "b.tar")


def resealed(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The backup with another manifest that is in order."""
    with tarfile.open(path) as tar:
        members = [(member, tar.extractfile(member).read()) for member in tar]
    manifest = json.loads(members[-2][1])
    change(manifest)
    written = json.dumps(manifest).encode()
    contents = [content for _member, content in members[:-2]] + [written, hashlib.sha256(written).hexdigest().encode()]
    with path.open("wb") as file:
        for (member, _), content in zip(members, contents, strict=True):
            member.size = len(content)
            file.write(member.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512))
        file.write(bytes(1024))


@pytest.mark.slow
def test_a_backup_of_an_older_version_is_brought_up_to_date(
    transactional_db: None, second: str, tmp_path: Path
) -> None:
    """As upgrading that installation does; and one of today, still empty, gives way to its tables."""
    path = tmp_path / "old.tar"
    with used(second):
        subprocess.run(
            [embedded.postgres_programs()[0] / "psql", *_where(), "--quiet", "--no-psqlrc"],
            input=lzma.decompress(INSTALLATION.read_bytes()), check=True, capture_output=True,
        )  # fmt: skip
        old = backup(path)
        call_command("migrate", verbosity=0)
        upgraded = backup(tmp_path / "upgraded.tar")
    restore(path)
    restored = backup(tmp_path / "restored.tar")
    assert len(restored["tables"]) > len(old["tables"]) + 20
    for one in (upgraded, restored):
        # Which number Django gave to the name of a table follows from the order in which tables came.
        del one["tables"]["django_content_type"], one["tables"]["auth_permission"]
    assert restored == upgraded


def test_a_newer_backup_is_refused_with_its_version(whole: Path) -> None:
    def newer(manifest: dict[str, Any]) -> None:
        manifest["touchstone"] = "9.0"
        manifest["migrations"].append(["annotate", "9999_later"])

    resealed(whole, newer)
    said = refusal("restore", whole)
    assert "(9.0) is of a newer version of Touchstone: it has annotate.9999_later" in said
    assert nothing_is_there()


def test_what_does_not_fit_together_is_refused_and_nothing_stays(whole: Path) -> None:
    content = whole.read_bytes()
    for change, said in (
        (lambda manifest: manifest["tables"].pop("annotate_label"), "differ in tables/annotate_label"),
        (lambda manifest: manifest["files"].pop(next(iter(manifest["files"]))), "differ in files/"),
        (lambda manifest: manifest["tables"]["annotate_user"]["columns"].pop(), "not those of its migrations"),
    ):
        whole.write_bytes(content)
        resealed(whole, change)
        assert said in refusal("restore", whole)
    assert nothing_is_there()


def test_a_database_of_a_newer_version_is_neither_backed_up_nor_filled(whole: Path, tmp_path: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('annotate', '9999_later', now())")
    try:
        for command, path in (("backup", tmp_path / "b.tar"), ("restore", whole)):
            assert "The database is of a newer version of Touchstone: it has annotate.9999_later" in refusal(
                command, path
            )
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE name = '9999_later'")


def test_a_file_that_exists_stays(world: World, tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_text("mine")
    assert refusal("backup", path) == f"{path} exists already. Give another name."
    assert path.read_text() == "mine"


def test_nothing_stays_of_a_file_that_finds_no_room(world: World, tmp_path: Path) -> None:
    assert "No such file or directory" in refusal("backup", tmp_path / "out" / "a.tar")
    with room_for(64 * 1024):
        said = refusal("backup", tmp_path / "a.tar")
    assert said == f"Cannot write {tmp_path / 'a.tar'}: File too large. Nothing of it was kept."
    assert not list(tmp_path.glob("a.tar*"))


def test_nothing_is_restored_when_a_stored_file_finds_no_room(whole: Path) -> None:
    with room_for(10):
        assert "can't be restored: [Errno 27] File too large. Nothing was kept." in refusal("restore", whole)
    assert nothing_is_there()


_KILLED = """
import os, signal, sys, django
django.setup()
from django.conf import settings
from django.core.management import call_command
settings.MEDIA_ROOT = sys.argv[1]
os.sync = lambda: os.kill(os.getpid(), signal.SIGKILL)
call_command("restore", sys.argv[2])
"""


def test_a_restore_that_is_killed_in_the_end_can_be_run_again(whole: Path, tmp_path: Path, settings: Any) -> None:
    """Rows are loaded and files in place; only the commit is missing."""
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, settings.MEDIA_ROOT, whole], cwd=settings.BASE_DIR, env=environment()
    )
    assert done.returncode == -signal.SIGKILL
    assert not Project.objects.exists()
    restore(whole)
    backup(tmp_path / "b.tar")
    assert (tmp_path / "b.tar").read_bytes() == whole.read_bytes()
