"""What is made ready before anything is served: no stranger meets accounts whose passwords are published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotate.demo import DEMO_LOGINS
from annotate.models import Project, User
from config import prepare

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_static_files(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "static"


@pytest.mark.parametrize(
    "given",
    [{"DEMO": "none"}, {"HOST": "0.0.0.0"}, {"HOST": "::"}, {"HOST": "192.0.2.7"}, {"HOST": "here.example.org"}],
)
def test_no_demo(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    prepare.main()
    assert not User.objects.exists()
    assert not Project.objects.exists()


def test_no_demo_in_production(settings: Any) -> None:
    settings.PRODUCTION = True
    prepare.main()
    assert not User.objects.exists()


def test_no_demo_where_somebody_works_already() -> None:
    User.objects.create_user("sam")
    prepare.main()
    assert not Project.objects.exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_addresses_of_this_machine_alone(host: str) -> None:
    assert prepare.is_loopback(host)


def test_no_start_for_others_with_a_password_that_everybody_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for _role, name, password in DEMO_LOGINS:
        User.objects.create_user(name, password=password)
    prepare.main()
    monkeypatch.setenv("HOST", "0.0.0.0")
    with pytest.raises(SystemExit, match="alma, ana, remy"):
        prepare.main()
    for user in User.objects.all():
        user.set_password(f"{user.username}'s own")
        user.save()
    prepare.main()
