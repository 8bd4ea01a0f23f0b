"""The JSON of a request: as much of it as the route takes (annotate.core.bodies), read as strictly as a file."""

from __future__ import annotations

from typing import Any, cast

from django.http import QueryDict
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from annotate.core.bodies import limit_of, most_values
from annotate.core.errors import Invalid, Refusal, TooLarge
from annotate.files.problems import RowError
from annotate.files.strict_json import parse_document, parse_loosely


class StrictJSON(BaseParser):
    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        limit = limit_of(parser_context["view"])
        return self.read(_bounded(stream, limit), most_values(limit))

    def read(self, raw: bytes, most: int) -> Any:
        try:
            return parse_document(raw, most=most, what="request")
        except RowError as error:
            raise _refusal(error) from error


class JSONBytes(StrictJSON):
    """For a route that has an importer read the bytes, which names each row that is not as it should be."""

    def read(self, raw: bytes, most: int) -> Any:
        return raw


def loose_json(request: Request) -> tuple[Any, bytes]:
    """What `JSONBytes` has read, as other parsers see it, and as it is."""
    raw = cast("bytes", request.data or b"{}")  # no body is an empty object, as for REST framework
    try:
        return parse_loosely(raw, most=most_values(limit_of(request.parser_context["view"]))), raw
    except RowError as error:
        raise _refusal(error) from error


def json_body(request: Request, *, or_file: bool = False) -> Any:
    """The request's JSON, with nothing in it that PostgreSQL could not keep. or_file: or that of a form's one file."""
    data = request.data
    if or_file and isinstance(data, QueryDict) and set(data) == {"file"} and "file" in request.FILES:
        limit = limit_of(request.parser_context["view"])
        try:
            return parse_document(_bounded(request.FILES["file"], limit), most=most_values(limit))
        except RowError as error:
            raise Invalid("not_json", f"file: {error.message}") from error
    if isinstance(data, QueryDict) and data:
        raise Invalid("not_json", "Send JSON (Content-Type: application/json), not a form.")
    return data


def _bounded(stream: Any, limit: int) -> bytes:
    """All of the stream. The middleware has refused what says that it is larger; this counts."""
    raw: bytes = stream.read(limit + 1)
    if len(raw) > limit:
        raise TooLarge("too_large", f"Send at most {limit:,} bytes at once.")
    return raw


def _refusal(error: RowError) -> Refusal:
    """400 for what is no JSON, 422 for JSON that can't be kept."""
    if error.code in ("json", "encoding"):
        return Refusal("parse_error", error.message)
    return Invalid(error.code, f"{error.field}: {error.message}" if error.field else error.message)
