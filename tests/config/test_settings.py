"""A wrong setting stops the start with a sentence that names the variable; a right one passes every check."""

import os
import re
import runpy
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.config.conftest import ROOT, Run

PRODUCTION = {
    "TOUCHSTONE_ENV": "production",
    "SECRET_KEY": "Zq4-vR8_tY2mKx7Lw0pNs5Jd9Hb3Gf6Cc1Ae8Uo4Ii7Ee2Qq5Ww9Rr3Tt6Yy",
    "ALLOWED_HOSTS": "touchstone.example.org",
    "DATABASE_URL": "postgresql://touchstone:pw@db:5432/touchstone",
    "REDIS_URL": "redis://redis:6379/0",
}
Load = Callable[..., dict[str, Any]]


@pytest.fixture
def load(bare: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Load:
    """`load(PORT="1")`: what config/settings.py says, run anew with these variables and no others."""

    def load(**variables: str) -> dict[str, Any]:
        with monkeypatch.context() as patch:
            for name in os.environ:
                patch.delenv(name)
            for name, value in {**bare, **variables}.items():
                patch.setenv(name, value)
            return runpy.run_path(str(ROOT / "config" / "settings.py"))

    return load


def test_production_starts_with_all_that_it_needs(run: Run) -> None:
    assert run("-c", "import config.settings", **PRODUCTION).returncode == 0


@pytest.mark.parametrize("name", ["SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "REDIS_URL"])
def test_production_refuses_to_start_without(load: Load, name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^The environment variable {name} is not set, and "):
        load(**{**PRODUCTION, name: ""})


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SECRET_KEY": "django-insecure-" + "x1y2z3w4v5" * 5}, "SECRET_KEY looks like a sample or is too short"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY looks like a sample or is too short"),
        ({"SECRET_KEY": "ab" * 40}, "SECRET_KEY looks like a sample or is too short"),
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS contains '*'"),
        ({"S3_BUCKET": "b", "S3_SECRET_ACCESS_KEY": "u:secret"}, "_ACCESS_KEY is set, but S3_ACCESS_KEY_ID is not"),
        ({"DEBUG": "true"}, "DEBUG is true, but TOUCHSTONE_ENV is production"),
        ({"TOUCHSTONE_ENV": "prod"}, "TOUCHSTONE_ENV is 'prod', but should be one of local, production"),
        ({"CONN_MAX_AGE": "soon"}, "CONN_MAX_AGE is 'soon', but should be a whole number from 0 to 86400"),
        ({"METRICS_TOKEN": "u:secret"}, "METRICS_TOKEN is too short"),
        ({"TOKEN_DAYS": "0"}, "TOKEN_DAYS is '0', but should be a whole number from 1 to 3650"),
        ({"SECURE_SSL_REDIRECT": "maybe"}, "SECURE_SSL_REDIRECT is 'maybe', but should be one of true, false"),
        ({"DATABASE_URL": "mysql://u:secret@h/d"}, "DATABASE_URL is not a URL of the form postgresql://"),
        ({"DATABASE_URL": "postgresql://u:secret@h:port/d"}, "DATABASE_URL cannot be read"),
        (
            {"DATABASE_POOLER_URL": "pgbouncer://u:secret@h/d"},
            "DATABASE_POOLER_URL is not a URL of the form postgresql",
        ),
        ({"REDIS_URL": "localhost:6379"}, "REDIS_URL is not a URL of the form redis://"),
        ({"EMAIL_URL": "mail.example.org"}, "EMAIL_URL is not a URL of the form console://"),
        ({"EMAIL_URL": "smtp+tls://u:secret@:587"}, "EMAIL_URL cannot be read"),
        ({"EMAIL_URL": "smtp://u:secret@host:many"}, "EMAIL_URL cannot be read"),
        ({"EMAIL_URL": "smtp+tls://u:secret@host"}, "PUBLIC_URL is not set, and mails need it for their links"),
        ({"OIDC_ISSUER": "http://id.example.org"}, "OIDC_ISSUER is not a URL of the form https://"),
        ({"OIDC_ISSUER": "https://id.example.org"}, "OIDC_CLIENT_ID is not set, and the provider asks"),
        ({"OIDC_ROLES": "staff=desk:boss"}, "OIDC_ROLES is 'staff=desk:boss', but should be group=project:role"),
        ({"OIDC_ROLES": "desk:admin"}, "OIDC_ROLES is 'desk:admin', but should be group=project:role"),
        ({"PASSWORD_LOGIN": "false"}, "PASSWORD_LOGIN is false, but OIDC_ISSUER is not set"),
        ({"JUDGE_SECRET_KEYS": "u:secret"}, "JUDGE_SECRET_KEYS holds something that is no key"),
        ({"PUBLIC_URL": "touchstone.example.org"}, "PUBLIC_URL is not a URL of the form https://"),
    ],
)
def test_wrong_values_are_named(load: Load, variables: dict[str, str], message: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        load(**{**PRODUCTION, **variables})
    assert message in str(refusal.value)
    assert "u:secret" not in str(refusal.value), "a password in an error message"


def test_deploy_checks_find_nothing(run: Run) -> None:
    done = run("manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert done.returncode == 0, done.stderr


def test_cookies_of_production_are_bound_to_the_host(load: Load) -> None:
    settings = load(**PRODUCTION)
    assert settings["SESSION_COOKIE_NAME"] == "__Host-touchstone-session"
    assert settings["CSRF_COOKIE_NAME"] == "__Host-touchstone-csrf"
    assert settings["SESSION_COOKIE_SECURE"] is True


def test_each_installation_has_its_own_secret_key(load: Load, tmp_path) -> None:
    first, again, other = (load(**where)["SECRET_KEY"] for where in ({}, {}, {"DATA_DIR": str(tmp_path)}))
    assert len(first) > 50
    assert first == again != other
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_celery_takes_json_only(run: Run) -> None:
    script = "from config.celery import app; print(app.conf.accept_content, app.conf.task_serializer)"
    assert run("-c", script).stdout.strip() == "['json'] json"


def test_the_mail_server_of_a_url(load: Load) -> None:
    names = ("HOST", "PORT", "USE_TLS", "USE_SSL", "HOST_USER", "HOST_PASSWORD")

    def mail_server(settings: dict[str, Any]) -> list[Any]:
        return [settings["EMAIL_BACKEND"].split(".")[-2], *(settings[f"EMAIL_{name}"] for name in names)]

    given = {**PRODUCTION, "PUBLIC_URL": "https://t.example.org/"}
    sent = load(**given, EMAIL_URL="smtp+tls://me%40example.org:p%3Aw@mail.example.org")
    assert mail_server(sent) == ["smtp", "mail.example.org", 587, True, False, "me@example.org", "p:w"]
    assert sent["PUBLIC_URL"] == "https://t.example.org"
    sealed = load(**given, EMAIL_URL="smtp+ssl://mail.example.org")
    assert mail_server(sealed)[:5] == ["smtp", "mail.example.org", 465, False, True]
    assert mail_server(load(PORT="8123"))[0] == "console"


def test_groups_and_their_roles(load: Load) -> None:
    given = load(OIDC_ROLES="/qa team=desk:annotator, cn=leads=next-door:reviewer")["OIDC_ROLES"]
    assert given == [("/qa team", "desk", "annotator"), ("cn=leads", "next-door", "reviewer")]


def test_a_unix_socket_for_redis_is_spelled_as_celery_wants_it(load: Load) -> None:
    assert load(REDIS_URL="unix:///run/r.sock?db=3")["CELERY_BROKER_URL"] == "redis+socket:///run/r.sock?virtual_host=3"


def test_web_alone_goes_through_a_pooler(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"DATABASE_URL": "postgresql://u@db/d", "DATABASE_POOLER_URL": "postgresql://u@pooler:6432/d"}
    monkeypatch.delitem(sys.modules, "config.wsgi", raising=False)
    directly = load(**given)
    monkeypatch.setitem(sys.modules, "config.wsgi", os)
    pooled, unpooled = load(**given), load(DATABASE_URL=given["DATABASE_URL"])
    found = [
        (one["DATABASE_POOLED"], one["DATABASES"]["default"]["HOST"], "prepare_threshold" in _options(one))
        for one in (directly, pooled, unpooled)
    ]
    assert found == [(False, "db", True), (True, "pooler", False), (False, "db", True)]


def _options(found: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = found["DATABASES"]["default"]["OPTIONS"]
    return options


def test_files_in_an_object_store(load: Load) -> None:
    key = {"S3_ACCESS_KEY_ID": "k", "S3_SECRET_ACCESS_KEY": "s"}
    assert load()["STORAGES"]["default"] == {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    found = load(S3_BUCKET="files", S3_ENDPOINT_URL="https://s3.example", S3_PREFIX="/here/", **key)["STORAGES"]
    wanted = {"bucket_name": "files", "location": "here", "endpoint_url": "https://s3.example", "region_name": None}
    wanted |= {"addressing_style": "path", "access_key": "k", "secret_key": "s"}
    assert found["default"]["OPTIONS"] == wanted
    assert load(S3_BUCKET="files")["STORAGES"]["default"]["OPTIONS"]["addressing_style"] == "auto"


def test_every_variable_is_documented_and_every_documented_one_exists(root) -> None:
    pattern = re.compile(
        r"""env\.(?:text|required|flag|number|choice|names|roles_of_groups|fernet_keys|url|folder|optional_folder)\(\s*["']([A-Z0-9_]+)["']"""
    )
    used = {
        name
        for path in [root / "manage.py", *(root / "config").glob("*.py")]
        for name in pattern.findall(path.read_text())
    }
    # Those that only `make`, the image's build, and what brings programs for tests know.
    used |= {"PYTHON", "WITH", "CHROMIUM", "PGBOUNCER"}
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", (root / "docs" / "settings.md").read_text(), re.MULTILINE))
    assert used == documented


def test_the_command_line_says_it_in_one_line(run: Run) -> None:
    for command in ("check", "align", "collectstatic"):
        done = run("manage.py", command, **{**PRODUCTION, "TOKEN_DAYS": "0"})
        assert done.returncode == 1
        assert done.stderr.startswith("manage.py: The environment variable TOKEN_DAYS is '0'"), done.stderr
        assert done.stderr.count("\n") == 1
