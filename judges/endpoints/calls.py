"""What is sent to a model and what it replies.

A kind of judge puts a request together and reads the reply; it never sees what lies between: keys, addresses, pace,
retries, kept replies, the budget.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Protocol

from judges.models import ScoreStatus


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request for a chat completion.

    messages: [{"role": "system" | "user" | "assistant", "content": text}]. schema: a JSON schema that the reply has to
    keep to, for servers that can enforce one; None asks for plain text. seed: None lets the server draw. draw: the
    number that makes requests of the same words different, so that a repeat is asked again and no kept reply is used.
    logprobs: asks for the log-probability of each token of the reply.
    """

    model: str
    messages: Sequence[Mapping[str, str]]
    temperature: float | None = 0.0
    max_tokens: int | None = 1024
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    draw: int = 0
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """One request for the embeddings of texts."""

    model: str
    texts: Sequence[str]
    draw: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply, as it came.

    key: of the question (`key_of`); "" until the reply is kept. text: None when there is none. refusal: the model's own
    words, from the field that servers have for it. finish_reason: "stop", "length", "content_filter" … vectors: of an
    EmbedRequest, shape (texts, dimensions). model: the name that the server gives. tokens: None when the server doesn't
    say. cost: in the endpoint's currency; None when prices or tokens are unknown. latency: seconds. is_kept: a reply
    that was kept; nothing was sent or paid. raw: the beginning of a success that holds no text, refusal or vectors: it
    could not be understood, which is a parse_error; None otherwise. logprobs: of each token of the text, in order,
    where it ends (in bytes of UTF-8 from the text's beginning) and its log-probability; None when the server gave none,
    empty when they are not of this text.
    """

    key: str = ""
    text: str | None = None
    refusal: str | None = None
    finish_reason: str | None = None
    vectors: Sequence[Sequence[float]] | None = None
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    latency: float = 0.0
    is_kept: bool = False
    raw: str | None = None
    logprobs: Sequence[tuple[int, float]] | None = None


class CallFailed(Exception):
    """No reply, and another try would bring none. `detail`: our own words, nothing that the server sent. may_be_paid:
    the server may have worked out a reply, which was too late, too long or lost on its way."""

    def __init__(self, status: ScoreStatus, detail: str, *, may_be_paid: bool = False) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.may_be_paid = may_be_paid


class BadRequest(CallFailed):
    """The server refused the request as malformed."""


class TryLater(CallFailed):
    """No reply this time: 408, 429, 5xx, the network. `seconds`: not before; None when the server didn't say."""

    def __init__(
        self, status: ScoreStatus, detail: str, seconds: float | None = None, *, may_be_paid: bool = False
    ) -> None:
        super().__init__(status, detail, may_be_paid=may_be_paid)
        self.seconds = seconds


class StopRun(Exception):
    """No further request makes sense: a refused key, an address that may not be reached, a spent budget."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Model(Protocol):
    """Answers requests. Safe to use from several threads.

    Raises CallFailed, TryLater and StopRun, which a kind doesn't catch: its caller handles them.
    """

    def chat(self, request: ChatRequest) -> Answered: ...

    def embed(self, request: EmbedRequest) -> Answered: ...


def key_of(base_url: str, request: ChatRequest | EmbedRequest) -> str:
    """SHA-256 of the question and of the address that it is sent to: the same key means the same question."""
    # Not `asdict`: a copy of every message takes longer than the rest.
    asked = {field.name: getattr(request, field.name) for field in fields(request)}
    # Left out where it isn't asked for: questions of before have the key that they had.
    if not asked.get("logprobs"):
        asked.pop("logprobs", None)
    what = {"to": base_url, "as": type(request).__name__, **asked}
    return hashlib.sha256(json.dumps(what, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
