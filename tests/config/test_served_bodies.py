"""Bodies, addresses and headers as gunicorn hands them on: without a length, with one that lies, and too long."""

from __future__ import annotations

import http.client
import json
import resource
import socket
from contextlib import suppress

import psutil
import pytest

from annotate.core.bodies import KIB, MIB
from annotate.models import Project, User
from annotate.projects.write import set_member
from tests.processes import LiveApp


def answer(app: LiveApp, head: str, body: bytes = b"") -> tuple[int, bytes]:
    with socket.create_connection(("127.0.0.1", app.port), 30) as connection:
        with suppress(OSError):  # what is refused need not be read to its end
            connection.sendall(f"{head}\r\nHost: localhost\r\nConnection: close\r\n".encode() + body)
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while more := connection.recv(1 << 16):
            received += more
    return int(received[9:12]), received.partition(b"\r\n\r\n")[2]


def test_a_length_that_is_missing_or_lies(live_app: LiveApp) -> None:
    json_type = b"Content-Type: application/json\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    status, reply = answer(live_app, "PATCH /api/me/ HTTP/1.1", json_type + chunked)
    assert (status, json.loads(reply)["error"]["code"]) == (411, "length_required")
    assert answer(live_app, "POST /login/ HTTP/1.1", chunked)[0] == 411
    status, reply = answer(live_app, "PATCH /api/me/ HTTP/1.1", json_type + b"Content-Length: 99999999999\r\n\r\n{}")
    assert (status, json.loads(reply)["error"]["code"]) == (413, "too_large")
    for length in (b"-1", b"x", b"1, 2", b"9" * 400):
        assert 400 <= answer(live_app, "PATCH /api/me/ HTTP/1.1", b"Content-Length: " + length + b"\r\n\r\n{}")[0] < 500


def test_who_sends_too_much_gets_an_answer(live_app: LiveApp) -> None:
    """Not a connection that closes while the body is on its way, which the workspace would take for a server away."""
    for size in (256 * KIB + 1, 16 * MIB):
        connection = http.client.HTTPConnection("127.0.0.1", live_app.port, timeout=30)
        connection.request("PUT", "/api/tasks/1/labels/", b" " * size, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        assert (reply.status, json.loads(reply.read())["error"]["code"]) == (413, "too_large")
        connection.close()


SURROGATES = "%2B2AA-%5Cud800%5Cx00"


@pytest.mark.parametrize(
    "stated",
    [
        *(f"charset={name}" for name in ("utf-7", "zlib", "hex", "idna", "undefined", "unicode_escape", "no-such")),
        *(f"a*={name}''%2B2AA-" for name in ("utf-7", "zlib", "idna", "undefined", "no-such")),
    ],
)
def test_whatever_a_content_type_says_of_its_charset(live_app: LiveApp, stated: str) -> None:
    """Django took it, for the query of a GET as well: 500 for anybody, and half of them not even ours."""
    for head, expected in (
        (f"GET /login/?next={SURROGATES} HTTP/1.1\r\nContent-Type: text/plain", (200,)),
        (f"GET /api/me/?a={SURROGATES} HTTP/1.1\r\nContent-Type: application/json", (401,)),
        ("PATCH /api/me/ HTTP/1.1\r\nContent-Length: 2\r\nContent-Type: application/json", (401,)),
        (
            "POST /login/ HTTP/1.1\r\nContent-Length: 2\r\nContent-Type: multipart/form-data; boundary=b",
            (400, 403, 415),
        ),
        ("POST /login/ HTTP/1.1\r\nContent-Length: 2\r\nContent-Type: application/x-www-form-urlencoded", (403, 415)),
    ):
        status, reply = answer(live_app, f"{head}; {stated}", b"\r\n{}")
        assert status in expected, head
        assert not head.split()[1].startswith("/api/") or json.loads(reply)["error"]["code"] == "not_authenticated"


def test_what_gunicorn_itself_refuses_below_the_api_is_json(live_app: LiveApp) -> None:
    for head, status in (
        (f"GET /api/me/?{'a=1&' * 1_500} HTTP/1.1", 414),
        ("GET /api/me/ HTTP/1.1\r\nX-A: " + "a" * 10_000, 431),
        ("GET /api/me/ HTTP/1.1\r\nExpect: x", 417),
        ("GET /api/me/ HTTP/1.1\r\nTransfer-Encoding: gzip", 400),
        ("GET /api/me/ HTTP/1.1\r\nContent-Length: x", 400),
    ):
        given, reply = answer(live_app, head, b"\r\n")
        assert given == status
        assert json.loads(reply)["error"]["code"] == "bad_request"


def test_addresses_and_headers_have_bounds(live_app: LiveApp) -> None:
    assert answer(live_app, f"GET /login/?{'a=1&' * 1_500} HTTP/1.1", b"\r\n")[0] in (400, 414)
    assert answer(live_app, "GET /login/ HTTP/1.1", b"X-A: " + b"a" * 10_000 + b"\r\n\r\n")[0] in (400, 431)
    assert answer(live_app, "GET /login/ HTTP/1.1", b"X-A: a\r\n" * 200 + b"\r\n")[0] in (400, 431)
    status, page = answer(live_app, "GET /login/ HTTP/1.1", b"\r\n")
    assert status == 200
    assert b"password" in page


def test_an_upload_that_finds_no_room_gets_an_answer(live_app: LiveApp) -> None:
    """Also while it is on its way. The largest file that web may write stands for a full disk."""
    admin = User.objects.create_user("alma")
    set_member(project=Project.objects.create(slug="p", name="P"), user=admin, role="admin")
    cookie = live_app.session_cookie(admin)
    head = (
        "POST /api/projects/p/imports/ HTTP/1.1\r\n"
        f"Cookie: {cookie['name']}={cookie['value']}; touchstone-csrf={'a' * 32}\r\nX-CSRFToken: {'a' * 32}"
    )
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n'
    body += bytes(16 * MIB) + b"\r\n--b--\r\n"
    length = f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    workers = [one.pid for one in psutil.Process(live_app.pid).children()]
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    for pid in workers:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (MIB, usual[1]))
    try:
        status, reply = answer(live_app, head, length + body)
    finally:
        for pid in workers:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)
    assert (status, json.loads(reply)["error"]["code"]) == (507, "no_room")
