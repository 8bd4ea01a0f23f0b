"""Who asks from outside: bytes on a socket, a session, a token. Knows nothing of what is behind it."""

from __future__ import annotations

import json
import re
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

P = "/api/projects/demo"
SECONDS = 10  # for any answer, however hostile the question


@dataclass(frozen=True)
class Reply:
    status: int  # 0: the connection was closed without an answer
    head: str
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str:
        return " ".join(re.findall(rf"(?im)^{name}: (.*)", self.head))

    def cookie(self, name: str) -> str:
        found = re.findall(rf"(?i)^set-cookie: touchstone-{name}=([^;\r]*)", self.head, re.MULTILINE)
        return found[-1].strip('"') if found else ""


@dataclass
class Outside:
    port: int
    # What stands as `<name>` in a request: tokens, cookies, ids.
    names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names["host"] = f"localhost:{self.port}"

    def filled(self, data: bytes) -> bytes:
        for name, value in self.names.items():
            data = data.replace(f"<{name}>".encode(), value.encode())
        return data

    def send(self, data: bytes) -> Reply:
        """These bytes, then the end of what we say. The reply up to its own end, or TimeoutError."""
        until = time.monotonic() + SECONDS
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), SECONDS) as connection:
            with suppress(ConnectionError):  # what is refused need not be read to its end
                connection.sendall(self.filled(data))
                connection.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError):
                while more := connection.recv(1 << 16):
                    received += more
                    connection.settimeout(max(0.01, until - time.monotonic()))
        if received.startswith(b"HTTP/1.1 100"):
            received = received.partition(b"\r\n\r\n")[2]
        head, _, body = received.partition(b"\r\n\r\n")
        status = int(head[9:12]) if head[:5] == b"HTTP/" and head[9:12].isdigit() else 0
        return Reply(status, head.decode("latin-1"), body)

    def ask(self, line: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> Reply:
        """One request as it should be, but for what `line`, `headers` and `body` say."""
        given = {"Host": "<host>", "Connection": "close", **(headers or {})}
        body = None if body is None else self.filled(body)
        if body is not None:
            given.setdefault("Content-Length", str(len(body)))
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value is not None)
        return self.send(f"{line} HTTP/1.1\r\n{head}\r\n".encode("utf-8", "surrogateescape") + (body or b""))

    def call(self, line: str, body: bytes | None = None, user: str = "alma", **headers: str) -> Reply:
        """With a token. JSON, unless a header says otherwise."""
        given = {"Authorization": f"Token <{user}-token>", "Content-Type": "application/json", **headers}
        return self.ask(line, given, body)

    def upload(self, path: str, form: dict[str, str], name: str, file: bytes) -> Reply:
        fields = [(f'name="{field}"', value.encode()) for field, value in form.items()]
        parts = [*fields, (f'name="file"; filename="{name}"', file)]
        head = b"--parts\r\nContent-Disposition: form-data; "
        body = b"".join(head + field.encode() + b"\r\n\r\n" + value + b"\r\n" for field, value in parts)
        kind = {"Content-Type": "multipart/form-data; boundary=parts"}
        return self.call(f"POST {path}", body + b"--parts--\r\n", **kind)

    def log_in(self, user: str, session: str) -> None:
        """`<user-session>` becomes the cookies of this session, `<user-token>` a token that may do everything."""
        cookies = f"touchstone-session={session}"
        csrf = self.ask("GET /account/", {"Cookie": cookies}).cookie("csrf")
        self.names |= {f"{user}-csrf": csrf, f"{user}-session": f"{cookies}; touchstone-csrf={csrf}"}
        asked = {"Cookie": f"<{user}-session>", "X-CSRFToken": csrf, "Content-Type": "application/json"}
        scopes = b'{"name": "outside", "scopes": ["read", "label", "push", "admin"]}'
        made = self.ask("POST /api/tokens/", asked, scopes)
        assert made.status == 201, made.text
        self.names[f"{user}-token"] = made.json()["token"]

    def get(self, path: str, user: str = "alma") -> Any:
        reply = self.call(f"GET {path}", user=user)
        assert reply.status == 200, reply.text
        return reply.json()
