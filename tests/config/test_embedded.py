"""The embedded services start once however many ask, stop with the last user, and say why they cannot."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from config import embedded
from config.embedded import services
from tests.config.conftest import ROOT, Run

# Holds the services until its input ends or it is killed.
HOLD = (
    "import sys; from config import embedded; s = embedded.ensure_services(linger=float(sys.argv[1]));"
    " print('up', flush=True); input(); s.close()"
)


@pytest.fixture(scope="module")
def first_start() -> Iterator[Path]:
    """A data directory that was started once, for the tests of what happens later."""
    folder = Path(tempfile.mkdtemp(prefix="ts-"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATABASE_URL", "REDIS_URL"):
            patch.delenv(name, raising=False)
        embedded.ensure_services(folder).close()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def started_before(data: Path, first_start: Path) -> None:
    """`data` is a copy of that."""
    subprocess.run(["cp", "-a", first_start / "postgres", data], check=True)  # with its owner


def hold(bare: dict[str, str], linger: float = 0) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(linger)],
        cwd=ROOT,
        env=bare,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def wait_up(holder: "subprocess.Popen[str]") -> None:
    assert holder.stdout is not None
    assert holder.stdout.readline() == "up\n"


def let_go(holder: "subprocess.Popen[str]") -> None:
    with holder:
        holder.communicate("\n", timeout=60)
    assert holder.returncode == 0


def processes_on(data: Path) -> list[psutil.Process]:
    """Keepers and servers name the data directory in their command line; PostgreSQL's children are their children."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["cmdline"]):
        if any(str(data) in part for part in process.info["cmdline"] or []):
            try:
                found += [process, *process.children(recursive=True)]
            except psutil.NoSuchProcess:
                continue
    return [process for process in found if process.pid != os.getpid()]


def keepers_on(data: Path) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(data) in (line := process.info["cmdline"] or []) and any("embedded.keeper" in part for part in line)
    ]


def kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # it went with its parent, killed before it
            process.kill()


def assert_all_gone(data: Path, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while left := processes_on(data):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def select_one(data: Path) -> int:
    with psycopg.connect(embedded.database_url(data)) as connection:
        row = connection.execute("SELECT 1").fetchone()
    assert row is not None
    return int(row[0])


def test_data_is_kept_between_runs(own_services: None, data: Path) -> None:
    with embedded.ensure_services(data):
        with psycopg.connect(embedded.database_url(data)) as connection:
            connection.execute("CREATE TABLE kept (number int)")
            connection.execute("INSERT INTO kept VALUES (42)")
        redis.Redis.from_url(embedded.redis_url(data)).set("kept", "43")
    assert_all_gone(data, seconds=1)
    with embedded.ensure_services(data):
        with psycopg.connect(embedded.database_url(data)) as connection:
            assert connection.execute("SELECT number FROM kept").fetchone() == (42,)
        assert redis.Redis.from_url(embedded.redis_url(data)).get("kept") == b"43"


def test_the_application_is_no_superuser(own_services: None, started_before: None, data: Path) -> None:
    with embedded.ensure_services(data), psycopg.connect(embedded.database_url(data)) as connection:
        row = connection.execute("SELECT rolsuper, rolname FROM pg_roles WHERE rolname = current_user").fetchone()
        assert row == (False, "touchstone")


def test_four_first_starts_at_once_share_one_server(own_services: None, bare: dict[str, str], data: Path) -> None:
    holders = [hold(bare) for _ in range(4)]
    for holder in holders:
        wait_up(holder)
    assert len(keepers_on(data)) == 2
    for holder in holders[:3]:
        let_go(holder)
        assert select_one(data) == 1  # still there for the others
    let_go(holders[3])
    assert_all_gone(data, seconds=1)


def test_a_killed_last_user_leaves_nothing_running(bare: dict[str, str], started_before: None, data: Path) -> None:
    with hold(bare) as holder:
        wait_up(holder)
        assert processes_on(data)
        holder.kill()
    assert_all_gone(data)


def test_a_start_after_everything_was_killed_finds_its_data(
    own_services: None, bare: dict[str, str], started_before: None, data: Path
) -> None:
    with hold(bare) as holder:
        wait_up(holder)
        with psycopg.connect(embedded.database_url(data)) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS number")
        kill(processes_on(data))
        holder.kill()
    assert_all_gone(data)
    assert (data / "postgres" / "postmaster.pid").exists(), "a stale pid file is what this is about"
    # A number that now belongs to another process: this test.
    lines = (data / "postgres" / "postmaster.pid").read_text().splitlines()
    (data / "postgres" / "postmaster.pid").write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    with embedded.ensure_services(data), psycopg.connect(embedded.database_url(data)) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (42,)


def test_services_that_linger_are_there_for_the_next_and_end_with_who_stops_them(
    own_services: None, started_before: None, data: Path
) -> None:
    embedded.ensure_services(data, linger=3600).close()
    first = {keeper.pid for keeper in keepers_on(data)}
    with embedded.ensure_services(data, linger=3600):
        assert select_one(data) == 1
    assert {keeper.pid for keeper in keepers_on(data)} == first
    with embedded.ensure_services(data):  # as `make run` does, whose end is the end of all
        assert {keeper.pid for keeper in keepers_on(data)} == first
    assert_all_gone(data, seconds=1)


def test_services_that_lingered_long_enough_stop(own_services: None, started_before: None, data: Path) -> None:
    embedded.ensure_services(data, linger=0.3).close()
    assert_all_gone(data)
    assert not (data / "postgres" / "postmaster.pid").exists(), "it was not stopped cleanly"
    with embedded.ensure_services(data):
        assert select_one(data) == 1


def test_commands_at_once_leave_one_server_to_the_next(
    own_services: None, bare: dict[str, str], started_before: None, data: Path
) -> None:
    commands = [
        subprocess.Popen(
            [sys.executable, "manage.py", "check"], cwd=ROOT, env={**bare, "EMBEDDED_LINGER_SECONDS": "3600"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )
        for _ in range(3)
    ]  # fmt: skip
    assert [command.wait(120) for command in commands] == [0, 0, 0]
    assert len(keepers_on(data)) == 2
    with embedded.ensure_services(data):
        assert select_one(data) == 1
    assert_all_gone(data, seconds=1)


def test_whatever_is_killed_while_services_linger_the_next_finds_its_data(
    own_services: None, bare: dict[str, str], started_before: None, data: Path
) -> None:
    if sys.platform != "linux":
        pytest.skip("needs PR_SET_PDEATHSIG")
    with hold(bare, linger=3600) as holder:
        wait_up(holder)
        with psycopg.connect(embedded.database_url(data)) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS number")
        holder.kill()
    assert len(keepers_on(data)) == 2
    kill(keepers_on(data))
    assert_all_gone(data)
    with embedded.ensure_services(data), psycopg.connect(embedded.database_url(data)) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (42,)
    assert_all_gone(data, seconds=1)


def test_services_that_linger_end_with_their_folder(own_services: None, started_before: None, data: Path) -> None:
    embedded.ensure_services(data, linger=3600).close()
    (data / "run").rename(data / "deleted")
    assert_all_gone(data)


def test_a_worker_on_its_own_uses_the_services(run: Run, started_before: None) -> None:
    done = run(
        "-c",
        "from config import celery, embedded; from config.embedded.locks import used_by_others;"
        " celery.hold_services(); print(used_by_others(embedded.data_dir(), 'redis'))",
    )
    assert done.stdout == "True\n", done.stderr


def test_servers_stop_when_their_keeper_is_killed(
    own_services: None, bare: dict[str, str], started_before: None, data: Path
) -> None:
    if sys.platform != "linux":
        pytest.skip("needs PR_SET_PDEATHSIG")
    with hold(bare) as holder:
        wait_up(holder)
        kill(keepers_on(data))
        assert_all_gone(data)
        with embedded.ensure_services(data):  # and another process can start them again meanwhile
            assert select_one(data) == 1
        holder.kill()


def test_a_keeper_that_does_not_stop_is_ended(
    own_services: None, started_before: None, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped, as by Ctrl-Z: it would hold its server for as long as that lasts."""
    if sys.platform != "linux":
        pytest.skip("needs PR_SET_PDEATHSIG")
    monkeypatch.setattr(services, "STOP_SECONDS", 0)
    monkeypatch.setattr(services, "KILL_SECONDS", 0)
    held = embedded.ensure_services(data)
    for keeper in keepers_on(data):
        keeper.suspend()
    try:
        held.close()
        assert_all_gone(data)
    finally:
        kill(processes_on(data))


def test_a_folder_too_deep_for_a_socket_works(own_services: None, data: Path) -> None:
    deep = data / ("d" * 60) / ("e" * 60)
    with embedded.ensure_services(deep):
        assert not embedded.socket_dir(deep).is_relative_to(deep)
        assert select_one(deep) == 1
        assert redis.Redis.from_url(embedded.redis_url(deep)).ping()
    embedded.socket_dir(deep).rmdir()


NOBODY = 65_534


def may_enter(folder: Path, user: int, groups: list[int]) -> bool:
    command = ["ls", "-d", str(folder / ".")]
    return subprocess.run(command, user=user, group=user, extra_groups=groups, capture_output=True).returncode == 0


def test_only_the_services_pass_through_folders_that_were_closed(own_services: None, data: Path) -> None:
    """As /root is, or somebody's home."""
    closed = data / "closed"
    deep = closed / "also closed" / "data"
    deep.mkdir(parents=True)
    for folder in (closed, closed / "also closed"):
        folder.chmod(0o700)
    with embedded.ensure_services(deep):
        assert select_one(deep) == 1
    services = (deep / "postgres").stat().st_uid
    for folder in (closed, closed / "also closed"):
        assert not folder.stat().st_mode & 0o007
        assert may_enter(folder, services, [])
        assert not may_enter(folder, NOBODY, [])
        # Only root's services have a user of their own, who may pass and not list.
        if services != os.geteuid():
            assert subprocess.run(["ls", folder], user=services, capture_output=True).returncode != 0
    embedded.ensure_services(deep).close()  # a second time


def test_logs_are_for_their_owner_only(own_services: None, started_before: None, data: Path) -> None:
    (data / "logs").mkdir(mode=0o755)  # as an earlier version made it
    embedded.ensure_services(data).close()
    assert (data / "logs").stat().st_mode & 0o077 == 0
    logs = list((data / "logs").iterdir())
    assert {log.name for log in logs} >= {"postgres.log", "redis.log"}
    assert [log for log in logs if log.stat().st_mode & 0o077] == []


def test_nothing_that_people_brought_is_for_others(run: Run, data: Path) -> None:
    (data / "media").mkdir(mode=0o755)
    done = run(
        "-c", "import django; django.setup()", DJANGO_SETTINGS_MODULE="config.settings", DATABASE_URL="postgresql://x/y"
    )
    assert done.returncode == 0, done.stderr
    assert [name for name in ("media", "uploads") if (data / name).stat().st_mode & 0o077] == []


def test_another_postgres_version_is_refused(own_services: None, run: Run, data: Path) -> None:
    (data / "postgres").mkdir(mode=0o700)
    (data / "postgres" / "PG_VERSION").write_text("14\n")
    done = run("manage.py", "migrate")
    assert done.returncode == 1
    message = done.stderr.strip()
    assert len(message.splitlines()) == 1
    for part in (str(data / "postgres"), "PostgreSQL 14", "PostgreSQL 18", "pg_dump", "away"):
        assert part in message


def test_a_folder_that_is_no_database_is_refused(run: Run, data: Path) -> None:
    (data / "postgres").mkdir()
    (data / "postgres" / "thesis.doc").write_text("mine")
    done = run("manage.py", "migrate")
    assert done.returncode == 1
    assert "has no PG_VERSION file" in done.stderr
    assert (data / "postgres" / "thesis.doc").exists()


def test_a_server_that_cannot_start_shows_its_log(run: Run, started_before: None, data: Path) -> None:
    (data / "postgres" / "postgresql.conf").write_text("nonsense = 1\n")
    done = run("manage.py", "check")
    assert done.returncode == 1
    assert "nonsense" in done.stderr
    assert "postgres.log" in done.stderr


def test_commands_without_a_database_start_none(run: Run, data: Path) -> None:
    assert run("manage.py", "help").returncode == 0
    assert not (data / "postgres").exists()


def test_where_servers_are_named_a_new_folder_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of each container or host at its first start."""
    monkeypatch.setenv("DATABASE_URL", "postgresql://db/x")
    monkeypatch.setenv("REDIS_URL", "redis://r")
    embedded.ensure_services(tmp_path / "new").close()
    assert not (tmp_path / "new").exists()


def test_production_never_embeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_ENV", "production")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert embedded.wanted_services() == []
