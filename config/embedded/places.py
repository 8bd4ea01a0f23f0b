"""What all of the package shares: where data and sockets are, the addresses that follow, and for how long one waits."""

import os
from pathlib import Path
from urllib.parse import quote

DEFAULT_DATA_DIR = Path(__file__).resolve().parents[2] / ".data"

# The kernel limits the path of a unix socket to 107 bytes on Linux and 103 on macOS.
SOCKET_PATH_LIMIT = 103
POSTGRES_SOCKET = ".s.PGSQL.5432"
REDIS_SOCKET = "redis.sock"
REDIS_FILE = "appendonly.aof"
START_SECONDS = 120  # recovery after a crash can take a while
STOP_SECONDS = 30
# Set by the supervisor, for the processes that it starts.
LOOKED_AFTER = "TOUCHSTONE_LOOKED_AFTER"


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


def looked_after() -> bool:
    """Whether a supervisor, of which we are a part, starts what ends; we then wait for nothing that is away."""
    return bool(os.environ.get(LOOKED_AFTER))


def read_lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []
