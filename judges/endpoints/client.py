"""Asking an endpoint: one request per call, at the endpoint's pace, and nothing tried twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from judges.endpoints.addresses import AddressRefused, read_url
from judges.endpoints.calls import Answered, BadRequest, CallFailed, ChatRequest, EmbedRequest, StopRun
from judges.endpoints.door import Door, door_of
from judges.endpoints.keys import key_of_endpoint
from judges.endpoints.reading import read_chat, read_embeddings, read_models
from judges.endpoints.redaction import Redaction
from judges.models.judge import Endpoint

if TYPE_CHECKING:
    from judges.endpoints.transport import EndpointTransport

PER = Decimal(1_000_000)
_SMALLEST = Decimal("0.000000001")


class Client:
    """A Model (judges.endpoints.calls): raises TryLater, CallFailed and StopRun, and is safe to use from several
    threads. Use `open_client`."""

    def __init__(self, endpoint: Endpoint, transport: EndpointTransport, redact: Redaction) -> None:
        self.base_url = endpoint.base_url
        self._redact = redact
        self._endpoint = endpoint
        self._transport = transport

    def __repr__(self) -> str:
        return f"<Client of {self._endpoint.name}>"

    def chat(self, request: ChatRequest) -> Answered:
        sent = chat_body(request)
        return self._ask(request, "/chat/completions", sent, read_chat, options=sent.keys() - {"model", "messages"})

    def embed(self, request: EmbedRequest) -> Answered:
        """The vectors of a few dozen texts fit into the 1 MiB that a reply may have."""
        sent: dict[str, Any] = {"model": request.model, "input": list(request.texts), "encoding_format": "float"}
        return self._ask(
            request,
            "/embeddings",
            sent,
            lambda body, redact: read_embeddings(body, len(request.texts), redact),
            options={"encoding_format"},
        )

    def models(self) -> tuple[str, ...] | None:
        """The names of the endpoint's models; None when the reply is no list of them."""
        reply, _seconds = self._transport.send("GET", "/models")
        return read_models(reply, self._redact)

    def _ask(
        self,
        request: ChatRequest | EmbedRequest,
        path: str,
        sent: dict[str, Any],
        read: Callable[[bytes, Redaction], Answered],
        *,
        options: set[str],
    ) -> Answered:
        content = json.dumps(sent, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        try:
            reply, latency = self._transport.send("POST", path, content)
        except BadRequest as failure:
            not_known = _("The model or one of these may be unsupported: %(options)s.") % {
                "options": ", ".join(sorted(options))
            }
            raise CallFailed(failure.status, f"{failure.detail} {not_known}") from None
        body = read(reply, self._redact)
        cost = cost_of(self._endpoint, body.tokens_in, body.tokens_out, needs_out=isinstance(request, ChatRequest))
        return replace(body, cost=cost, latency=latency)


def chat_body(request: ChatRequest) -> dict[str, Any]:
    """The request as the protocol has it."""
    sent: dict[str, Any] = {"model": request.model, "messages": [dict(message) for message in request.messages]}
    for name in ("temperature", "max_tokens", "seed"):
        if getattr(request, name) is not None:
            sent[name] = getattr(request, name)
    if request.logprobs:
        sent["logprobs"] = True
    if request.schema is not None:
        # A strict schema must forbid what it doesn't name, or servers that support “strict” refuse it.
        strict = request.schema.get("additionalProperties") is False
        schema = {"name": "reply", "schema": dict(request.schema), "strict": strict}
        sent["response_format"] = {"type": "json_schema", "json_schema": schema}
    return sent


@contextmanager
def open_client(endpoint: Endpoint, *, door: Door | None = None, at_most: float | None = None) -> Iterator[Client]:
    """A client of the endpoint as it is now; as `open_transport`."""
    with open_transport(endpoint, door=door, at_most=at_most) as (transport, redact):
        yield Client(endpoint, transport, redact)


@contextmanager
def open_transport(
    endpoint: Endpoint,
    *,
    door: Door | None = None,
    at_most: float | None = None,
    headers: Mapping[str, str] | None = None,
) -> Iterator[tuple[EndpointTransport, Redaction]]:
    """What sends to the endpoint as it is now, and what takes its key out of replies. door: instead of the endpoint's
    own. at_most: seconds that a request may take, when the endpoint's own limit is longer. Raises StopRun when its key
    is not available, or its address can't be read; whether it may be reached is checked at each connection."""
    # httpcore2 and the certificates take a while to load, which would slow the start of every web process.
    from judges.endpoints.transport import EndpointTransport

    try:
        target = read_url(endpoint.base_url)
    except AddressRefused as refusal:
        raise StopRun(refusal.code, refusal.message) from None
    key = key_of_endpoint(endpoint)
    transport = EndpointTransport(
        target,
        key,
        door=door or door_of(endpoint),
        seconds=endpoint.timeout_seconds if at_most is None else min(at_most, endpoint.timeout_seconds),
        headers=headers,
    )
    with closing(transport):
        yield transport, Redaction(key)


def cost_of(
    endpoint: Endpoint, tokens_in: int | None, tokens_out: int | None, *, needs_out: bool = True
) -> Decimal | None:
    """In the endpoint's currency; None when a price or a count that it needs is unknown."""
    counted = [(tokens_in, endpoint.price_in)]
    if needs_out:
        counted.append((tokens_out, endpoint.price_out))
    cost = Decimal(0)
    for tokens, price in counted:
        if tokens is None or price is None:
            return None
        cost += tokens * price / PER
    return cost.quantize(_SMALLEST)
