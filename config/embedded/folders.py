"""The folders of the embedded services, and as which user these run."""

import os
import pwd
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from .passage import make_reachable
from .places import POSTGRES_SOCKET, SOCKET_PATH_LIMIT, EmbeddedError, socket_dir

# When root runs us: PostgreSQL refuses to run as root, and Redis need not.
SYSTEM_USER = "pgserver"
LOG_LIMIT = 5_000_000


def prepare_folders(data: Path) -> None:
    for folder in (data, data / "run", data / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    (data / "logs").chmod(0o700)  # when a statement fails, what people wrote is in them
    if (user := service_user(data)) is None:
        (data / "run").chmod(0o700)
        return
    # Only the services' user and root may reach the sockets, for PostgreSQL trusts all who do.
    os.chown(data / "run", user, -1)
    (data / "run").chmod(0o700)
    make_reachable(data, user)


def choose_socket_dir(data: Path) -> None:
    """Make the short directory for the sockets if one is needed. It survives in `run/sockets` until /tmp is cleaned."""
    run = data / "run"
    chosen = socket_dir(data)
    if len(os.fsencode(run / POSTGRES_SOCKET)) <= SOCKET_PATH_LIMIT:
        return
    owner = service_user(data)
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


def service_user(data: Path) -> int | None:
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


def open_log(data: Path, name: str) -> IO[bytes]:
    path = data / "logs" / f"{name}.log"
    if path.exists() and path.stat().st_size > LOG_LIMIT:
        path.replace(path.with_suffix(".log.1"))
    return open(path, "ab", opener=lambda file, flags: os.open(file, flags, 0o600))


def make_readable(folder: Path) -> None:
    """As root under a strict umask, pip installs programs that only root may read."""
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        wanted = mode | 0o004 | (0o001 if mode & 0o100 else 0)
        if wanted != mode:
            path.chmod(wanted)
