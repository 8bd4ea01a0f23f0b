"""What comes back from an OpenID Connect provider, or seems to, and is not believed."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from django.db import connections
from django.test import Client

from annotate.models import User
from tests.frontend.account.test_single_sign_on import refused, try_in, who
from tests.oidc_provider import Provider


def test_a_reply_that_this_browser_did_not_ask_for(provider: Provider, settings: Any) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    mine, theirs = Client(), Client()
    back = provider.agree(theirs.get("/login/provider/").url, "mallory")
    assert "didn’t work" in refused(mine.get(back), mine)
    assert theirs.get(back).url == "/"
    # Nor twice.
    again = Client()
    again.cookies = theirs.cookies
    theirs.post("/logout/")
    assert "didn’t work" in refused(theirs.get(back), theirs)


def test_the_code_of_another_browser_with_the_state_of_this_one(provider: Provider, settings: Any) -> None:
    """The ID token that comes of it has the other browser's nonce."""
    settings.OIDC_CREATE_ACCOUNTS = True
    mine, theirs = Client(), Client()
    state = parse_qs(urlsplit(mine.get("/login/provider/").url).query)["state"][0]
    stolen = provider.agree(theirs.get("/login/provider/").url, "mallory")
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    assert "didn’t work" in refused(mine.get("/login/provider/back/", {"code": code, "state": state}), mine)
    assert not User.objects.exists()


@pytest.fixture
def on_its_way(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What was sent for a token; and "alter": a function of the ID token that comes back."""
    seen: dict[str, Any] = {"alter": lambda token: token}
    original = httpx2.Client.send

    def send(self: httpx2.Client, request: httpx2.Request, **options: Any) -> httpx2.Response:
        reply = original(self, request, **options)
        if request.url.path != "/oauth2/token":
            return reply
        seen["sent"] = {name: one[0] for name, one in parse_qs(request.content.decode()).items()}
        found = reply.json()
        return httpx2.Response(200, json={**found, "id_token": seen["alter"](found["id_token"])}, request=request)

    monkeypatch.setattr(httpx2.Client, "send", send)
    return seen


def test_the_code_is_redeemed_with_what_its_challenge_is_of(
    provider: Provider, settings: Any, on_its_way: dict[str, Any]
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    browser = Client()
    asked = browser.get("/login/provider/").url
    assert browser.get(provider.agree(asked, "n-9")).url == "/"
    digest = hashlib.sha256(on_its_way["sent"]["code_verifier"].encode()).digest()
    assert parse_qs(asked)["code_challenge"] == [base64.urlsafe_b64encode(digest).decode().rstrip("=")]


def _part(values: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _another_person(token: str) -> str:
    head, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    return f"{head}.{_part({**claims, 'sub': 'n-11'})}.{signature}"


def _unsigned(token: str) -> str:
    return f"{_part({'alg': 'none', 'typ': 'JWT'})}.{token.split('.')[1]}."


@pytest.mark.parametrize(
    "alter", [_another_person, _unsigned, lambda token: "", lambda token: None, lambda token: 7], ids=range(5)
)
def test_an_id_token_that_the_provider_did_not_sign(
    provider: Provider, settings: Any, on_its_way: dict[str, Any], alter: Any
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    on_its_way["alter"] = alter
    assert "didn’t work" in try_in(provider, "n-10")
    assert not User.objects.exists()


def test_another_issuer_than_the_one_that_was_named(provider: Provider, settings: Any) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    settings.OIDC_ISSUER = f"{provider.url}/"
    assert "didn’t work" in try_in(provider, "n-8")


def test_the_person_changed_their_mind(provider: Provider) -> None:
    browser = Client()
    back = provider.refuse(browser.get("/login/provider/").url)
    assert "Signing in with Example ID didn’t work" in refused(browser.get(back), browser)


@pytest.mark.parametrize("query", [{}, {"code": "x"}, {"state": "x"}, {"error": "x", "error_description": "\x00<b>"}])
def test_nonsense_comes_back(provider: Provider, query: dict[str, str]) -> None:
    browser = Client()
    assert browser.get("/login/provider/back/", query).status_code in (302, 400)
    assert who(browser) == ""


def test_a_provider_that_is_away(provider: Provider, settings: Any) -> None:
    settings.OIDC_ISSUER = "http://localhost:1"
    browser = Client()
    assert "didn’t work" in refused(browser.get("/login/provider/", {"next": "/p/help/"}), browser)


@pytest.mark.django_db(transaction=True)
def test_one_that_never_answers_is_left_to_others_threads(provider: Provider, settings: Any) -> None:
    """Two threads wait for it, and nobody else; then nobody does, for a while."""
    with socket.create_server(("localhost", 0)) as mute, ThreadPoolExecutor(8) as pool:
        settings.OIDC_ISSUER = f"http://localhost:{mute.getsockname()[1]}"
        replies = [pool.submit(refused_at_once) for _ in range(8)]
        assert all("didn’t work" in reply.result() for reply in replies)
        assert "didn’t work" in refused_at_once()
        mute.settimeout(0)
        asked = []
        with suppress(BlockingIOError):
            while True:
                asked.append(mute.accept()[0])
        for one in asked:
            one.close()
    assert 1 <= len(asked) <= 2


def refused_at_once() -> str:
    try:
        return refused((browser := Client()).get("/login/provider/"), browser)
    finally:
        connections.close_all()


@pytest.fixture
def certified(tmp_path: Path, provider: Provider) -> Iterator[tuple[str, Path]]:
    """An address of the provider's over https, and the authority that its certificate is of: itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    file = tmp_path / "certificate.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    told = httpx2.get(f"{provider.url}/.well-known/openid-configuration").content

    class Discovery(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("localhost", 0), Discovery) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"https://localhost:{server.server_port}", file
        server.shutdown()
        thread.join()


def test_a_certificate_that_nobody_vouches_for(
    certified: tuple[str, Path], settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.OIDC_ISSUER, authority = certified
    browser = Client()
    assert "didn’t work" in refused(browser.get("/login/provider/", {"next": "/"}), browser)
    assert "certificate" in caplog.text.lower()
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    assert "/oauth2/authorize?" in browser.get("/login/provider/").url
