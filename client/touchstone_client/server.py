"""Requests to the server, as JSON: what it refuses is raised, and what it is too busy for is tried again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx2

#: Every request may be sent twice: the server knows what it has.
TRIES = 5
_LONGEST_WAIT = 30.0


class Refused(Exception):
    """What the server did not take. code: its name for why; rows: [{"row", "field", "code", "message"}] of a file or
    push, at most a hundred."""

    def __init__(self, status: int, code: str, message: str, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self.status = status
        self.code = code
        self.rows = rows
        lines = [f"row {one['row']}, {one['field'] or 'as a whole'}: {one['message']}" for one in rows[:10]]
        super().__init__("\n".join([message, *lines]))


class Unreachable(Exception):
    """The server did not answer, or was too busy, however often it was asked."""


class Server:
    def __init__(self, url: str, token: str, *, timeout: float = 60.0) -> None:
        self._http = httpx2.Client(
            base_url=url.rstrip("/") + "/api/", headers={"Authorization": f"Token {token}"}, timeout=timeout
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._http.close()

    def get(self, path: str, **query: str | int) -> Any:
        return self.request("GET", path, params=query).json()

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.request("POST", path, json=dict(body or {})).json()

    def pages(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """The results of all pages, one by one."""
        page = self.get(path, **query)
        yield from page["results"]
        while page["next"]:
            page = self.request("GET", page["next"]).json()
            yield from page["results"]

    def request(self, method: str, path: str, **given: Any) -> httpx2.Response:
        """Raises Refused, and Unreachable."""
        trouble = ""
        for tried in range(TRIES):
            if tried:
                time.sleep(min(2.0**tried / 4, _LONGEST_WAIT))
            try:
                reply = self._http.request(method, path, **given)
            except httpx2.TransportError as error:
                trouble = f"{type(error).__name__}: {error}"
                continue
            if reply.status_code not in (429, 502, 503, 504):
                return _taken(reply)
            trouble = f"it answered {reply.status_code}"
            wait = reply.headers.get("Retry-After", "")
            time.sleep(min(float(wait), _LONGEST_WAIT) if wait.isdecimal() else 0)
        raise Unreachable(f"{self._http.base_url}: {trouble}")


def _taken(reply: httpx2.Response) -> httpx2.Response:
    if reply.is_success:
        return reply
    try:
        said = reply.json()
        problem, rows = said.get("error", {}), said.get("errors", ())
        code, message = problem.get("code", ""), problem.get("message", "")
    except (ValueError, AttributeError):
        # Of something between us and the server.
        code, message, rows = "", "", ()
    raise Refused(reply.status_code, code, message or f"The server answered {reply.status_code}.", rows)
