from django.test import Client
from knox.models import get_token_model

from annotate.models import User
from tests.clients import as_user


def test_needs_a_login(db: None) -> None:
    for path in ("/account/", "/account/password/"):
        assert Client().get(path).status_code == 302
    for path in ("/account/tokens/", "/account/tokens/x/revoke/", "/account/email/"):
        assert Client().post(path).status_code == 302
        assert Client().get(path).status_code == 405


def test_a_token_is_shown_once_and_works(ben: User) -> None:
    client = as_user(ben)
    reply = client.post("/account/tokens/")
    assert reply.status_code == 201
    assert "no-store" in reply["Cache-Control"]
    token = reply.context["token"]
    assert Client().get("/api/projects/", headers={"Authorization": f"Token {token}"}).status_code == 200
    assert token not in client.get("/account/").content.decode()


def test_a_revoked_token_is_refused_and_others_cannot_revoke_it(ben: User, bea: User) -> None:
    token = as_user(ben).post("/account/tokens/").context["token"]
    key = get_token_model().objects.get().token_key
    as_user(bea).post(f"/account/tokens/{key}/revoke/")
    assert get_token_model().objects.exists()
    as_user(ben).post(f"/account/tokens/{key}/revoke/")
    assert Client().get("/api/projects/", headers={"Authorization": f"Token {token}"}).status_code == 401


def test_changes_the_password(ben: User) -> None:
    client = as_user(ben)
    sent = {"old_password": "a long password", "new_password1": "another one 7!", "new_password2": "another one 7!"}
    assert client.post("/account/password/", {**sent, "old_password": "wrong"}).status_code == 200
    assert client.post("/account/password/", sent).url == "/account/"
    assert Client().login(username="ben", password="another one 7!")
    assert client.get("/account/").status_code == 200


def test_changes_the_address_for_mail(ben: User) -> None:
    client = as_user(ben)
    reply = client.post("/account/email/", {"email": "nobody"})
    assert reply.status_code == 422
    assert "valid email" in reply.content.decode()
    client.post("/account/email/", {"email": "ben@example.org", "is_superuser": "1", "username": "root"})
    ben.refresh_from_db()
    assert (ben.email, ben.username, ben.is_superuser) == ("ben@example.org", "ben", False)
    client.post("/account/email/", {"email": ""})
    ben.refresh_from_db()
    assert ben.email == ""
