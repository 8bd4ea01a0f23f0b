"""Requests that no well-meant client sends, written without knowing the code: each gets an answer within seconds that
is no fault of ours, and says what is wrong; no row of any table is another one afterwards."""

from __future__ import annotations

import pytest

from tests.hostile.calls import CALLS, Call
from tests.hostile.conftest import TRAIL, nothing_stored
from tests.hostile.outside import Outside, Reply
from tests.hostile.wire import WIRES, Wire

pytestmark = pytest.mark.django_db


def expect(reply: Reply, status: tuple[int, ...], says: str) -> None:
    assert reply.status in status, f"{reply.head}\n{reply.text[:500]}"
    assert says in reply.text, reply.text[:1000]
    assert "evil.example" not in reply.header("Location") + reply.header("Set-Cookie")
    assert not reply.cookie("session")


@pytest.mark.parametrize("wire", WIRES, ids=str)
def test_on_the_wire(outside: Outside, wire: Wire) -> None:
    with nothing_stored():
        expect(outside.send(wire.data), wire.status, wire.says)


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_calls(outside: Outside, call: Call) -> None:
    with nothing_stored(but=TRAIL if call.name.startswith(("push", "response")) else ()):
        reply = outside.call(call.line, call.body, user=call.user, **call.headers)
        expect(reply, (call.status,), call.says)
        assert reply.json()["error"]["message"]
