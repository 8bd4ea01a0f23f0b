"""How much a request may carry: every route has a limit, nothing is read beyond it, and JSON has limits of its own."""

from __future__ import annotations

import json

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from rest_framework.parsers import MultiPartParser
from rest_framework.views import APIView

from annotate.api.bodies import StrictJSON
from annotate.api.uploads import Part
from annotate.core.bodies import KIB, MANY_ROWS, MIB, MOST_ESCAPES, USUAL, limit_of, most_values
from annotate.models import User
from tests.annotate.api.conftest import Both
from tests.annotate.api.routes import ALL, API, PAGES, Route
from tests.annotate.factories import stored
from tests.clients import as_user, client_of

# Every route that takes another amount than the usual.
FILE = settings.IMPORT_MAX_FILE_BYTES + MIB
OTHER_LIMITS = {
    "/api/me/": 16 * KIB,
    "/api/tasks/<int:task_id>/labels/": 256 * KIB,
    "/api/tasks/<int:task_id>/submit/": 256 * KIB,
    "/api/projects/<slug:slug>/samples/": MANY_ROWS,
    "/api/projects/<slug:slug>/responses/": MANY_ROWS,
    "/api/projects/<slug:slug>/batches/": MANY_ROWS,
    "/api/projects/<slug:slug>/batches/<int:number>/": MANY_ROWS,
    "/api/projects/<slug:slug>/gold/": MANY_ROWS,
    "/api/projects/<slug:slug>/apply/": MANY_ROWS,
    "/api/projects/<slug:slug>/imports/": FILE,
    "/api/projects/<slug:slug>/uploads/<uuid:job_id>/": MANY_ROWS,
    "/api/projects/<slug:slug>/guidelines/images/": 6 * MIB,
    "/p/<slug:slug>/import/": FILE,
    "/p/<slug:slug>/systems/import/": FILE,
    "/p/<slug:slug>/systems/import/judgements/": FILE,
    "/p/<slug:slug>/systems/import/rankings/": FILE,
}


def test_every_route_has_a_limit() -> None:
    assert {route.path: limit_of(route.view) for route in ALL if limit_of(route.view) != USUAL} == OTHER_LIMITS
    assert (USUAL, MANY_ROWS) == (3 * MIB, 16 * MIB)


@pytest.mark.parametrize("route", [route for route in API if isinstance(route.view, type)], ids=str)
def test_every_route_of_the_api_reads_json_strictly(route: Route) -> None:
    assert issubclass(route.view, APIView)
    for parser in route.view.parser_classes:
        assert issubclass(parser, StrictJSON | MultiPartParser | Part)


@pytest.mark.parametrize("route", [*API, *PAGES], ids=str)
def test_a_body_beyond_the_limit_is_not_read(both: Both, route: Route) -> None:
    before = stored()
    url = route.url({**dict.fromkeys(route.parameters, "1"), **both.own})
    for client in (client_of(both.world.alice), Client(enforce_csrf_checks=True)):
        for method in ("POST", "PUT", "PATCH"):
            reply = client.generic(  # type: ignore[attr-defined]
                method, url, b"{}", content_type="application/json", CONTENT_LENGTH=str(10**12)
            )
            assert reply.status_code == 413, (method, reply.content)
            if route.path.startswith("/api/"):
                assert reply.json()["error"]["code"] == "too_large"
            else:
                assert "The data sent is too large" in reply.content.decode()
    assert stored() == before


def test_large_files_are_taken_from_those_who_are_logged_in_only(both: Both) -> None:
    """A form is on disk before a view can ask who sent it."""
    for client, status in ((Client(), 413), (as_user(both.world.alice), 422)):
        length = str(FILE if status == 413 else USUAL + 1)
        form = "multipart/form-data; boundary=b"
        reply = client.generic("POST", "/p/desk/import/", b"", content_type=form, CONTENT_LENGTH=length)
        assert reply.status_code == status


BRACKETS = b"[" + b"[]," * 5_500_000 + b"[]]"


def test_a_large_body_of_small_values(both: Both) -> None:
    """It made 4.4 seconds of work and 409 MB of lists."""
    client = client_of(both.world.ann)
    for sent, status, code in (
        (BRACKETS, 413, "too_large"),
        (BRACKETS[: 16 * KIB - 3] + b"[]]", 422, "too_many_values"),
        (b'{"preferences": {"hotkeys": {' + b'"":"",' * 2_000 + b'"":""}}}', 422, "too_many_values"),
        (b'{"preferences": ' + json.dumps({"theme": "," * 15_000}).encode() + b"}", 422, None),
    ):
        reply = client.generic("PATCH", "/api/me/", sent, content_type="application/json")
        assert reply.status_code == status, reply.content
        assert code in (None, reply.json()["error"]["code"])
        assert code or reply.json()["error"]["code"] != "too_many_values"


def test_what_carries_many_rows_is_bounded_as_well(both: Both) -> None:
    client, before = client_of(both.world.alice), stored()
    for sent in (
        BRACKETS[: MANY_ROWS - 3] + b"[]]",
        b'{"version": "v7", "samples": [' + BRACKETS[: 15 * MIB] + b"[]]]}",
    ):
        reply = client.generic("POST", "/api/projects/desk/samples/", sent, content_type="application/json")
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "too_many_values")
    file = SimpleUploadedFile("gold.json", BRACKETS[: 15 * MIB] + b"[]]")
    reply = client.post("/api/projects/desk/criteria/", {"file": file}, format="multipart")
    assert reply.status_code == 413
    file = SimpleUploadedFile("criteria.json", BRACKETS[: 2 * MIB - 1] + b"[]]")
    reply = client.post("/api/projects/desk/criteria/", {"file": file}, format="multipart")
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "not_json")
    assert stored() == before


@pytest.mark.parametrize("sent", [b'"' + b'\\"' * 700_000, b'{"a": "' + b'\\"' * 700_000 + b"}", b'"",' * 900_000])
def test_a_text_that_never_ends_is_read_once(both: Both, sent: bytes) -> None:
    """Trying each quote in it as the beginning of another text would take hours."""
    reply = client_of(both.world.alice).generic("PATCH", "/api/projects/desk/", sent, content_type="application/json")
    assert reply.status_code in (400, 422)


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b'{"preferences": {}, "preferences": {"theme": "dark"}}', 422, "duplicate_key"),
        (b'{"preferences": {"theme": NaN}}', 422, "number"),
        (b'{"preferences": {"theme": 1e400}}', 422, "number"),
        (b'{"preferences": {"theme": 18446744073709551616}}', 422, "number"),
        (b'{"preferences": {"theme": "\\u0000"}}', 422, "nul"),
        (b'{"preferences": {"theme": "\\ud800"}}', 422, "surrogate"),
        (b'{"preferences": {"\\ud800": 1}}', 422, "surrogate"),
        (b'{"\\ud800": 1}', 422, "surrogate"),
        (b'{"\\ud800": 1, "\\ud800": 1}', 422, "duplicate_key"),
        (b'{"\\u0000": 1}', 422, "nul"),
        (b'{"preferences": ' + b"[" * 21 + b"]" * 21 + b"}", 422, "depth"),
        (b'{"preferences": {"theme": "dark"}', 400, "parse_error"),
        (b"\xff", 400, "parse_error"),
    ],
)
def test_json_is_read_as_strictly_as_a_file(both: Both, sent: bytes, status: int, code: str) -> None:
    reply = client_of(both.world.ann).generic("PATCH", "/api/me/", sent, content_type="application/json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert User.objects.get(pk=both.world.ann.pk).preferences == both.world.ann.preferences


def test_twenty_of_the_largest_labels_are_taken(both: Both) -> None:
    assert most_values(256 * KIB) >= 20 * 100 * 5  # spans of evidence, each with its four fields


@pytest.mark.parametrize("sent", [b'{"\\ud800": 1}', b'{"version": "v7", "samples": [], "\\ud800": 1}'])
def test_a_refusal_quotes_what_no_text_may_hold(both: Both, sent: bytes) -> None:
    """Samples are read by their importer, which names the rows; what stands beside them is read loosely."""
    reply = client_of(both.world.alice).generic(  # type: ignore[attr-defined]
        "POST", "/api/projects/desk/samples/", sent, content_type="application/json"
    )
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "unknown_field")
    assert "\\ud800" in reply.json()["error"]["message"]


URL_ENCODED = "application/x-www-form-urlencoded"


def test_forms_of_escapes_are_bounded(both: Both) -> None:
    """Reading 2.9 MB of percent signs took half a gigabyte, from anybody."""
    for path, client in (("/login/", Client()), ("/account/keys/", as_user(both.world.ann))):
        for sent in (b"a=" + b"%" * (MOST_ESCAPES + 1), b"a=" + b"%41" * (MOST_ESCAPES + 1)):
            reply = client.generic("POST", path, sent, content_type=URL_ENCODED)
            assert reply.status_code == 413
        assert client.generic("POST", path, b"a=" + b"%41" * MOST_ESCAPES, content_type=URL_ENCODED).status_code != 413
        assert client.generic("POST", path, b"a=" + b"b" * 2 * MIB, content_type=URL_ENCODED).status_code != 413
    # The check of CSRF reads forms below /api/, too.
    client = as_user(both.world.ann)
    reply = client.generic("POST", "/api/tokens/", b"a=" + b"%" * (MOST_ESCAPES + 1), content_type=URL_ENCODED)
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")


@pytest.mark.parametrize("charset", ["utf-16", "utf-7", "latin-1", "zlib", "no-such"])
def test_forms_are_in_utf_8(both: Both, charset: str) -> None:
    for kind in (URL_ENCODED, "multipart/form-data; boundary=b"):
        stated = f"{kind}; charset={charset}"
        assert (
            as_user(both.world.ann).generic("POST", "/account/email/", b"email=", content_type=stated).status_code
            == 415
        )
        reply = client_of(both.world.alice).generic(  # type: ignore[attr-defined]
            "POST", "/api/projects/desk/imports/", b"a=1", content_type=stated
        )
        assert (reply.status_code, reply.json()["error"]["code"]) == (415, "unsupported_media_type")
    stated = f"{URL_ENCODED}; charset=UTF-8"
    sent = b"email=&password=ann-secret-words"
    reply = as_user(both.world.ann).generic("POST", "/account/email/", sent, content_type=stated)
    assert reply.status_code == 302


@override_settings(DATA_UPLOAD_MAX_NUMBER_FIELDS=2)
def test_too_many_fields_of_a_form_are_an_error_of_the_api(both: Both) -> None:
    reply = client_of(both.world.alice).post(
        "/api/projects/desk/imports/", {"a": "1", "b": "2", "kind": "samples"}, format="multipart"
    )
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_request")


def test_an_error_of_ours_is_json_in_the_api(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotate.api.projects.roles_of", lambda user: 1 / 0)
    client = client_of(both.world.alice)
    client.raise_request_exception = False
    reply = client.get("/api/projects/")
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "server_error")
