import re

import pytest
from django.test.utils import override_settings

from annotate.models import Project, User
from tests.clients import as_user


def test_not_found_looks_like_the_rest_and_names_nothing(alice: User) -> None:
    reply = as_user(alice).get("/nothing/here/")
    assert reply.status_code == 404
    assert "Page not found" in reply.content.decode()


def test_a_stranger_gets_the_same_page_as_for_no_project(charlie: User, project: Project) -> None:
    client = as_user(charlie)
    there, nowhere = client.get("/p/help/"), client.get("/p/none/")
    assert there.status_code == nowhere.status_code == 404
    # But for the token of the forms in the header, which is masked anew each time, and for the address that was asked.
    varies = re.compile(rb'value="\w{64}"|name="next" value="[^"]*"')
    assert varies.sub(b"", there.content) == varies.sub(b"", nowhere.content)


def test_forbidden_says_what_to_do(ben: User, project: Project) -> None:
    reply = as_user(ben).get("/p/help/members/")
    assert reply.status_code == 403
    assert "ask a project admin" in reply.content.decode()


def test_our_own_trouble_has_a_page(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontend.projects.views.cards", lambda user: 1 / 0)
    client = as_user(alice)
    client.raise_request_exception = False
    reply = client.get("/")
    assert reply.status_code == 500
    assert "Your saved work is safe" in reply.content.decode()


@override_settings(DATA_UPLOAD_MAX_NUMBER_FIELDS=2)
def test_a_bad_request_has_a_page(alice: User) -> None:
    reply = as_user(alice).post("/new/", {"a": 1, "b": 2, "c": 3, "d": 4})
    assert reply.status_code == 400
    assert "could not be processed" in reply.content.decode()
