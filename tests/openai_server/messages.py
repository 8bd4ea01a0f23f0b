"""What came and what is sent back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass
class Request:
    """One HTTP request as it came. headers: their names in lower case. at: seconds of `time.monotonic`. peer: the
    other end of the connection, by which two connections are told apart."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    peer: Any = None

    @cached_property
    def json(self) -> Any:
        """The body; None for one that is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def is_chat(self) -> bool:
        return self.path.endswith("/chat/completions")

    @property
    def prompt(self) -> str:
        """The words of all messages."""
        messages = self.json.get("messages", []) if isinstance(self.json, dict) else []
        return "\n\n".join(_text_of(message.get("content")) for message in messages)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the reply has to keep to."""
        form = (self.json or {}).get("response_format") or {}
        return form["json_schema"].get("schema") if form.get("type") == "json_schema" else None


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return content or ""


@dataclass
class Reply:
    """What is sent back.

    body: bytes as they are, or a value that is sent as JSON. delay: seconds before it, in place of the server's own
    latency. cut: only so many bytes of the body are sent, then the connection is closed. drip: seconds between
    the bytes of the body. hangs: nothing is ever sent. hangs_up: the connection is closed without a word.
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float | None = None
    cut: int | None = None
    drip: float = 0.0
    hangs: bool = False
    hangs_up: bool = False

    def encoded(self) -> tuple[bytes, bytes]:
        """Head and body."""
        is_raw = isinstance(self.body, bytes)
        body = self.body if is_raw else json.dumps(self.body, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **self.headers}
        lines = [f"HTTP/1.1 {self.status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"), body


def chat(
    text: str | None = "",
    *,
    refusal: str | None = None,
    finish_reason: str = "stop",
    model: str = "scripted",
    tokens_in: int | None = 10,
    tokens_out: int | None = 5,
    logprobs: Sequence[tuple[str, float]] | None = None,
    **how: Any,
) -> Reply:
    """A chat completion with one choice. tokens_in=None: a server that doesn't count. logprobs: its tokens, each with
    its log-probability. how: fields of Reply."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
                "finish_reason": finish_reason,
            }
        ],
    }
    if logprobs is not None:
        body["choices"][0]["logprobs"] = {
            "content": [
                {"token": token, "logprob": one, "bytes": list(token.encode()), "top_logprobs": []}
                for token, one in logprobs
            ]
        }
    if tokens_in is not None:
        tokens_out = tokens_out or 0
        body["usage"] = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
    return Reply(body, **how)


def embeddings(vectors: Sequence[Sequence[float]], *, model: str = "scripted", tokens: int = 10, **how: Any) -> Reply:
    data = [{"object": "embedding", "index": index, "embedding": list(vector)} for index, vector in enumerate(vectors)]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Reply({"object": "list", "data": data, "model": model, "usage": usage}, **how)


def error(status: int, message: str = "scripted", *, retry_after: str | float | None = None, **how: Any) -> Reply:
    """An error in the shape that the protocol has for them."""
    headers = dict(how.pop("headers", {}))
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    body = {"error": {"message": message, "type": "scripted", "param": None, "code": None}}
    return Reply(body, status=status, headers=headers, **how)
