"""Requests as UTF-8, and whole: addresses, queries and forms, whichever charset their Content-Type names.

Python knows a hundred: some read what UTF-8 can't write (`utf-7`: halves of surrogate pairs), some are none at all
(`zlib`), and Django takes each, also for the query of a GET. Forms that name one are refused (config/bodies.py).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.core.exceptions import BadRequest
from django.core.handlers.wsgi import LimitedStream, WSGIRequest
from django.http import HttpRequest, UnreadablePostError
from django.utils.http import parse_header_parameters

from annotate.core.bodies import MIB

_THROWN_AWAY = 64 * MIB


class CutOff(BadRequest):
    pass


class WholeBody(LimitedStream):
    """A body that ends before its Content-Length raises CutOff. Django takes what came for the whole: of a form that
    was cut off, half a text would be saved."""

    def __init__(self, stream: Any, limit: int) -> None:
        super().__init__(stream, limit)
        self._came = 0

    def read(self, size: int | None = -1, /) -> bytes:
        missing = self.limit - self._came
        expected = missing if size is None or size < 0 else min(size, missing)
        data: bytes = super().read(expected)
        self._came += len(data)
        if len(data) < expected:
            raise CutOff(f"The body ends after {self._came:,} of the {self.limit:,} bytes that Content-Length states.")
        return data


class Utf8Request(WSGIRequest):
    def __init__(self, environ: dict[str, Any]) -> None:
        super().__init__(environ)
        length = environ.get("CONTENT_LENGTH") or ""
        self._stream: Any = WholeBody(environ["wsgi.input"], int(length) if length.isdecimal() else 0)

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except ValueError:  # as good as none; REST framework reads it, too
            meta["CONTENT_TYPE"] = ""
            self.content_type, self.content_params = "", {}


def throw_away_body(request: HttpRequest) -> None:
    """Before an answer that does not need it: a client that is still sending when the connection closes sees that and
    not the answer, and the workspace would send a label again and again. What is larger than _THROWN_AWAY is left."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal() and int(length) <= _THROWN_AWAY:
        with suppress(CutOff, UnreadablePostError):
            while request.read(MIB):
                pass
