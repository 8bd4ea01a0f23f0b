"""A file is sent: at once, or, where it is large, in parts by the tus protocol, each of which can be sent again."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Any

from touchstone_client.server import TRIES, Refused, Server

#: What is no larger goes at once; what is, in parts of this many bytes, of which one is in memory.
PART_BYTES = 8 << 20


@contextmanager
def lines_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[IO[bytes]]:
    """The rows as a file of JSON lines."""
    with TemporaryFile() as file:
        for row in rows:
            file.write(json.dumps(dict(row), ensure_ascii=False).encode() + b"\n")
        file.seek(0)
        yield file


def send_file(server: Server, project: str, file: IO[bytes], name: str, said: Mapping[str, str]) -> dict[str, Any]:
    """The import that it became, done or under way. said: the fields of its form, as `kind`."""
    size = file.seek(0, 2)
    file.seek(0)
    if size > PART_BYTES:
        return _send_in_parts(server, project, file, size, {"filename": name, **said})
    job: dict[str, Any] = server.request(
        "POST", f"{project}imports/", data=dict(said), files={"file": (name, file.read())}
    ).json()
    return job


def _send_in_parts(server: Server, project: str, file: IO[bytes], size: int, said: Mapping[str, str]) -> dict[str, Any]:
    metadata = ",".join(f"{name} {_base64(value.encode())}" for name, value in said.items())
    job = server.request(
        "POST",
        f"{project}uploads/",
        headers={"Tus-Resumable": "1.0.0", "Upload-Length": str(size), "Upload-Metadata": metadata},
    ).json()
    upload, offset, refusals = f"{project}uploads/{job['id']}/", 0, 0
    while offset < size:
        file.seek(offset)
        part = file.read(PART_BYTES)
        try:
            server.request("PATCH", upload, content=part, headers=_headers_of(part, offset))
            offset, refusals = offset + len(part), 0
        except Refused as refused:
            # A reply that got lost was of a part that is there; an altered part goes again.
            refusals += 1
            if refused.code not in ("wrong_offset", "whole", "wrong_checksum") or refusals == TRIES:
                raise
            offset = int(server.request("HEAD", upload).headers["Upload-Offset"])
    found: dict[str, Any] = server.get(f"{project}imports/{job['id']}/")
    return found


def _headers_of(part: bytes, offset: int) -> dict[str, str]:
    return {
        "Tus-Resumable": "1.0.0",
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": str(offset),
        "Upload-Checksum": f"sha256 {_base64(hashlib.sha256(part).digest())}",
    }


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode()
