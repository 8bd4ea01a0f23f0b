"""What hostile requests are held against notices what it is there for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from annotate.models import ApiToken, ImportJob, Project, Release, User
from tests.hostile.conftest import forget, nothing_stored
from tests.hostile.outside import Outside

pytestmark = pytest.mark.django_db


def _mint() -> None:
    ApiToken.objects.create(user=User.objects.get(username="ana"))


def _widen() -> None:
    ApiToken.objects.filter(user__username="ana").update(scopes=["read"])


def _log_in() -> None:
    SessionStore().create()


def _start_an_import() -> None:
    ImportJob.objects.create(project=Project.objects.get(slug="demo"), kind="samples", file_name="x", status="waiting")


@pytest.mark.parametrize("change", [_mint, _widen, _log_in, _start_an_import])
def test_it_notices(outside: Outside, change: Callable[[], None]) -> None:
    forget()
    with pytest.raises(AssertionError), nothing_stored():
        change()
    forget()


def test_it_notices_another_content(outside: Outside) -> None:
    release = Release.objects.get()
    with default_storage.open(release.stored_as) as file:
        content = file.read()

    def store(new: bytes) -> None:
        default_storage.delete(release.stored_as)
        default_storage.save(release.stored_as, ContentFile(new))

    forget()
    with pytest.raises(AssertionError), nothing_stored():
        store(content + b" ")
    store(content)
    forget()


def test_using_a_token_changes_nothing(outside: Outside) -> None:
    forget()
    with nothing_stored():
        assert ApiToken.objects.update(last_used=timezone.now())
    forget()
