"""A wrong setting stops the start with a sentence that names the variable; a right one passes every check."""

import re

import pytest

from tests.config.conftest import Run

ROOT_CAUSE = "django.core.exceptions.ImproperlyConfigured"
PRODUCTION = {
    "TOUCHSTONE_ENV": "production",
    "SECRET_KEY": "Zq4-vR8_tY2mKx7Lw0pNs5Jd9Hb3Gf6Cc1Ae8Uo4Ii7Ee2Qq5Ww9Rr3Tt6Yy",
    "ALLOWED_HOSTS": "touchstone.example.org",
    "DATABASE_URL": "postgresql://touchstone:pw@db:5432/touchstone",
    "REDIS_URL": "redis://redis:6379/0",
}
LOAD = ("-c", "import config.settings")


def test_production_starts_with_all_that_it_needs(run: Run) -> None:
    assert run(*LOAD, **PRODUCTION).returncode == 0


@pytest.mark.parametrize("name", ["SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "REDIS_URL"])
def test_production_refuses_to_start_without(run: Run, name: str) -> None:
    done = run(*LOAD, **{**PRODUCTION, name: ""})
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"{ROOT_CAUSE}: The environment variable {name} is not set, and "), done.stderr


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SECRET_KEY": "django-insecure-" + "x1y2z3w4v5" * 5}, "SECRET_KEY looks like a sample or is too short"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY looks like a sample or is too short"),
        ({"SECRET_KEY": "ab" * 40}, "SECRET_KEY looks like a sample or is too short"),
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS contains '*'"),
        ({"DEBUG": "true"}, "DEBUG is true, but TOUCHSTONE_ENV is production"),
        ({"TOUCHSTONE_ENV": "prod"}, "TOUCHSTONE_ENV is 'prod', but should be one of local, production"),
        ({"CONN_MAX_AGE": "soon"}, "CONN_MAX_AGE is 'soon', but should be a whole number from 0 to 86400"),
        ({"TOKEN_DAYS": "0"}, "TOKEN_DAYS is '0', but should be a whole number from 1 to 3650"),
        ({"SECURE_SSL_REDIRECT": "maybe"}, "SECURE_SSL_REDIRECT is 'maybe', but should be one of true, false"),
        ({"DATABASE_URL": "mysql://u:secret@h/d"}, "DATABASE_URL is not a URL of the form postgresql://"),
        ({"DATABASE_URL": "postgresql://u:secret@h:port/d"}, "DATABASE_URL cannot be read"),
        ({"REDIS_URL": "localhost:6379"}, "REDIS_URL is not a URL of the form redis://"),
        ({"EMAIL_URL": "mail.example.org"}, "EMAIL_URL is not a URL of the form console://"),
        ({"EMAIL_URL": "smtp+tls://u:secret@:587"}, "EMAIL_URL cannot be read"),
        ({"EMAIL_URL": "smtp://u:secret@host:many"}, "EMAIL_URL cannot be read"),
        ({"EMAIL_URL": "smtp+tls://u:secret@host"}, "PUBLIC_URL is not set, and mails need it for their links"),
        ({"PUBLIC_URL": "touchstone.example.org"}, "PUBLIC_URL is not a URL of the form https://"),
    ],
)
def test_wrong_values_are_named(run: Run, variables: dict[str, str], message: str) -> None:
    done = run(*LOAD, **{**PRODUCTION, **variables})
    assert done.returncode != 0
    assert message in done.stderr.strip().splitlines()[-1]
    assert "u:secret" not in done.stderr.strip().splitlines()[-1], "a password in an error message"


def test_deploy_checks_find_nothing(run: Run) -> None:
    # Security only: the others read the API's schema, and are the API's to test.
    done = run("manage.py", "check", "--deploy", "--tag", "security", "--fail-level", "WARNING", **PRODUCTION)
    assert done.returncode == 0, done.stderr


def test_cookies_of_production_are_bound_to_the_host(run: Run) -> None:
    script = "import config.settings as s; print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.SESSION_COOKIE_SECURE)"
    assert run("-c", script, **PRODUCTION).stdout.split() == [
        "__Host-touchstone-session",
        "__Host-touchstone-csrf",
        "True",
    ]


def test_each_installation_has_its_own_secret_key(run: Run, bare: dict[str, str], tmp_path) -> None:
    script = "import config.settings as s; print(s.SECRET_KEY)"
    first, again = run("-c", script).stdout, run("-c", script).stdout
    other = run("-c", script, DATA_DIR=str(tmp_path)).stdout
    assert len(first.strip()) > 50
    assert first == again != other
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_celery_takes_json_only(run: Run) -> None:
    script = "from config.celery import app; print(app.conf.accept_content, app.conf.task_serializer)"
    assert run("-c", script).stdout.strip() == "['json'] json"


def test_the_mail_server_of_a_url(run: Run) -> None:
    script = (
        "import config.settings as s; print(s.EMAIL_BACKEND.split('.')[-2], s.EMAIL_HOST, s.EMAIL_PORT, "
        "s.EMAIL_USE_TLS, s.EMAIL_USE_SSL, s.EMAIL_HOST_USER, s.EMAIL_HOST_PASSWORD, s.PUBLIC_URL)"
    )
    given = {**PRODUCTION, "PUBLIC_URL": "https://t.example.org/"}
    sent = run("-c", script, **given, EMAIL_URL="smtp+tls://me%40example.org:p%3Aw@mail.example.org").stdout.split()
    assert sent == [
        "smtp", "mail.example.org", "587", "True", "False", "me@example.org", "p:w", "https://t.example.org"
    ]  # fmt: skip
    sealed = run("-c", script, **given, EMAIL_URL="smtp+ssl://mail.example.org").stdout.split()
    assert sealed[:5] == ["smtp", "mail.example.org", "465", "False", "True"]
    assert run("-c", script, PORT="8123").stdout.split()[0] == "console"


def test_a_unix_socket_for_redis_is_spelled_as_celery_wants_it(run: Run) -> None:
    script = "import config.settings as s; print(s.CELERY_BROKER_URL)"
    assert run("-c", script, REDIS_URL="unix:///run/r.sock?db=3").stdout.strip() == (
        "redis+socket:///run/r.sock?virtual_host=3"
    )


def test_every_variable_is_documented_and_every_documented_one_exists(root) -> None:
    pattern = re.compile(r"""env\.(?:text|required|flag|number|choice|names|url|folder)\(\s*["']([A-Z_]+)["']""")
    used = {name for path in (root / "config").glob("*.py") for name in pattern.findall(path.read_text())}
    # The two that only `make` and its browser tests know.
    used |= {"PYTHON", "CHROMIUM"}
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (root / "docs" / "settings.md").read_text(), re.MULTILINE))
    assert used == documented


def test_the_command_line_says_it_in_one_line(run: Run) -> None:
    for command in ("check", "align", "collectstatic"):
        done = run("manage.py", command, **{**PRODUCTION, "TOKEN_DAYS": "0"})
        assert done.returncode == 1
        assert done.stderr.startswith("manage.py: The environment variable TOKEN_DAYS is '0'"), done.stderr
        assert done.stderr.count("\n") == 1
