"""Files in parts: each whole or not at all, at one place only, by one project's people; and what ends them."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotate.core import stored
from annotate.files import uploads
from annotate.files.import_queue import join_parts, run_job
from annotate.models import AuditEntry, ImportJob, Sample
from annotate.projects.accounts import make_token
from tests.annotate.factories import World, make_world
from tests.clients import as_user
from tests.disk import room_for

URL = "/api/projects/desk/uploads/"
ROWS = [{"id": f"kb-{n}", "question": f"Which port has service {n}?", "answer": f"Port {8000 + n}."} for n in range(9)]
FILE = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
THIRDS = [FILE[at : at + 250] for at in range(0, len(FILE), 250)]


@pytest.fixture(autouse=True)
def _media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


def metadata(**said: str) -> str:
    return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in said.items())


def begin(client: Client, size: int | str = len(FILE), url: str = URL, said: str | None = None, **more: str) -> Any:
    named = metadata(kind="samples", filename="build.jsonl", **more) if said is None else said
    headers = {"Upload-Length": str(size), "Upload-Metadata": named, "Tus-Resumable": "1.0.0"}
    return client.generic("POST", url, headers=headers)


def begun(world: World, **more: str) -> str:
    reply = begin(as_user(world.alice), **more)
    assert reply.status_code == 201, reply.content
    where: str = reply["Location"].removeprefix("http://testserver")
    assert where == f"{URL}{reply.json()['id']}/"
    assert (reply.json()["status"], reply["Upload-Offset"]) == ("arriving", "0")
    return where


def send(client: Client, where: str, part: bytes, offset: int | str, **headers: str) -> Any:
    sent = {"Upload-Offset": str(offset), "Tus-Resumable": "1.0.0", **headers}
    return client.patch(where, part, content_type="application/offset+octet-stream", headers=sent)


def checksum(part: bytes, name: str = "sha256") -> dict[str, str]:
    return {"Upload-Checksum": f"{name} {base64.b64encode(hashlib.new(name, part).digest()).decode()}"}


def job_at(where: str) -> ImportJob:
    return ImportJob.objects.get(pk=where.rstrip("/").rpartition("/")[2])


@pytest.mark.parametrize("name", ["../../etc/build.jsonl", "/etc/build.jsonl", "a/../build.jsonl"])
def test_a_file_name_is_never_a_path(world: World, name: str) -> None:
    """Of a form Django takes the path off; what a client of tus says comes as it is."""
    reply = begin(as_user(world.alice), said=metadata(kind="samples", filename=name))
    assert reply.status_code == 201
    assert ImportJob.objects.get(pk=reply.json()["id"]).file_name == "build.jsonl"


def content_of(where: str) -> bytes:
    """Of the parts that are there, in their order."""
    return b"".join(read(part.stored_as) for part in job_at(where).parts.order_by("start"))


def read(name: str) -> bytes:
    with stored.open_file(name) as file:
        return file.read()


def files() -> set[str]:
    return {path.name for path in Path(settings.MEDIA_ROOT).glob("imports/*")}


def code(reply: Any) -> str:
    return str(reply.json()["error"]["code"])


def test_a_file_comes_in_parts_and_is_imported(world: World) -> None:
    client, where, at = as_user(world.alice), begun(world, version="v7"), 0
    for part in THIRDS:
        assert job_at(where).status == "arriving"
        reply = send(client, where, part, at, **checksum(part))
        at += len(part)
        assert (reply.status_code, reply["Upload-Offset"], reply.content) == (204, str(at), b"")
    job = job_at(where)
    assert (job.status, content_of(where), len(files())) == ("waiting", FILE, len(THIRDS))
    join_parts(job)
    assert ([job.stored_as], read(job.stored_as)) == ([f"imports/{name}" for name in files()], FILE)
    run_job(job.pk)
    assert files() == set()
    shown = client.get(f"/api/projects/desk/imports/{job.pk}/").json()
    assert (shown["status"], shown["result"]["created"], shown["options"]) == ("done", 9, {"version": "v7"})
    assert Sample.objects.filter(external_id="kb-3@v7", pipeline_version="v7").exists()
    # A client that lost the last reply asks, and sees that it is whole.
    asked = client.head(where)
    assert (asked.status_code, asked["Upload-Offset"], asked["Cache-Control"]) == (200, str(len(FILE)), "no-store")
    assert code(send(client, where, b"x", len(FILE))) == "whole"


def test_after_a_broken_connection_it_goes_on_where_it_was(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    send(client, where, FILE[:100], 0)
    asked = client.head(where)
    assert (asked["Upload-Offset"], asked["Upload-Length"]) == ("100", str(len(FILE)))
    assert "Upload-Expires" in asked
    send(client, where, FILE[100:], 100)
    assert content_of(where) == FILE


def test_a_part_twice_or_out_of_order_changes_nothing(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    assert send(client, where, FILE[:100], 0).status_code == 204
    for offset in (0, 50, 101, len(FILE)):
        reply = send(client, where, FILE[:100], offset)
        assert (reply.status_code, code(reply), reply.json()["received"]) == (409, "wrong_offset", 100)
    assert (job_at(where).received, content_of(where), len(files())) == (100, FILE[:100], 1)


def test_an_altered_part_is_not_kept(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    for name in ("sha256", "sha1"):
        reply = send(client, where, FILE[:100], 0, **checksum(FILE[:99], name))
        assert (reply.status_code, code(reply)) == (460, "wrong_checksum")
    assert client.head(where)["Upload-Offset"] == "0"
    for said in ("md5 AAAA", "sha256 no-base64", "sha256"):
        reply = send(client, where, FILE[:100], 0, **{"Upload-Checksum": said})
        assert reply.status_code in (422, 460), said
    assert send(client, where, FILE, 0, **checksum(FILE, "sha1")).status_code == 204


def test_neither_more_than_announced_nor_a_file_beyond_the_limit(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    reply = send(client, where, FILE + b"\n", 0)
    assert (reply.status_code, code(reply)) == (413, "more_than_announced")
    assert code(begin(client, settings.IMPORT_MAX_FILE_BYTES + 1)) == "too_large"
    assert job_at(where).received == 0


@pytest.mark.parametrize("size", ["", "0", "-1", "1.5", "٣", "1" * 19])
def test_a_size_that_is_none(world: World, size: str) -> None:
    reply = begin(as_user(world.alice), size)
    assert (reply.status_code, code(reply)) == (422, "bad_header")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", "unknown_kind"),
        (metadata(kind="cats"), "unknown_kind"),
        (metadata(kind="samples", colour="red"), "bad_metadata"),
        (metadata(kind="samples") + "," + metadata(kind="samples"), "bad_metadata"),
        ("kind samples", "bad_header"),
        ("kind /w==", "bad_metadata"),
        (metadata(kind="samples", mapping="[]"), "invalid_mapping"),
        (metadata(kind="samples", version="v@7"), "bad_version"),
        (metadata(kind="samples", set="ports"), "unknown_option"),
        (metadata(kind="questions"), "bad_set_name"),
    ],
)
def test_what_is_said_of_a_file_is_checked_before_it_comes(world: World, said: str, expected: str) -> None:
    reply = begin(as_user(world.alice), said=said)
    assert (reply.status_code, code(reply)) == (422, expected)
    assert not ImportJob.objects.exists()


def test_what_no_client_of_this_protocol_sends(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    old = send(client, where, b"x", 0, **{"Tus-Resumable": "0.2.2"})
    assert (old.status_code, code(old)) == (412, "other_version")
    assert client.patch(where, b"x", content_type="application/json", headers={"Upload-Offset": "0"}).status_code == 415
    for offset in ("", "-1", "x"):
        assert code(send(client, where, b"x", offset)) == "bad_header"
    assert send(client, where, b"", 0).status_code == 204
    asked = client.head(where)
    assert (asked["Tus-Version"], asked["Tus-Max-Size"]) == ("1.0.0", str(settings.IMPORT_MAX_FILE_BYTES))
    assert asked["Tus-Extension"] == "creation,expiration,checksum,termination"


def test_a_file_with_a_part_missing_is_not_imported(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    send(client, where, FILE[:100], 0)
    job = job_at(where)
    for step in ("start", "preview"):
        reply = client.post(f"/api/projects/desk/imports/{job.pk}/{step}/", {}, content_type="application/json")
        assert (reply.status_code, code(reply)) == (409, "not_whole")
    page = client.get(f"/p/desk/import/{job.pk}/").content.decode()
    assert "Uploading" in page
    assert "Start again" not in page


def test_there_is_no_preview_before_the_parts_are_one_file(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    assert send(client, where, FILE, 0).status_code == 204
    job = job_at(where)
    assert not job.stored_as
    reply = client.post(f"/api/projects/desk/imports/{job.pk}/preview/", {}, content_type="application/json")
    assert (reply.status_code, code(reply)) == (409, "not_joined")
    assert client.get(f"/p/desk/import/{job.pk}/").status_code == 200


def test_it_is_no_upload_of_another_project_or_person(world: World) -> None:
    where = begun(world)
    elsewhere = where.replace("/desk/", f"/{world.other.slug}/")
    for who, at, status in (
        (world.dora, elsewhere, 404),
        (world.dora, where, 404),
        (world.rita, where, 403),
        (world.ann, where, 403),
    ):
        client = as_user(who)
        replies = [client.head(at), send(client, at, FILE, 0), client.delete(at)]
        assert {reply.status_code for reply in replies} <= {status, 403 if at == elsewhere else status}
    # An import that came at once is none either.
    job = ImportJob.objects.create(project=world.project, kind="samples", file_name="f", file_format="jsonl")
    assert as_user(world.alice).head(f"{URL}{job.pk}/").status_code == 404
    assert job_at(where).received == 0


@pytest.mark.parametrize(("scopes", "status"), [(["read", "label"], 403), (["push"], 204), (["admin"], 204)])
def test_a_token_needs_the_scope_push(world: World, scopes: list[str], status: int) -> None:
    where = begun(world)
    _stored, token = make_token(actor=world.alice, scopes=scopes)
    client = Client(headers={"Authorization": f"Token {token}"})
    assert send(client, where, FILE, 0).status_code == status
    assert begin(client).status_code == (403 if status == 403 else 201)


def test_so_many_parts_and_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_PARTS", 2)
    client, where = as_user(world.alice), begun(world)
    replies = [send(client, where, FILE[at : at + 1], at) for at in range(3)]
    assert [reply.status_code for reply in replies] == [204, 204, 409]
    assert (code(replies[2]), content_of(where), len(files())) == ("too_many_parts", FILE[:2], 2)


def test_so_many_are_unfinished_at_once_and_one_can_be_given_up(world: World) -> None:
    client = as_user(world.alice)
    found = [begun(world) for _ in range(uploads.MOST_UNFINISHED)]
    reply = begin(client)
    assert (reply.status_code, code(reply)) == (409, "too_many_uploads")
    send(client, found[0], FILE[:100], 0)
    assert len(files()) == 1
    assert client.delete(found[0]).status_code == 204
    assert files() == set()
    assert client.head(found[0]).status_code == 404
    assert begin(client).status_code == 201


def test_what_is_not_gone_on_with_expires(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    send(client, where, FILE[:100], 0)
    fresh = begun(world)
    ImportJob.objects.filter(pk=job_at(where).pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    reply = send(client, where, FILE[100:], 100)
    assert (reply.status_code, code(reply)) == (410, "expired")
    uploads.end_expired()
    job = job_at(where)
    assert (job.status, job.errors[0]["code"], files()) == ("failed", "expired", set())
    assert job_at(fresh).status == "arriving"
    assert AuditEntry.objects.filter(action="import.failed", subject="build.jsonl").count() == 1


def test_a_full_disk_is_said_and_the_part_can_come_again(world: World) -> None:
    client, where = as_user(world.alice), begun(world)
    client.raise_request_exception = False
    send(client, where, FILE[:400], 0)
    with room_for(300):
        reply = send(client, where, FILE[400:], 400)
    assert (reply.status_code, code(reply)) == (507, "no_room")
    assert client.head(where)["Upload-Offset"] == "400"
    assert send(client, where, FILE[400:], 400).status_code == 204
    assert content_of(where) == FILE


@pytest.mark.django_db(transaction=True)
def test_of_parts_sent_twice_at_once_one_is_taken() -> None:
    world = make_world()
    where, count = begun(world), 8
    together, found = threading.Barrier(count), []

    def sent() -> None:
        client = as_user(world.alice)
        together.wait()
        found.append(send(client, where, FILE, 0).status_code)
        connection.close()

    threads = [threading.Thread(target=sent) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [204] + [409] * (count - 1)
    assert content_of(where) == FILE
