"""What a server sends, or doesn't, becomes a reply or an exception in our own words; nothing is tried twice."""

import gzip
import logging
import socket
import ssl
import threading
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from judges.endpoints.calls import Answered, CallFailed, ChatRequest, EmbedRequest, StopRun, TryLater, key_of
from judges.endpoints.client import Client, open_client
from judges.endpoints.reading import LONGEST_RAW
from judges.endpoints.transport import LARGEST_BODY, retry_after
from judges.models import ScoreStatus
from judges.models.judge import KeySource
from tests.judges.building import unsaved_endpoint
from tests.openai_server import OpenAIServer, Reply, chat, embeddings, error

ERROR, TIMEOUT = ScoreStatus.ERROR, ScoreStatus.TIMEOUT
PLANTED = "planted-by-the-server"
ASK = ChatRequest(model="m", messages=[{"role": "user", "content": "Is it so?"}])
LATIN = {"Content-Type": "text/html"}


def ask(server: OpenAIServer, reply: Reply | None = None, **fields: Any) -> Answered:
    if reply is not None:
        server.script(reply)
    with open_client(unsaved_endpoint(server, **fields)) as client:
        return client.chat(ASK)


def test_what_is_sent(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    # All that libraries for HTTP, or for this protocol, read from the environment.
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/of-the-installation")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: of-the-installation")
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    request = ChatRequest(model="m", messages=ASK.messages, max_tokens=None, seed=7, schema=schema)
    with open_client(unsaved_endpoint(openai_server)) as client:
        client.chat(request)
        client.embed(EmbedRequest(model="e", texts=["a", "b"]))
    asked, embedded = openai_server.requests
    assert asked.json == {
        "model": "m",
        "messages": [{"role": "user", "content": "Is it so?"}],
        "temperature": 0.0,
        "seed": 7,
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}},
    }
    assert embedded.json == {"model": "e", "input": ["a", "b"], "encoding_format": "float"}
    assert set(asked.headers) == {"host", "user-agent", "accept", "accept-encoding", "content-type", "content-length"}
    assert asked.headers["host"] == f"127.0.0.1:{openai_server.port}"


def test_the_key_of_a_question_stays_what_it_is() -> None:
    """Of another one, every reply that is kept would be paid again."""
    messages = [{"role": "user", "content": "Ist das wahr? – ja"}]
    asked = ChatRequest(model="m", messages=messages, schema={"type": "object"}, seed=7, draw=2)
    at = "https://models.example/v1"
    assert key_of(at, asked) == "337bbd3cd08a6bddb9acb2a500806d1b03bdbc3b64c077e999aab3e755179f27"
    embedded = EmbedRequest(model="m", texts=("a", "ü"))
    assert key_of(at, embedded) == "4f474f9c2d6c8d187da9b86ba8cfbb3e3afa3f78006824822d6bf21706a5f6e9"


def test_a_reply(openai_server: OpenAIServer) -> None:
    prices = {"price_in": Decimal("2.5"), "price_out": Decimal(10)}
    found = ask(openai_server, chat("yes", model="m-2026", tokens_in=1000, tokens_out=20), **prices)
    assert (found.text, found.finish_reason, found.model, found.raw) == ("yes", "stop", "m-2026", None)
    assert (found.tokens_in, found.tokens_out, found.cost) == (1000, 20, Decimal("0.0027"))
    assert found.latency > 0
    assert not found.is_kept
    assert ask(openai_server, chat("yes", tokens_in=None), **prices).cost is None, "what isn't known is not free"
    assert ask(openai_server, chat("yes")).cost is None
    cut_off = ask(openai_server, chat('{"a"', finish_reason="length"))
    assert (cut_off.text, cut_off.finish_reason) == ('{"a"', "length")
    refused = ask(openai_server, chat(None, refusal="I won't."))
    assert (refused.text, refused.refusal, refused.raw) == (None, "I won't.", None)
    assert ask(openai_server, chat("a\x00b")).text == "a\ufffdb", "PostgreSQL has no NUL"


def test_vectors(openai_server: OpenAIServer) -> None:
    with open_client(unsaved_endpoint(openai_server, price_in=Decimal(1))) as client:
        openai_server.script(embeddings([[1.0, 0.5], [0, 2]], tokens=2))
        found = client.embed(EmbedRequest(model="e", texts=["a", "b"]))
        assert (found.vectors, found.cost) == ([[1.0, 0.5], [0.0, 2.0]], Decimal("0.000002"))
        for wrong in ([[1.0]], [[1.0], [1.0, 2.0]], [["a"], ["b"]], [[], []], [[True], [False]]):
            openai_server.script(embeddings(wrong))  # type: ignore[arg-type]
            found = client.embed(EmbedRequest(model="e", texts=["a", "b"]))
            assert found.vectors is None
            assert found.raw


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>planted</html>",
        b'{"choices": [{"message": {"content": "yes"}}',
        b"null",
        b"[]",
        b'"yes"',
        b"{}",
        b'{"choices": []}',
        b'{"choices": {}}',
        b'{"choices": [null]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": "yes"}]}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b'{"choices": [{"message": {"content": ["yes"]}}]}',
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        b"\xff\xfe\x00{",
        b"data: {}\n\n",
        b"[" * 5000,
    ],
)
def test_a_success_that_is_no_completion_keeps_what_came(openai_server: OpenAIServer, body: bytes) -> None:
    found = ask(openai_server, Reply(body, headers=LATIN))
    assert (found.text, found.refusal, found.vectors) == (None, None, None)
    assert found.raw == body.decode("utf-8", "replace").replace("\x00", "\ufffd")[:LONGEST_RAW]


REDIRECT = {"Location": "http://127.0.0.1:1/planted"}
BOMB = Reply(gzip.compress(b"0" * 50_000_000), headers={"Content-Encoding": "gzip"})


@pytest.mark.parametrize(
    ("reply", "kind", "status", "seconds"),
    [
        (error(408, PLANTED), TryLater, TIMEOUT, None),
        (error(429, PLANTED, retry_after=7), TryLater, ERROR, 7.0),
        (error(429, PLANTED, retry_after="soon"), TryLater, ERROR, None),
        (error(429, PLANTED, retry_after="9" * 400), TryLater, ERROR, 600.0),
        (error(429, PLANTED, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), TryLater, ERROR, 0.0),
        (error(500, PLANTED), TryLater, ERROR, None),
        (error(503, PLANTED, retry_after=1.5), TryLater, ERROR, 1.5),
        (error(529, PLANTED), TryLater, ERROR, None),
        (Reply(hangs_up=True), TryLater, ERROR, None),
        (Reply({"choices": PLANTED}, cut=9), TryLater, ERROR, None),
        (Reply({"choices": PLANTED}, cut=0), TryLater, ERROR, None),
        (Reply(b"x", headers={"Content-Length": "many"}), TryLater, ERROR, None),
        (Reply(b"x", headers={"Bad Name": PLANTED}), TryLater, ERROR, None),
        (Reply(b"x", headers={"X-Long": "y" * 200_000}), TryLater, ERROR, None),
        (error(400, PLANTED), CallFailed, ERROR, None),
        (error(402, PLANTED), CallFailed, ERROR, None),
        (error(404, PLANTED), CallFailed, ERROR, None),
        (error(413, PLANTED), CallFailed, ERROR, None),
        (error(422, PLANTED), CallFailed, ERROR, None),
        (Reply(b"x" * (LARGEST_BODY + 1)), CallFailed, ERROR, None),
        (BOMB, CallFailed, ERROR, None),
        (error(401, PLANTED), StopRun, "refused_key", None),
        (error(403, PLANTED), StopRun, "refused_key", None),
        (error(302, PLANTED, headers=REDIRECT), StopRun, "redirect", None),
        (error(307, PLANTED, headers=REDIRECT), StopRun, "redirect", None),
        (Reply(b"x" * 3_000_000, status=500), TryLater, ERROR, None),
    ],
)
def test_trouble(
    openai_server: OpenAIServer, caplog: pytest.LogCaptureFixture, reply: Reply, kind: type, status: str, seconds: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises((CallFailed, StopRun)) as caught:
        ask(openai_server, reply)
    found = caught.value
    assert type(found) is kind
    assert (found.code if isinstance(found, StopRun) else found.status) == status
    assert getattr(found, "seconds", None) == seconds
    assert len(openai_server.requests) == 1, "it was tried again"
    shown = [repr(found), repr(vars(found)), *traceback.format_exception(found), *caplog.messages]
    assert not [text for text in shown if PLANTED in text or "127.0.0.1:1/" in text]


def test_a_bomb_is_counted_while_it_is_decoded(openai_server: OpenAIServer) -> None:
    small = gzip.compress(orjson.dumps(chat("yes").body))
    assert ask(openai_server, Reply(small, headers={"Content-Encoding": "gzip"})).text == "yes"
    assert ask(openai_server, Reply(small[:-12], headers={"Content-Encoding": "gzip"})).text is None
    assert ask(openai_server, Reply(b"no gzip", headers={"Content-Encoding": "gzip"})).raw == ""


@pytest.mark.parametrize("more", [b"x" * 3_000_000, b"\0\0\0\xff\xff" * 600_000], ids=["after its end", "nothing"])
def test_what_brings_nothing_is_counted_too(openai_server: OpenAIServer, more: bytes) -> None:
    """It would be read, and gathered, until time is up."""
    packing = zlib.compressobj(wbits=31)
    packed = packing.compress(b"{}") + packing.flush(zlib.Z_FINISH if more[:1] == b"x" else zlib.Z_FULL_FLUSH)
    with pytest.raises(CallFailed, match="larger than 1 MiB"):
        ask(openai_server, Reply(packed + more, headers={"Content-Encoding": "gzip"}))


def test_time_is_up_however_slowly_it_comes(openai_server: OpenAIServer) -> None:
    for reply in (Reply(hangs=True), Reply(b" " * 100, drip=0.3)):
        with pytest.raises(TryLater) as caught:
            ask(openai_server, reply, timeout_seconds=1)
        assert caught.value.status == TIMEOUT


def test_no_server_at_the_address(openai_server: OpenAIServer) -> None:
    with pytest.raises(TryLater) as caught:
        ask(openai_server, base_url="http://127.0.0.1:1/v1")
    assert caught.value.status == ERROR


def test_an_untrusted_certificate_stops_the_run(
    openai_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY_A", "sk-planted-0123456789")
    with https_server(tmp_path) as (port, came):
        endpoint = unsaved_endpoint(
            openai_server,
            base_url=f"https://127.0.0.1:{port}/v1",
            key_source=KeySource.ENVIRONMENT,
            key_variable="JUDGE_KEY_A",
        )
        with pytest.raises(StopRun) as caught, open_client(endpoint) as client:
            client.chat(ASK)
    assert (caught.value.code, came) == ("bad_certificate", [])


@contextmanager
def https_server(folder: Path) -> Iterator[tuple[int, list[bytes]]]:
    """With a certificate of its own making: its port, and what clients said to it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, SHA256())
    )
    pem = folder / "server.pem"
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem.write_bytes(private + certificate.public_bytes(encoding))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    came: list[bytes] = []

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            try:
                with context.wrap_socket(connection, server_side=True) as secured:
                    came.append(secured.recv(1))
            except OSError:
                pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1], came
        thread.join(10)


def test_what_a_server_may_not_know_is_named(openai_server: OpenAIServer) -> None:
    request = ChatRequest(model="m", messages=ASK.messages, max_tokens=None, seed=7, schema={"type": "object"})
    openai_server.script(error(400))
    with open_client(unsaved_endpoint(openai_server)) as client, pytest.raises(CallFailed) as caught:
        client.chat(request)
    assert caught.value.detail == (
        "The endpoint rejected the request (400). The model or one of these may be unsupported: "
        "response_format, seed, temperature."
    )


def test_dates_to_wait_for() -> None:
    at = 1_700_000_000.0  # 22:13:20 on 14 November 2023
    assert retry_after({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, now=at) == 30.0
    assert retry_after({"retry-after": "Wed, 14 Nov 2063 22:13:50 GMT"}, now=at) == 600.0
    for value in ("", "-5", "inf", "1e9", "٣", "Tue, 99 Nov 2023"):
        assert retry_after({"retry-after": value}, now=at) is None


def test_connections_are_kept_and_shared_by_threads(openai_server: OpenAIServer) -> None:
    with open_client(unsaved_endpoint(openai_server, concurrency=4)) as client:
        with openai_server.held():
            threads = [threading.Thread(target=client.chat, args=(ASK,)) for _ in range(12)]
            for thread in threads:
                thread.start()
            openai_server.wait_for(4)
        for thread in threads:
            thread.join()
    assert len(openai_server.requests) == 12
    assert openai_server.most_at_once == 4
    assert len({request.peer for request in openai_server.requests}) == 4


def test_a_key_that_is_missing_stops_the_run(openai_server: OpenAIServer) -> None:
    with pytest.raises(StopRun) as caught:
        ask(openai_server, key_source=KeySource.ENVIRONMENT, key_variable="JUDGE_KEY_UNSET")
    assert (caught.value.code, openai_server.requests) == ("no_key", [])
    with pytest.raises(StopRun) as caught:
        ask(openai_server, key_source=KeySource.STORED, key_encrypted=b"of another installation")
    assert (caught.value.code, openai_server.requests) == ("unreadable_key", [])


def test_nothing_of_a_key_in_its_client(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY_A", "sk-planted-0123456789")
    openai_server.key = "sk-planted-0123456789"
    endpoint = unsaved_endpoint(openai_server, key_source=KeySource.ENVIRONMENT, key_variable="JUDGE_KEY_A")
    with open_client(endpoint) as client:
        assert client.chat(ASK).text
        assert "sk-planted" not in repr(client) + repr(vars(client)) + repr(vars(client._transport))
    assert isinstance(client, Client)
