"""Connections to addresses that were checked, and to nothing else, for no longer than a request may take."""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.utils.translation import gettext as _
from httpcore2 import ConnectError, ConnectTimeout, NetworkBackend, NetworkStream, ReadError, ReadTimeout, WriteError
from httpcore2 import WriteTimeout as WriteTimedOut

from judges.endpoints.addresses import addresses_of
from judges.endpoints.calls import StopRun

CONNECT_SECONDS = 5.0


class Deadline(threading.local):
    """When this thread's request has to be done, however slowly the bytes arrive."""

    at: float | None = None

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        self.at = time.monotonic() + seconds
        try:
            yield
        finally:
            self.at = None

    def left(self, at_most: float | None = None) -> float:
        """Seconds; never 0, which makes a socket non-blocking."""
        left = 3600.0 if self.at is None else self.at - time.monotonic()
        return max(0.001, left if at_most is None else min(left, at_most))

    def is_over(self) -> bool:
        return self.at is not None and time.monotonic() >= self.at


class PinnedBackend(NetworkBackend):
    """Looks a host up and checks its addresses, once per connection, and connects to one of exactly those. TLS and the
    Host header keep the name."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> NetworkStream:
        """Raises AddressRefused, and what httpcore raises."""
        addresses = addresses_of(host, port)
        until = time.monotonic() + self._deadline.left(CONNECT_SECONDS)
        failure: Exception = ConnectTimeout()
        for address in addresses:
            left = until - time.monotonic()
            if left <= 0:
                break
            try:
                # A numeric address: nothing is looked up again.
                connection = socket.create_connection((address, port), left)
            except TimeoutError:
                failure = ConnectTimeout()
            except OSError:
                failure = ConnectError()
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return _Stream(connection, self._deadline)
        raise failure

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> NetworkStream:
        raise ConnectError


class _Stream(NetworkStream):
    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._socket = connection
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._deadline.is_over():
            raise ReadTimeout
        try:
            self._socket.settimeout(self._deadline.left())
            return self._socket.recv(max_bytes)
        except TimeoutError:
            raise ReadTimeout from None
        except OSError:
            raise ReadError from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        try:
            self._socket.settimeout(self._deadline.left())
            self._socket.sendall(buffer)
        except TimeoutError:
            raise WriteTimedOut from None
        except OSError:
            raise WriteError from None

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        try:
            self._socket.settimeout(self._deadline.left(CONNECT_SECONDS))
            return _Stream(ssl_context.wrap_socket(self._socket, server_hostname=server_hostname), self._deadline)
        except ssl.SSLCertVerificationError:
            self.close()
            raise StopRun(
                "bad_certificate", _("The endpoint’s TLS certificate doesn’t match its name or is not trusted.")
            ) from None
        except TimeoutError:
            self.close()
            raise ConnectTimeout from None
        except OSError:
            self.close()
            raise ConnectError from None

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # an idle connection that is readable was closed by the other side
            return _is_readable(self._socket)
        if info == "socket":
            return self._socket
        return None


def _is_readable(connection: socket.socket) -> bool:
    if connection.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))
