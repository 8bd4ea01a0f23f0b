"""One question to a target: what is sent, what came, and what it says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judges.endpoints.calls import CallFailed, StopRun
from judges.endpoints.client import open_transport
from judges.endpoints.door import Door
from judges.endpoints.redaction import Redaction
from judges.models import ScoreStatus
from judges.versions.identity import canonical_json
from systems.models import QuestionRevision, SystemVersion, Target
from systems.targets.replies import Mapped, NoAnswer, mapped, read_body
from systems.targets.template import Sent, filled, values_of

if TYPE_CHECKING:
    from judges.endpoints.transport import EndpointTransport


@dataclass(frozen=True, slots=True)
class Came:
    """A reply. text: whole, without the endpoint's key. problem: why it can't be read; empty where it can."""

    text: str
    problem: str
    seconds: float


class Asker:
    """Of one version, at its target as it is now. Safe to use from several threads. Use `open_asker`."""

    def __init__(self, target: Target, version: SystemVersion, transport: EndpointTransport, redact: Redaction) -> None:
        self._target = target
        self._version = version
        self._transport = transport
        self._redact = redact

    def sent(self, revision: QuestionRevision, repeat: int) -> Sent:
        """revision: with its question. Raises Invalid as `filled`."""
        return filled(self._target.path, self._target.body, values_of(revision, repeat, self._version))

    def key_of(self, sent: Sent, revision: QuestionRevision, repeat: int) -> str:
        """SHA-256 of all that a reply to it rests on: the same key of the same version means the same question."""
        target = self._target
        what = {
            "to": target.endpoint.base_url,
            "method": target.method,
            "path": sent.path,
            "headers": target.headers,
            "body": sent.content.decode(),
            "question": revision.pk,
            "repeat": repeat,
        }
        return hashlib.sha256(canonical_json(what)).hexdigest()

    def ask(self, sent: Sent) -> Came:
        """Raises TryLater, CallFailed and StopRun."""
        try:
            body, seconds = self._transport.send(self._target.method, sent.path, sent.content)
        except StopRun as stop:
            if stop.code == "redirect":  # of one question, perhaps: the others are asked
                raise CallFailed(ScoreStatus.ERROR, stop.message) from None
            raise
        text, problem = read_body(body, self._redact)
        return Came(text, problem, seconds)

    def mapped(self, came: Came) -> Mapped:
        """The latency is what was measured here, unless the reply says one. Raises NoAnswer."""
        if came.problem:
            raise NoAnswer(came.problem)
        found = mapped(came.text, self._target.reply)
        found.measures.setdefault("latency_ms", 1000 * came.seconds)
        return found.with_cost(self._version)


@contextmanager
def open_asker(
    target: Target, version: SystemVersion, *, door: Door | None = None, at_most: float | None = None
) -> Iterator[Asker]:
    """Raises StopRun as `open_transport`."""
    opened = open_transport(target.endpoint, door=door, at_most=at_most, headers=target.headers)
    with opened as (transport, redact):
        yield Asker(target, version, transport, redact)
