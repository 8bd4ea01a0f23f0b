"""What is of no more use goes after its time, and nothing else does."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import models
from django.utils import timezone

from annotate.core.attempts import CONFIRMED, count
from annotate.files.import_jobs import create_job
from annotate.files.import_queue import has_file
from annotate.files.retention import look_for_old, old, remove_half_written, remove_old
from annotate.members.resets import create_reset
from annotate.members.write import create_invite, revoke_invite
from annotate.models import ApiToken, AuditEntry, ImportJob, Invite, Label, LabelEvent, PasswordReset, Release, Verdict
from annotate.projects.accounts import make_token
from tests.annotate.factories import World, finish, make_samples
from tests.clients import as_user

pytestmark = pytest.mark.django_db
KEPT: tuple[type[models.Model], ...] = (AuditEntry, ImportJob, Label, LabelEvent, Release, Verdict)


def after(days: float) -> datetime:
    return timezone.now() + timedelta(days=days)


@pytest.fixture
def things(world: World) -> World:
    """One of each sort, and labels."""
    make_samples(world.project, 1)
    finish(world.batch(annotators=[world.ben], overlap=1).tasks.get())
    create_invite(actor=world.alice, project=world.project, role="annotator", days=1)
    revoked, _token = create_invite(actor=world.alice, project=world.project, role="annotator", days=90)
    revoke_invite(actor=world.alice, project=world.project, invite_id=revoked.pk)
    create_invite(actor=world.alice, project=world.project, role="annotator", days=90)
    create_reset(actor=world.alice, project=world.project, user=world.ann)
    make_token(actor=world.ann, days=1)
    make_token(actor=world.ben, days=90)
    as_user(world.ann)
    count({"somebody's": CONFIRMED})
    file = SimpleUploadedFile("rows.csv", b"id,question,answer\n1,q,a\n")
    create_job(project=world.project, user=world.alice, kind="samples", upload=file, mapping={})
    return world


def test_nothing_goes_before_its_time(things: World) -> None:
    assert not any(remove_old().values())


@pytest.mark.parametrize(
    ("days", "gone"),
    [
        (6.9, {"sessions": 1, "counts of attempts": 1}),
        (7.1, {"sessions": 1, "counts of attempts": 1, "uploaded files": 1}),
        (30.1, {"sessions": 1, "counts of attempts": 1, "uploaded files": 1, "invitations": 1}),
        (
            31.1,
            {
                "sessions": 1,
                "counts of attempts": 1,
                "uploaded files": 1,
                "invitations": 2,
                "reset links": 1,
                "API tokens": 1,
            },
        ),
    ],
)
def test_each_goes_after_its_time(things: World, days: float, gone: dict[str, int]) -> None:
    before = [model._default_manager.count() for model in KEPT]
    found = remove_old(after(days))
    assert {name: number for name, number in found.items() if number} == gone
    assert [model._default_manager.count() for model in KEPT] == before
    assert Invite.objects.filter(revoked_at=None, expires_at__gt=after(60)).exists()
    assert ApiToken.objects.filter(user=things.ben).exists()
    assert has_file(ImportJob.objects.get()) == (days < 7)
    assert not any(remove_old(after(days)).values())


def test_an_import_that_waits_keeps_its_file(things: World) -> None:
    ImportJob.objects.update(status="waiting")
    assert remove_old(after(400))["uploaded files"] == 0
    assert has_file(ImportJob.objects.get())


def test_more_than_a_piece(things: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotate.files.retention._PIECE", 2)
    Session.objects.bulk_create(Session(session_key=f"k{n}", session_data="", expire_date=after(-1)) for n in range(5))
    assert remove_old()["sessions"] == 5


def test_as_the_settings_say(things: World, settings: Any) -> None:
    settings.KEEP_UPLOADS_DAYS, settings.KEEP_ENDED_ACCESS_DAYS = 100, 0
    assert old(after(2))["uploaded files"].count() == 0
    assert old(after(2))["reset links"].count() == 1


def test_by_command_and_by_the_worker(things: World, capsys: Any) -> None:
    PasswordReset.objects.update(expires_at=after(-31))
    call_command("retention", "--dry-run")
    assert "reset links: 1" in capsys.readouterr().out
    assert PasswordReset.objects.exists()
    look_for_old()
    assert not PasswordReset.objects.exists()
    call_command("retention")
    assert "reset links: 0" in capsys.readouterr().out


def test_what_a_killed_process_left_half_written_goes_after_a_week(db: None, tmp_path: Path, settings: Any) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    for name in ("of-a-release/release", "still-written/release"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("half")
    (tmp_path / "upload").write_text("half")
    week_ago = after(-7.1).timestamp()
    for path in [*tmp_path.rglob("*")]:
        os.utime(path, (week_ago, week_ago))
    os.utime(tmp_path / "still-written/release")
    remove_half_written()
    assert sorted(tmp_path.iterdir()) == [tmp_path / "still-written"]
