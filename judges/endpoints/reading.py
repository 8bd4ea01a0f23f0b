"""Reading the body of a reply. It either follows the protocol or is not understood; nothing is guessed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

from judges.endpoints.calls import Answered

# Of a body that is not understood, this many characters are kept.
LONGEST_RAW = 4000
# More than any request has: a larger number is a mistake, and sums of such would not fit.
MOST_TOKENS = 100_000_000


class _NotUnderstood(Exception):
    pass


def read_chat(body: bytes) -> Answered:
    """What the body holds; only `raw` when it doesn't follow the protocol."""
    try:
        data = _object(body)
        choices = data.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise _NotUnderstood
        message = choices[0].get("message")
        if not isinstance(message, dict):
            raise _NotUnderstood
        text, refusal = _text(message, "content"), _text(message, "refusal")
        return Answered(
            text=text,
            refusal=refusal or None,
            finish_reason=_text(choices[0], "finish_reason"),
            raw=_raw(body) if text is None and not refusal else None,
            **_usage(data),
        )
    except _NotUnderstood:
        return Answered(raw=_raw(body))


def read_embeddings(body: bytes, count: int) -> Answered:
    """As `read_chat`, with one vector for each of `count` texts, all of the same length."""
    try:
        data = _object(body)
        rows = data.get("data")
        if not isinstance(rows, list) or len(rows) != count or not all(isinstance(row, dict) for row in rows):
            raise _NotUnderstood
        placed = {_place(row, at): _vector(row.get("embedding")) for at, row in enumerate(rows)}
        if placed.keys() != set(range(count)) or len({len(vector) for vector in placed.values()}) > 1:
            raise _NotUnderstood
        return Answered(vectors=[placed[at] for at in range(count)], **_usage(data))
    except _NotUnderstood:
        return Answered(raw=_raw(body))


def read_models(body: bytes) -> tuple[str, ...] | None:
    try:
        rows = _object(body).get("data")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise _NotUnderstood
        return tuple(name for name in (_text(row, "id") for row in rows) if name)
    except _NotUnderstood:
        return None


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _NotUnderstood from None
    if not isinstance(data, dict):
        raise _NotUnderstood
    return data


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _NotUnderstood
    return _storable(value)


def _place(row: Mapping[str, Any], at: int) -> int:
    place = row.get("index", at)
    if isinstance(place, bool) or not isinstance(place, int):
        raise _NotUnderstood
    return place


def _vector(value: Any) -> list[float]:
    if not isinstance(value, list) or not value:
        raise _NotUnderstood
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in value):
        raise _NotUnderstood
    try:
        vector = [float(number) for number in value]
    except OverflowError:
        raise _NotUnderstood from None
    if not all(map(math.isfinite, vector)):
        raise _NotUnderstood
    return vector


def _usage(data: Mapping[str, Any]) -> dict[str, Any]:
    """The server's own model name and token counts; unknown where they can't be read, which doesn't spoil the reply."""
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    model = data.get("model")
    return {
        "model": _storable(model)[:200] if isinstance(model, str) else "",
        "tokens_in": _count(usage.get("prompt_tokens")),
        "tokens_out": _count(usage.get("completion_tokens")),
    }


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
        return None
    return value


def _storable(text: str) -> str:
    """PostgreSQL has no NUL; where a reply has one, a replacement character shows that something was there."""
    return text.replace("\x00", "\ufffd")


def _raw(body: bytes) -> str:
    return _storable(body[: 4 * LONGEST_RAW].decode("utf-8", "replace"))[:LONGEST_RAW]
