"""The pages for one's own data, and for the end of an account."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotate.models import Project, User
from annotate.projects.write import set_member
from frontend.account.personal_data import _read
from tests.clients import as_user

pytestmark = pytest.mark.django_db


def told(reply: Any) -> Any:
    return json.loads(b"".join(reply.streaming_content))


def test_everyone_gets_their_own(alice: User, ben: User) -> None:
    reply = as_user(ben).get("/account/data/?username=alice")
    assert reply["Content-Disposition"] == 'attachment; filename="touchstone-ben.json"'
    assert "no-store" in reply["Cache-Control"]
    assert Client().get("/account/data/").status_code == 302
    assert b"/account/data/" in as_user(ben).get("/account/").content
    assert told(reply)["account"]["username"] == "ben"


def test_the_file_is_written_where_uploads_are(ben: User, settings: Any, tmp_path: Path) -> None:
    """The system's own folder may be memory, and a file may be large."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    pieces = _read(ben)
    next(pieces)
    opened = [os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    assert any(one.startswith(f"{tmp_path}/") for one in opened)
    pieces.close()


def test_only_superusers_delete(alice: User, ben: User) -> None:
    page = f"/accounts/{ben.username}/delete/"
    assert Client().get(page).status_code == 302
    for client in (as_user(alice), as_user(ben)):
        assert client.get(page).status_code == 404
        assert client.post(page, {"confirm": "ben"}).status_code == 404
    assert User.objects.filter(username="ben").exists()


def test_a_superuser_deletes(alice: User, ben: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    browser = as_user(alice)
    page = "/accounts/ben/delete/"
    assert browser.get("/accounts/nobody/delete/").status_code == 404
    assert b"Kept under a pseudonym" in browser.get(page).content
    assert browser.post(page, {"confirm": "BEN"}).status_code == 422
    assert User.objects.filter(username="ben").exists()
    reply = browser.post(page, {"confirm": "ben"}, follow=True)
    assert b"Account deleted" in reply.content
    assert not User.objects.filter(username="ben").exists()
    # The last superuser can't go.
    refused = browser.get("/accounts/alice/delete/")
    assert b"last superuser" in refused.content
    assert browser.post("/accounts/alice/delete/", {"confirm": "alice"}).status_code == 409


def test_a_superuser_who_deletes_themselves_is_logged_out(alice: User, ben: User) -> None:
    User.objects.filter(pk__in=[alice.pk, ben.pk]).update(is_superuser=True)
    browser = as_user(ben)
    assert browser.post("/accounts/ben/delete/", {"confirm": "ben"}).status_code == 302
    assert browser.get("/account/").status_code == 302


def test_the_members_page_leads_there_for_superusers(alice: User, ben: User) -> None:
    project = Project.objects.create(slug="p", name="P")
    for user in (alice, ben):
        set_member(project=project, user=user, role="admin")
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    assert b"/accounts/ben/delete/" in as_user(alice).get("/p/p/members/").content
    assert b"/accounts/" not in as_user(ben).get("/p/p/members/").content
