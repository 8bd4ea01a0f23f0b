"""Reading the body of a reply. It either follows the protocol or is not understood; nothing is guessed. No text of it
leaves here with the endpoint's key in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from judges.endpoints.calls import Answered
from judges.endpoints.redaction import Redaction

# Of a body that is not understood, this many characters are kept.
LONGEST_RAW = 4000
# More than any request has: a larger number is a mistake, and sums of such would not fit.
MOST_TOKENS = 100_000_000


class _NotUnderstood(Exception):
    pass


def read_chat(body: bytes, redact: Redaction) -> Answered:
    """What the body holds; only `raw` when it doesn't follow the protocol."""
    try:
        data = _object(body)
        choices = data.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise _NotUnderstood
        message = choices[0].get("message")
        if not isinstance(message, dict):
            raise _NotUnderstood
        text, refusal = _text(message, "content", redact), _text(message, "refusal", redact)
        return Answered(
            text=text,
            refusal=refusal or None,
            finish_reason=_text(choices[0], "finish_reason", redact),
            raw=_raw(body, redact) if text is None and not refusal else None,
            logprobs=_logprobs(choices[0].get("logprobs"), message.get("content"), text),
            **_usage(data, redact),
        )
    except _NotUnderstood:
        return Answered(raw=_raw(body, redact))


def read_embeddings(body: bytes, count: int, redact: Redaction) -> Answered:
    """As `read_chat`, with one vector for each of `count` texts, all of the same length."""
    try:
        data = _object(body)
        rows = data.get("data")
        if not isinstance(rows, list) or len(rows) != count or not all(isinstance(row, dict) for row in rows):
            raise _NotUnderstood
        placed = {_place(row, at): _vector(row.get("embedding")) for at, row in enumerate(rows)}
        if placed.keys() != set(range(count)) or len({len(vector) for vector in placed.values()}) > 1:
            raise _NotUnderstood
        return Answered(vectors=[placed[at] for at in range(count)], **_usage(data, redact))
    except _NotUnderstood:
        return Answered(raw=_raw(body, redact))


def read_models(body: bytes, redact: Redaction) -> tuple[str, ...] | None:
    try:
        rows = _object(body).get("data")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise _NotUnderstood
        redact_each = redact.of_many()
        return tuple(name for name in (_text(row, "id", redact_each) for row in rows) if name)
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


def _text(fields: Mapping[str, Any], name: str, redact: Callable[[str], str]) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _NotUnderstood
    return redact(_storable(value))


# Of rounding, a probability may be this much above 1.
_ABOVE = 1e-3


def _logprobs(given: Any, sent: str | None, text: str | None) -> list[tuple[int, float]] | None:
    """As Answered has them. A server may give tokens before the text and behind it, of reasoning or an end, so the text
    is looked for in them; where it isn't there exactly once, nobody knows which are its own. sent: the text before a
    key was taken out of it, which makes it another."""
    tokens = given.get("content") if isinstance(given, dict) else None
    if not isinstance(tokens, list) or text is None:
        return None
    if not text or text != sent:
        return []
    pieces, likely = [_token(token) for token in tokens], [_likely(token) for token in tokens]
    if None in pieces or None in likely:
        return []
    whole, wanted = b"".join(piece for piece in pieces if piece is not None), text.encode()
    begin = whole.find(wanted)
    if begin < 0 or whole.rfind(wanted) != begin:
        return []
    found, end = [], -begin
    for piece, one in zip(pieces, likely, strict=True):
        start, end = end, end + len(piece or b"")
        if start < len(wanted) and end > 0 and one is not None:
            found.append((min(end, len(wanted)), one))
    return found


def _token(token: Any) -> bytes | None:
    """A token may be a part of a character, which only its bytes can say."""
    if not isinstance(token, dict):
        return None
    numbers, text = token.get("bytes"), token.get("token")
    try:
        return bytes(numbers) if isinstance(numbers, list) else text.encode() if isinstance(text, str) else None
    except (TypeError, ValueError):
        return None


def _likely(token: Any) -> float | None:
    value = token.get("logprob") if isinstance(token, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -math.inf < value <= _ABOVE:
        return None
    return min(0.0, float(value))


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


def _usage(data: Mapping[str, Any], redact: Redaction) -> dict[str, Any]:
    """The server's own model name and token counts; unknown where they can't be read, which doesn't spoil the reply."""
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    model = data.get("model")
    return {
        "model": redact(_storable(model))[:200] if isinstance(model, str) else "",
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


def _raw(body: bytes, redact: Redaction) -> str:
    """Of a body that is cut off first, the beginning of a key could be left."""
    return redact.unread(_storable(body.decode("utf-8", "replace")))[:LONGEST_RAW]
