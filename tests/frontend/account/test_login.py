from django.test import Client

from annotate.models import User
from tests.clients import as_user


def test_logs_in_and_goes_where_one_wanted_to_go(alice: User) -> None:
    sent = {"username": "alice", "password": "a long password", "next": "/account/"}
    assert Client().post("/login/", sent).url == "/account/"


def test_does_not_go_to_another_site(alice: User) -> None:
    sent = {"username": "alice", "password": "a long password"}
    for there in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example"):
        assert Client().post("/login/", {**sent, "next": there}).url == "/"


def test_a_wrong_password_keeps_the_name_and_says_so(alice: User) -> None:
    reply = Client().post("/login/", {"username": "alice", "password": "wrong"})
    assert reply.status_code == 200
    assert 'value="alice"' in reply.content.decode()
    assert "correct username and password" in reply.content.decode()


def test_an_unknown_name_gets_the_same_words(alice: User) -> None:
    replies = [Client().post("/login/", {"username": name, "password": "wrong"}) for name in ("alice", "nobody")]
    said = [reply.context["form"].non_field_errors() for reply in replies]
    assert said[0] == said[1]


def test_logging_out_takes_a_post(alice: User) -> None:
    client = as_user(alice)
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").url == "/login/"
    assert client.get("/").status_code == 302


def test_forms_need_their_token(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    reply = client.post("/login/", {"username": "alice", "password": "a long password"})
    assert reply.status_code == 403
    assert "too old to be sent" in reply.content.decode()
