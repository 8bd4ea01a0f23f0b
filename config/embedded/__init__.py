"""Embedded PostgreSQL and Redis: what runs when DATABASE_URL or REDIS_URL is not set. Their data lives in DATA_DIR.

Any process that wants them calls `ensure_services()`. The first one starts a *keeper* for each service: a small
process that owns the server and waits until none uses it any more. Everything is coordinated by file locks in `run/`,
which the kernel drops when a process dies, however it dies; there is no counter or pid file that could go stale:

- `start.lock`    held exclusively while a process looks whether a service runs, and starts it;
- `NAME.users`    held shared by every process that uses the service; the keeper stops when it gets it exclusively;
- `NAME.keeper`   held exclusively by the keeper for as long as it lives.

`NAME.linger` says for how many seconds the keeper waits for another user before it stops. The process that starts a
keeper writes it: a command asks for a minute, since another command often follows; `make run` writes 0 when it ends.

This package imports nothing of Django and nothing else of ours: the keeper runs with it alone, and stays small.
"""

from .locks import lock_within
from .parents import die_with_parent, signal_me_when_parent_dies
from .places import (
    DEFAULT_DATA_DIR,
    LOOKED_AFTER,
    EmbeddedError,
    data_dir,
    database_url,
    redis_url,
    socket_dir,
    wanted_services,
)
from .servers import postgres_programs, redis_program
from .services import Services, claim_services, ensure_services

__all__ = [
    "DEFAULT_DATA_DIR",
    "LOOKED_AFTER",
    "EmbeddedError",
    "Services",
    "claim_services",
    "data_dir",
    "database_url",
    "die_with_parent",
    "ensure_services",
    "lock_within",
    "postgres_programs",
    "redis_program",
    "redis_url",
    "signal_me_when_parent_dies",
    "socket_dir",
    "wanted_services",
]
