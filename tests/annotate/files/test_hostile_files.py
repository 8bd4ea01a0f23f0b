"""Whatever is wrong with a file: a clear refusal that names the place, and nothing is written. Command line and API."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from annotate.models import Project, Sample
from tests.annotate.files.hostile import FILES, Hostile
from tests.annotate.files.jobs import imported


@pytest.mark.parametrize("hostile", FILES, ids=str)
def test_command_line(hostile: Hostile, project: Project, write: Callable[..., Path]) -> None:
    path = write(hostile.file_name, hostile.make())
    stderr = io.StringIO()

    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_samples", "p", str(path), stderr=stderr)

    first = stderr.getvalue().splitlines()[0]
    assert f": {hostile.code}: " in first
    if hostile.row:
        assert f"row {hostile.row}" in first
    if hostile.field:
        assert f"field {hostile.field}" in first
    assert len(first) < 600
    assert not Sample.objects.exists()


@pytest.mark.parametrize("hostile", FILES, ids=str)
def test_api(hostile: Hostile, api: APIClient) -> None:
    upload = SimpleUploadedFile(hostile.file_name, hostile.make())

    reply = api.post("/api/projects/p/imports/", {"file": upload, "kind": "samples"}, format="multipart")

    if hostile.name == "empty":  # the upload itself is refused
        assert 400 <= reply.status_code < 500
        return
    assert reply.status_code in (202, 422), reply.content[:500]
    assert reply["Content-Type"] == "application/json"
    assert reply["X-Content-Type-Options"] == "nosniff"
    job = imported(api, reply)
    assert (job["status"], job["can_start"]) == ("failed", True)
    error = job["errors"][0]
    assert error["code"] == hostile.code
    assert job["error_count"] >= 1
    if hostile.row:
        assert error["row"] == hostile.row
    if hostile.field:
        assert error["field"] == hostile.field
    assert len(error["excerpt"]) <= 80
    assert not Sample.objects.exists()


@pytest.mark.parametrize("hostile", [one for one in FILES if one.code == "nul" and one.row is None], ids=str)
def test_a_preview_says_what_is_wrong_with_the_header(hostile: Hostile, api: APIClient) -> None:
    upload = SimpleUploadedFile(hostile.file_name, hostile.make())
    asked = {"file": upload, "kind": "samples", "preview": "1"}

    (error,) = api.post("/api/projects/p/imports/", asked, format="multipart").json()["preview"]["errors"]

    assert (error["code"], error["field"]) == (hostile.code, hostile.field)


def test_all_errors_are_counted_and_a_hundred_are_shown(api: APIClient) -> None:
    upload = SimpleUploadedFile("a.jsonl", b'{"question": "q", "answer": 1}\n' * 250)

    reply = api.post("/api/projects/p/imports/", {"file": upload, "kind": "samples"}, format="multipart").json()

    assert reply["error_count"] == 250
    assert [error["row"] for error in reply["errors"]] == list(range(1, 101))


def test_a_late_error_leaves_nothing_of_what_was_copied_before(project: Project, write: Callable[..., Path]) -> None:
    rows = [{"id": str(i), "question": "q", "answer": "x"} for i in range(9000)] + [{"id": "z", "answer": "x"}]

    with pytest.raises(CommandError):
        call_command("import_samples", "p", str(write("a.jsonl", rows)), stderr=io.StringIO())

    assert not Sample.objects.exists()
    call_command("import_samples", "p", str(write("a.jsonl", rows[:-1])), stdout=io.StringIO())
    assert Sample.objects.count() == 9000
