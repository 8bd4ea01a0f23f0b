"""Celery's way to Redis, as it is, but for what ends a worker when Redis goes away; and its sign of life."""

import os
from pathlib import Path
from typing import Any

from kombu.transport import TRANSPORT_ALIASES
from kombu.transport import redis as stock
from redis.exceptions import ConnectionError as RedisConnectionError


class Channel(stock.Channel):
    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        # When a connection is lost, Celery takes it from its transport, and then has this channel put back the message
        # that a process has in hand; later it acknowledges that one here. For both the channel would connect anew, but
        # to nothing: an AttributeError, which Celery doesn't expect, as it does a lost connection.
        if self.connection.client is None:
            raise RedisConnectionError("This connection to Redis has been given up.")
        params: dict[str, Any] = super()._connparams(asynchronous=asynchronous)  # type: ignore[no-untyped-call]
        return params


class Alive:
    """The file that a worker's main process touches: by its timer, and while Redis is away, when that stands still,
    with each attempt to reach it, which comes at least every 35 seconds. Its children don't: they say nothing of it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._process = os.getpid()

    def touch(self) -> None:
        if os.getpid() == self._process:
            self._file.touch()


class Transport(stock.Transport):
    Channel = Channel
    alive: Alive

    def establish_connection(self) -> Any:
        self.alive.touch()
        return super().establish_connection()  # type: ignore[no-untyped-call]


def use(alive: Alive) -> None:
    """From now on, for every connection of this process."""
    Transport.alive = alive
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"
