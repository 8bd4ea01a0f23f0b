"""One HTTP request to an endpoint, which returns the body or raises an exception in our own words.

Nothing lies between this and HTTP itself (httpcore2): no environment is read, no redirect followed, nothing retried,
and no exception quotes what a server sent.
"""

from __future__ import annotations

import email.utils
import logging
import time
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http import HTTPStatus

import httpcore2
from django.utils.translation import gettext as _

from judges.endpoints.addresses import AddressRefused, Target
from judges.endpoints.calls import BadRequest, CallFailed, StopRun, TryLater
from judges.endpoints.door import Door
from judges.endpoints.keys import KEY_PLACE, Secret
from judges.endpoints.pinned import Deadline, PinnedBackend
from judges.models import ScoreStatus

LARGEST_BODY = 1024 * 1024
# Of a body that is not needed, this much is read, so that the connection can be used again.
_LARGEST_UNREAD = 16 * 1024
LONGEST_WAIT = 600.0
KEEP_IDLE_SECONDS = 30.0

# It logs addresses, and at the finest level what a server sent.
logging.getLogger("httpcore2").setLevel(logging.WARNING)


class EndpointTransport:
    """Sends to `target` alone. Safe to use from several threads.

    A request waits at the door for its turn; from then on it may take `seconds`. Building and reading one need no place
    inside. headers: further ones; where one of them has KEY_PLACE, the key is sent there, and nowhere else.
    """

    def __init__(
        self,
        target: Target,
        key: Secret | None,
        *,
        door: Door,
        seconds: float,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._target, self._key = target, key
        self._own_headers = dict(headers or {})
        self._door, self._seconds = door, seconds
        self._deadline = Deadline()
        self._ssl = httpcore2.default_ssl_context() if target.scheme == "https" else None
        self._backend = PinnedBackend(self._deadline)
        # One connection each. A pool of all of them looks at every one, behind a lock, before and after each request.
        self._free: deque[httpcore2.ConnectionPool] = deque()

    def send(self, method: str, path: str, content: bytes = b"") -> tuple[bytes, float]:
        """The body of a success as it came, and how many seconds it took. path: below that of the base URL. content:
        JSON.

        Raises TryLater, CallFailed and StopRun.
        """
        try:
            with self._door.passed(), self._deadline.within(self._seconds):
                began = time.perf_counter()
                status, headers, body = self._exchange(method, path, content)
                seconds = time.perf_counter() - began
        except AddressRefused as refusal:
            if refusal.code == "unknown_host":
                raise TryLater(ScoreStatus.ERROR, refusal.message) from None
            raise StopRun(refusal.code, refusal.message) from None
        except httpcore2.ConnectTimeout:
            raise TryLater(ScoreStatus.TIMEOUT, _("The endpoint could not be reached in time.")) from None
        except httpcore2.TimeoutException:
            raise TryLater(ScoreStatus.TIMEOUT, _("The endpoint did not answer in time."), may_be_paid=True) from None
        except httpcore2.ConnectError:
            raise TryLater(ScoreStatus.ERROR, _("The endpoint could not be reached.")) from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError):
            words = _("The connection to the endpoint failed, or it doesn’t use HTTP.")
            raise TryLater(ScoreStatus.ERROR, words, may_be_paid=True) from None
        if not 200 <= status < 300:
            raise _trouble(status, headers)
        return body, seconds

    def _exchange(self, method: str, path: str, content: bytes) -> tuple[int, dict[str, str], bytes]:
        sent = httpcore2.Request(
            method,
            httpcore2.URL(
                scheme=self._target.scheme.encode(),
                host=self._target.host.encode(),
                port=self._target.port,
                target=(self._target.path + path).encode(),
            ),
            headers=self._headers(content),
            content=content,
        )
        with self._connection() as connection, closing(connection.handle_request(sent)) as response:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            if 200 <= response.status < 300:
                return response.status, headers, _whole(response, headers)
            _drop(response)
            return response.status, headers, b""

    @contextmanager
    def _connection(self) -> Iterator[httpcore2.ConnectionPool]:
        """The one that was used last, or a new one; so there are as many as the most that were ever under way at
        once."""
        try:
            connection = self._free.pop()
        except IndexError:
            connection = httpcore2.ConnectionPool(
                ssl_context=self._ssl,
                max_connections=1,
                keepalive_expiry=KEEP_IDLE_SECONDS,
                network_backend=self._backend,
            )
        try:
            yield connection
        finally:
            self._free.append(connection)

    def _headers(self, content: bytes) -> list[tuple[bytes, bytes]]:
        """No others, whatever stands in the environment or is known of this machine."""
        headers = [
            (b"Host", self._target.shown_host.encode()),
            (b"User-Agent", b"Touchstone"),
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"identity"),
        ]
        if content:
            headers.append((b"Content-Type", b"application/json"))
            headers.append((b"Content-Length", str(len(content)).encode()))
        key = "" if self._key is None else self._key.reveal()
        own = self._own_headers.items()
        headers += [(name.encode(), value.replace(KEY_PLACE, key).encode()) for name, value in own]
        if key and not any(KEY_PLACE in value for _name, value in own):
            headers.append((b"Authorization", b"Bearer " + key.encode()))
        return headers

    def close(self) -> None:
        """Closes the connections that are not in use."""
        while self._free:
            self._free.pop().close()


def _whole(response: httpcore2.Response, headers: dict[str, str]) -> bytes:
    """The body, decoded, counted while it is decoded: 1 MiB of zeros is 1 kB on the wire. And counted as it came: what
    follows the end of what is packed, or is packed nothing, would be read without end."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    # 32 + 15: gzip or zlib, by the first bytes.
    decoder = zlib.decompressobj(32 + 15) if encoding in ("gzip", "x-gzip", "deflate") else None
    body = bytearray()
    came = 0
    for chunk in response.iter_stream():
        came += len(chunk)
        try:
            body += chunk if decoder is None else decoder.decompress(chunk, LARGEST_BODY + 1 - len(body))
        except zlib.error:
            break  # what there is of it is no reply that could be read
        if max(came, len(body)) > LARGEST_BODY:
            raise CallFailed(ScoreStatus.ERROR, _("The endpoint’s reply is larger than 1 MiB."), may_be_paid=True)
    return bytes(body)


def _drop(response: httpcore2.Response) -> None:
    dropped = 0
    for chunk in response.iter_stream():
        dropped += len(chunk)
        if dropped > _LARGEST_UNREAD:
            return


def _trouble(status: int, headers: dict[str, str]) -> CallFailed | StopRun:
    """In our own words: what the server wrote may hold anything, even the key."""
    if 300 <= status < 400:
        return StopRun(
            "redirect",
            _("The endpoint redirected the request (%(status)d), which is not followed. Check the base URL.")
            % {"status": status},
        )
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return StopRun("refused_key", _("The endpoint rejected the key (%(status)d).") % {"status": status})
    if status == HTTPStatus.REQUEST_TIMEOUT:
        return TryLater(ScoreStatus.TIMEOUT, _("The endpoint timed out (408)."), retry_after(headers))
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return TryLater(ScoreStatus.ERROR, _("Rate limit reached (429)."), retry_after(headers))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        words = _("Endpoint server error (%(status)d).") % {"status": status}
        # A gateway gave up waiting; the model behind it may not have.
        is_late = status == HTTPStatus.GATEWAY_TIMEOUT
        return TryLater(ScoreStatus.ERROR, words, retry_after(headers), may_be_paid=is_late)
    if status == HTTPStatus.NOT_FOUND:
        return CallFailed(
            ScoreStatus.ERROR, _("Not found at the endpoint (404). Check the base URL, and the model or the path.")
        )
    is_bad = status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
    words = _("The endpoint rejected the request (%(status)d).") % {"status": status}
    return (BadRequest if is_bad else CallFailed)(ScoreStatus.ERROR, words)


def retry_after(headers: dict[str, str], now: float | None = None) -> float | None:
    """Seconds, from a number of them or a date; at most LONGEST_WAIT. None when the server doesn't say it readably."""
    value = headers.get("retry-after", "").strip()
    try:
        if value.isascii() and value.replace(".", "", 1).isdigit():
            seconds = float(value[:20])
        else:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - (time.time() if now is None else now)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT)
