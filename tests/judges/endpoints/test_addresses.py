"""No address that may not be reached is: not when it is saved, not when it is changed, tried or connected to in a run,
not by a name that answers otherwise the second time, and not by a redirect. A canary's socket tells."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from annotate.core.errors import Invalid
from annotate.models import Project
from judges.endpoints import addresses
from judges.endpoints.addresses import AddressRefused, addresses_of, read_url
from judges.endpoints.calls import ChatRequest, StopRun, TryLater
from judges.endpoints.client import open_client
from judges.endpoints.write import change_endpoint, create_endpoint, try_endpoint
from judges.models import Endpoint
from tests.clients import client_of
from tests.judges.building import make_project, unsaved_endpoint
from tests.openai_server import OpenAIServer, error

ASK = ChatRequest(model="m", messages=[{"role": "user", "content": "?"}])
# {port}: the canary's, which listens on 127.0.0.1 and on ::1. Names in DNS are answered by `lookups`.
CORPUS = [
    "http://127.0.0.1:{port}/v1",
    "http://127.0.0.2:{port}/v1",
    "http://127.255.255.254:{port}/v1",
    "https://127.0.0.1:{port}/v1",
    "http://localhost:{port}/v1",
    "http://LOCALHOST:{port}/v1",
    "http://localhost.:{port}/v1",
    "http://127.0.0.1.:{port}/v1",
    "http://2130706433:{port}/v1",
    "http://017700000001:{port}/v1",
    "http://0x7f000001:{port}/v1",
    "http://0x7f.0.0.1:{port}/v1",
    "http://0177.0.0.1:{port}/v1",
    "http://127.1:{port}/v1",
    "http://127.0.1:{port}/v1",
    "http://127.0.0.1.2:{port}/v1",
    "http://127.0.0.001:{port}/v1",
    "http://１２７.０.０.１:{port}/v1",
    "http://127。0。0。1:{port}/v1",
    "http://①②⑦.⓪.⓪.①:{port}/v1",
    "http://ⓛocalhost:{port}/v1",
    "http://%31%32%37.0.0.1:{port}/v1",
    "http://0.0.0.0:{port}/v1",
    "http://0:{port}/v1",
    "http://[::1]:{port}/v1",
    "http://[::]:{port}/v1",
    "http://[0:0:0:0:0:0:0:1]:{port}/v1",
    "http://[::ffff:127.0.0.1]:{port}/v1",
    "http://[::ffff:7f00:1]:{port}/v1",
    "http://[::127.0.0.1]:{port}/v1",
    "http://[64:ff9b::127.0.0.1]:{port}/v1",
    "http://[64:ff9b:1::127.0.0.1]:{port}/v1",
    "http://[2002:7f00:1::]:{port}/v1",
    "http://[2001:0:7f00:1::1]:{port}/v1",
    "http://[fe80::5efe:127.0.0.1]:{port}/v1",
    "http://[::1%25lo]:{port}/v1",
    "http://[fe80::1%25lo]:{port}/v1",
    "http://169.254.169.254/latest",
    "http://[::ffff:169.254.169.254]/latest",
    "http://[fd00:ec2::254]/latest",
    "http://100.100.100.200/latest",
    "http://168.63.129.16/latest",
    "http://192.0.0.192/latest",
    "http://10.0.0.1:{port}/v1",
    "http://172.16.0.1:{port}/v1",
    "http://192.168.1.1:{port}/v1",
    "http://100.64.0.1:{port}/v1",
    "http://[fd12::1]:{port}/v1",
    "http://224.0.0.1:{port}/v1",
    "http://255.255.255.255:{port}/v1",
    "http://240.0.0.1:{port}/v1",
    "http://[ff02::1]:{port}/v1",
    "http://user:pass@127.0.0.1:{port}/v1",
    "http://api.openai.com@127.0.0.1:{port}/v1",
    "http://127.0.0.1:{port}#@api.openai.com/v1",
    "http://127.0.0.1:{port}?@api.openai.com/v1",
    "http://127.0.0.1:{port}\\@api.openai.com/v1",
    "http:\\\\127.0.0.1:{port}\\v1",
    "http:127.0.0.1:{port}/v1",
    "//127.0.0.1:{port}/v1",
    "http:///127.0.0.1:{port}/v1",
    "http://127.0.0.1 :{port}/v1",
    "http://127.0.0.1\t:{port}/v1",
    "http://127.0.0.1\r\nX-A: b:{port}/v1",
    "http://127.0.0.1:{port}/v1/../admin",
    "http://127.0.0.1:{port}/v1/%2e%2e/admin",
    "ftp://127.0.0.1:{port}/v1",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/_",
    "unix:///var/run/docker.sock",
    "javascript:alert(1)",
    "http://inside.example:{port}/v1",
    "http://inside6.example:{port}/v1",
    "http://both.example:{port}/v1",
    "http://metadata.example/latest",
    "http://mapped.example:{port}/v1",
]
NAMES = {
    "inside.example": ["127.0.0.1"],
    "inside6.example": ["::1"],
    "both.example": ["93.184.216.34", "127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "rebinds.example": ["93.184.216.34"],
}


class Canary:
    """Listens at a forbidden address. `touched`: how often a client connected."""

    def __init__(self) -> None:
        self.touched = 0
        self._four = socket.create_server(("127.0.0.1", 0))
        self.port = self._four.getsockname()[1]
        self._sockets = [self._four]
        if socket.has_ipv6:
            try:
                self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
            except OSError:
                pass  # a machine without IPv6
        self._threads = [threading.Thread(target=self._listen, args=(one,)) for one in self._sockets]
        for thread in self._threads:
            thread.start()

    def _listen(self, listening: socket.socket) -> None:
        while True:
            connection, _ = listening.accept()
            with connection:
                if connection.recv(4) == b"stop":
                    return
            self.touched += 1

    def close(self) -> None:
        for listening, thread in zip(self._sockets, self._threads, strict=True):
            with socket.create_connection(listening.getsockname()[:2]) as connection:
                connection.sendall(b"stop")
            thread.join()
            listening.close()


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    found = Canary()
    yield found
    found.close()


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What DNS says; everything but these names is looked up as it is."""
    names, real = dict(NAMES), socket.getaddrinfo

    def lookup(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in names:
            return real(host, port, *rest, **more)
        return [
            (socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))
            for ip in names[name]
        ]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return names


@pytest.fixture
def closed(settings: Any) -> None:
    """No private host is allowed."""
    settings.JUDGE_PRIVATE_HOSTS = []


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


def test_every_address_at_every_sink(
    project: Project, canary: Canary, lookups: Any, openai_server: OpenAIServer, settings: Any, admin_user: Any
) -> None:
    """One test for all of them: a world for each would be minutes."""
    standing = create_endpoint(project=project, name="standing", base_url=openai_server.url, key="k" * 20)
    settings.JUDGE_PRIVATE_HOSTS = []
    assert len(CORPUS) >= 40
    api, browser = client_of(admin_user), Client()
    browser.force_login(admin_user)
    form = {"key_source": "none", "concurrency": 8, "timeout_seconds": 60, "currency": "USD", "revision": 1}
    pages = "/p/p/judges/endpoints/"
    at = "/api/projects/p/endpoints/"
    for position, pattern in enumerate(CORPUS):
        url = pattern.replace("{port}", str(canary.port))
        with pytest.raises(Invalid) as caught:
            create_endpoint(project=project, name="new", base_url=url)
        assert caught.value.details == {"field": "base_url"}, url
        with pytest.raises(Invalid):
            change_endpoint(endpoint=standing, expected_revision=1, base_url=url, key="k" * 20)
        made = api.post(at, {"name": "new", "base_url": url})
        assert (made.status_code, made.json().get("field")) == (422, "base_url"), url
        changed = api.patch(at + "standing/", {"base_url": url, "key": "x"}, headers={"If-Match": "1"})
        assert (changed.status_code, changed.json().get("field")) == (422, "base_url"), url
        # The form of a change tells the service the same; a page takes longer than all the rest together.
        for page in ("new/", "edit/standing/") if position % 4 == 0 else ("new/",):
            assert browser.post(pages + page, {**form, "name": "new", "base_url": url}).status_code == 422, url
        # As if it had got into the database in another way, or the setting had been taken back since.
        Endpoint.objects.filter(pk=standing.pk).update(base_url=url)
        standing.refresh_from_db()
        trial = try_endpoint(endpoint=standing, model="m")
        assert not trial.works, url
        assert trial.status in ("bad_base_url", "private_address", "address_not_allowed"), (url, trial)
        with pytest.raises(StopRun), open_client(standing) as client:
            client.chat(ASK)
        Endpoint.objects.filter(pk=standing.pk).update(base_url=openai_server.url)
        standing.refresh_from_db()
    assert canary.touched == 0
    assert openai_server.requests == []
    assert Endpoint.objects.count() == 1


def test_a_name_that_answers_otherwise_the_second_time(
    canary: Canary, lookups: dict[str, list[str]], closed: None, openai_server: OpenAIServer
) -> None:
    assert addresses_of("rebinds.example", canary.port) == ["93.184.216.34"]
    lookups["rebinds.example"] = ["127.0.0.1"]
    endpoint = unsaved_endpoint(openai_server, base_url=f"http://rebinds.example:{canary.port}/v1")
    with open_client(endpoint) as client, pytest.raises(StopRun) as caught:
        client.chat(ASK)
    assert caught.value.code == "private_address"
    # Why a run stopped is also read by people who may not see endpoints.
    assert "rebinds.example" not in caught.value.message
    assert canary.touched == 0


def test_what_was_checked_is_what_is_connected_to(
    openai_server: OpenAIServer, lookups: dict[str, list[str]], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked up once per connection; the address goes to the socket, the name into the Host header."""
    settings.JUDGE_PRIVATE_HOSTS = ["inside.example"]
    looked: list[str] = []
    real = addresses.addresses_of
    monkeypatch.setattr(
        "judges.endpoints.pinned.addresses_of", lambda host, port: looked.append(host) or real(host, port)
    )
    with open_client(
        unsaved_endpoint(openai_server, base_url=f"http://inside.example:{openai_server.port}/v1")
    ) as client:
        client.chat(ASK)
        lookups["inside.example"] = ["169.254.169.254"]
        client.chat(ASK)  # on the same connection
    assert looked == ["inside.example"]
    assert openai_server.requests[0].headers["host"] == f"inside.example:{openai_server.port}"


def test_a_redirect_leads_nowhere(canary: Canary, openai_server: OpenAIServer) -> None:
    for status in (301, 302, 303, 307, 308):
        openai_server.script(error(status, headers={"Location": f"http://127.0.0.1:{canary.port}/v1"}))
        with open_client(unsaved_endpoint(openai_server)) as client, pytest.raises(StopRun) as caught:
            client.chat(ASK)
        assert caught.value.code == "redirect"
    assert canary.touched == 0


def test_a_proxy_of_the_environment_is_not_used(
    canary: Canary, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    with open_client(unsaved_endpoint(openai_server)) as client:
        client.chat(ASK)
    assert canary.touched == 0


@pytest.mark.parametrize(
    ("allowed", "url", "works"),
    [
        (["127.0.0.1"], "http://127.0.0.1:{port}/v1", True),
        (["127.0.0.1:{port}"], "http://127.0.0.1:{port}/v1", True),
        (["127.0.0.1:1"], "http://127.0.0.1:{port}/v1", False),
        (["inside.example"], "http://127.0.0.1:{port}/v1", False),
        (["127.0.0.1"], "http://inside.example:{port}/v1", False),
        (["INSIDE.example:{port}"], "http://inside.example:{port}/v1", True),
        (["[::1]:{port}"], "http://127.0.0.1:{port}/v1", False),
        # What no setting allows.
        (["metadata.example", "169.254.169.254"], "http://metadata.example:{port}/v1", False),
        (["169.254.169.254"], "http://169.254.169.254:{port}/v1", False),
        (["0.0.0.0"], "http://0.0.0.0:{port}/v1", False),
        (["[fd00:ec2::254]"], "http://[fd00:ec2::254]:{port}/v1", False),
        (["224.0.0.1"], "http://224.0.0.1:{port}/v1", False),
    ],
)
def test_what_the_operator_allows(
    openai_server: OpenAIServer, lookups: Any, settings: Any, allowed: list[str], url: str, works: bool
) -> None:
    port = str(openai_server.port)
    settings.JUDGE_PRIVATE_HOSTS = [entry.replace("{port}", port) for entry in allowed]
    trial = try_endpoint(endpoint=unsaved_endpoint(openai_server, base_url=url.replace("{port}", port)), model="m")
    assert (trial.works, len(openai_server.requests)) == (works, int(works))


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("HTTPS://API.OpenAI.com.:443/v1", "https://api.openai.com/v1"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example/v1"),
        ("http://93.184.216.34:8000", "http://93.184.216.34:8000"),
        ("http://[2606:4700:0::1]/v1", "http://[2606:4700::1]/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
    ],
)
def test_base_urls_have_one_spelling(text: str, url: str) -> None:
    assert read_url(text).url == url


@pytest.mark.parametrize("port", ["0", "65536", "-1", "x", "８０", ""])
def test_ports(port: str) -> None:
    with pytest.raises(AddressRefused):
        read_url(f"https://api.openai.com:{port}/v1")


def test_public_addresses_are_allowed(lookups: dict[str, list[str]], closed: None) -> None:
    lookups["public.example"] = ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822"]
    assert addresses_of("public.example", 443) == lookups["public.example"]


def test_a_host_that_is_not_known(
    project: Project, lookups: dict[str, list[str]], openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(-2, "planted-by-the-resolver")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Invalid) as caught:
        create_endpoint(project=project, name="new", base_url="http://gone.example/v1")
    assert caught.value.code == "unknown_host"
    gone = unsaved_endpoint(openai_server, base_url="http://gone.example/v1")
    with open_client(gone) as client, pytest.raises(TryLater) as later:  # a name server may be back soon
        client.chat(ASK)
    assert "planted" not in later.value.detail
    assert "gone.example" not in later.value.detail
