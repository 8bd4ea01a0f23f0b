"""Guessing passwords, tokens and invitations, as a stranger, as the owner, and as both at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import hashers
from django.db.models import F
from django.test import Client, RequestFactory
from knox.models import get_token_model

from annotate.core.attempts import ACCOUNT, ADDRESS_AND_ACCOUNT, KNOWN_BROWSER, SECRETS, address_of
from annotate.members.write import create_invite
from annotate.models import Attempts, Project, User
from tests.annotate.factories import concurrently
from tests.clients import as_user

RIGHT = "a long password"


def log_in(client: Client, password: str, name: str = "ben", address: str = "192.0.2.1", **more: Any) -> Any:
    return client.post("/login/", {"username": name, "password": password}, REMOTE_ADDR=address, **more)


def guess(times: int, client: Client | None = None, **more: Any) -> Any:
    client = client or Client()
    for number in range(times):
        reply = log_in(client, f"wrong {number}", **more)
    return reply


def later(seconds: int) -> None:
    Attempts.objects.update(until=F("until") - timedelta(seconds=seconds))


def test_the_right_password_after_thirty_wrong_ones_is_refused(ben: User) -> None:
    guess(30)
    reply = log_in(Client(), RIGHT)
    assert reply.status_code == 429
    assert 0 < int(reply["Retry-After"]) <= ADDRESS_AND_ACCOUNT.seconds
    assert "Too many failed attempts" in reply.content.decode()
    later(int(reply["Retry-After"]))
    assert log_in(Client(), RIGHT).status_code == 302


def test_a_clock_that_was_put_back_keeps_nobody_out_for_as_long(ben: User) -> None:
    guess(ADDRESS_AND_ACCOUNT.at_once)
    later(-3600)
    assert log_in(Client(), RIGHT).status_code == 302
    guess(30)
    assert log_in(Client(), RIGHT).status_code == 429


def test_a_few_wrong_ones_are_not(ben: User) -> None:
    assert guess(ADDRESS_AND_ACCOUNT.at_once - 1).status_code == 200
    assert log_in(Client(), RIGHT).status_code == 302


def test_who_logs_in_often_is_never_refused(ben: User) -> None:
    for _ in range(2 * ACCOUNT.at_once):
        assert log_in(Client(), RIGHT).status_code == 302


def test_a_stranger_does_not_lock_the_owner_out(ben: User) -> None:
    own = Client()
    log_in(own, RIGHT)
    own.post("/logout/")
    for number in range(20):  # from everywhere, the owner's address included
        guess(10, address=f"192.0.2.{number}")
    assert guess(1, address="192.0.2.200").status_code == 429
    assert log_in(own, RIGHT).status_code == 302


def test_one_address_does_not_lock_an_account_for_the_others(ben: User) -> None:
    for _ in range(20):
        guess(10)
        later(60)
    assert log_in(Client(), RIGHT).status_code == 302 or guess(10).status_code == 429
    assert log_in(Client(), RIGHT, address="198.51.100.7").status_code == 302


def test_the_browser_of_one_account_is_a_strangers_at_another(ben: User, bea: User) -> None:
    client = Client()
    log_in(client, RIGHT, name="bea")
    client.post("/logout/")
    assert guess(30, client).status_code == 429
    assert log_in(client, RIGHT).status_code == 429
    assert log_in(client, RIGHT, name="bea").status_code == 302


def test_a_known_browser_has_a_limit_of_its_own(ben: User) -> None:
    client = Client()
    log_in(client, RIGHT)
    client.post("/logout/")
    assert guess(KNOWN_BROWSER.at_once, client).status_code == 200
    assert log_in(client, RIGHT).status_code == 429
    later(KNOWN_BROWSER.seconds)
    assert log_in(client, RIGHT).status_code == 302


def test_a_made_up_cookie_makes_no_browser_known(ben: User) -> None:
    client = Client()
    client.cookies["touchstone-browser"] = "WyJuIixbImJlbiJdXQ:1vAAAA:made-up"
    guess(30, client)
    assert log_in(client, RIGHT).status_code == 429


NEW = {"old_password": RIGHT, "new_password1": "another one 7!", "new_password2": "another one 7!"}


def test_browsers_are_known_no_longer_than_the_password(ben: User) -> None:
    """Or who knew it once collects browsers, each with tries of its own, for when it is changed."""
    own, thief = Client(), [Client() for _ in range(5)]
    for client in (own, *thief):
        log_in(client, RIGHT)
    own.post("/account/password/", NEW)
    own.post("/logout/")
    guess(20)
    assert {guess(1, client).status_code for client in thief} == {429}
    assert log_in(own, "another one 7!").status_code == 302


@pytest.mark.parametrize("name", [" ben ", "\u00a0ben\t", "\uff42\uff45\uff4e"])
def test_other_spellings_of_a_name_are_the_same_account(ben: User, name: str) -> None:
    for number in range(ADDRESS_AND_ACCOUNT.at_once):
        guess(1, name=("ben", name)[number % 2])
    assert log_in(Client(), RIGHT, name=name).status_code == 429
    assert log_in(Client(), RIGHT).status_code == 429
    assert log_in(Client(), RIGHT, name=name, address="192.0.2.2").status_code == 302


@pytest.mark.parametrize("name", ["Ben", "ben\u200b", "b\u0435n"])
def test_a_name_that_looks_alike_is_another(ben: User, name: str) -> None:
    assert log_in(Client(), RIGHT, name=name).status_code == 200


def test_several_people_share_a_computer(ben: User, bea: User) -> None:
    client = Client()
    for name in ("ben", "bea", "ben"):
        log_in(client, RIGHT, name=name)
        client.post("/logout/")
    for name in ("ben", "bea"):
        guess(30, name=name)
        assert log_in(client, RIGHT, name=name).status_code == 302


def test_one_address_tries_many_names(ben: User) -> None:
    for number in range(30):
        guess(1, name=f"name{number}")
    assert log_in(Client(), RIGHT).status_code == 429
    assert log_in(Client(), RIGHT, address="198.51.100.7").status_code == 302


@pytest.mark.parametrize(("proxies", "status"), [(0, 429), (1, 302)])
def test_the_address_behind_a_proxy(ben: User, settings: Any, proxies: int, status: int) -> None:
    """What a client writes into the header itself stands before what the proxy adds."""
    settings.PROXY_COUNT = proxies
    for number in range(30):
        guess(1, HTTP_X_FORWARDED_FOR=f"203.0.113.{number}, 198.51.100.1")
    assert log_in(Client(), RIGHT, HTTP_X_FORWARDED_FOR="203.0.113.9, 198.51.100.1").status_code == 429
    assert log_in(Client(), RIGHT, HTTP_X_FORWARDED_FOR="203.0.113.9, 198.51.100.2").status_code == status


ADDRESSES = [
    (0, "192.0.2.1", "198.51.100.1", "192.0.2.1"),
    (1, "192.0.2.1", None, "192.0.2.1"),
    (1, "192.0.2.1", "", "192.0.2.1"),
    (1, "192.0.2.1", "not an address", "192.0.2.1"),
    (1, "192.0.2.1", "198.51.100.1:80", "192.0.2.1"),
    (1, "192.0.2.1", "203.0.113.1, ::ffff:198.51.100.1", "198.51.100.1"),
    (1, "", "198.51.100.1", "198.51.100.1"),
    (2, "192.0.2.1", "198.51.100.1", "192.0.2.1"),
    (2, "192.0.2.1", "203.0.113.1, 198.51.100.1, 192.0.2.9", "198.51.100.1"),
    (0, "::ffff:192.0.2.1", None, "192.0.2.1"),
    (0, "fe80::1%eth0", None, "fe80::"),
    (0, "", None, ""),
]


@pytest.mark.parametrize(("proxies", "peer", "header", "address"), ADDRESSES)
def test_whose_address_it_is(settings: Any, proxies: int, peer: str, header: str | None, address: str) -> None:
    settings.PROXY_COUNT = proxies
    sent = {} if header is None else {"HTTP_X_FORWARDED_FOR": header}
    assert address_of(RequestFactory().get("/", REMOTE_ADDR=peer, **sent)) == address


def test_an_ipv6_network_is_one_address(ben: User) -> None:
    for number in range(30):
        guess(1, address=f"2001:db8::{number}")
    assert log_in(Client(), RIGHT, address="2001:db8::ffff").status_code == 429
    assert log_in(Client(), RIGHT, address="2001:db8:0:1::1").status_code == 302


def test_a_name_that_no_account_has_gets_the_same_replies(ben: User) -> None:
    def said(name: str) -> list[tuple[int, bool]]:
        Attempts.objects.all().delete()
        replies = [log_in(Client(), "wrong", name=name) for _ in range(15)]
        return [(reply.status_code, "Retry-After" in reply) for reply in replies]

    User.objects.filter(username="bea").update(is_active=False)
    assert said("ben") == said("nobody") == said("bea")


def test_every_reply_takes_one_hash(ben: User, bea: User, rita: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing is what takes time: as often for a name that there is, one that there is not, one without a password."""
    User.objects.filter(username="bea").update(is_active=False)
    rita.set_unusable_password()
    rita.save()
    hashed: list[str] = []
    encode = hashers.MD5PasswordHasher.encode

    def counted(self: Any, password: str, salt: str) -> str:
        hashed.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", counted)
    for name in ("ben", "nobody", "bea", "rita"):
        hashed.clear()
        log_in(Client(), "wrong", name=name)
        assert len(hashed) == 1, name


def test_the_old_password_is_not_guessed_on_a_page_left_open(ben: User) -> None:
    client = as_user(ben)
    sent = {"new_password1": "another one 7!", "new_password2": "another one 7!"}
    for number in range(30):
        client.post("/account/password/", {**sent, "old_password": f"wrong {number}"})
    reply = client.post("/account/password/", {**sent, "old_password": RIGHT})
    assert reply.status_code == 429
    assert "Retry-After" in reply
    assert not Client().login(username="ben", password="another one 7!")


def test_who_has_a_session_does_not_keep_the_owner_from_changing_the_password(ben: User) -> None:
    thief, own = as_user(ben), as_user(ben)
    replies = [thief.post("/account/password/", {**NEW, "old_password": f"wrong {number}"}) for number in range(20)]
    assert replies[-1].status_code == 429
    assert own.post("/account/password/", NEW).status_code == 302
    assert thief.get("/account/").status_code == 302


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "POST", "DELETE"])
@pytest.mark.parametrize("path", ["/api/me/", "/api/schema/"])
def test_tokens_are_guessed_by_no_other_method(ben: User, method: str, path: str) -> None:
    wrong = {"Authorization": f"Token {'x' * 64}"}
    replies = [Client().generic(method, path, headers=wrong).status_code for _ in range(SECRETS.at_once + 1)]
    assert (set(replies[:-1]), replies[-1]) == ({401}, 429)


def test_guessed_tokens(ben: User) -> None:
    """Ben's pipelines stand behind the same address, and go on."""
    _, token = get_token_model().objects.create(ben)

    def ask(sent: str) -> Any:
        return Client().get("/api/me/", headers={"Authorization": f"Token {sent}"})

    replies = [ask(f"{token[:15]}{number:064}") for number in range(SECRETS.at_once + 1)]
    assert {reply.status_code for reply in replies[:-1]} == {401}
    assert replies[-1].status_code == 429
    assert replies[-1].json()["error"]["code"] == "too_many_attempts"
    assert 0 < int(replies[-1]["Retry-After"]) <= SECRETS.seconds
    assert ask(token).status_code == 200


def test_guessed_invitations(alice: User, project: Project) -> None:
    token = create_invite(actor=alice, project=project, role="annotator")[1]
    replies = [Client().get(f"/invite/{number:043}/") for number in range(SECRETS.at_once + 1)]
    assert {reply.status_code for reply in replies[:-1]} == {404}
    assert replies[-1].status_code == 429
    assert Client().get(f"/invite/{token}/").status_code == 200


def test_names_tried_with_an_invitation(alice: User, ben: User, project: Project) -> None:
    path = f"/invite/{create_invite(actor=alice, project=project, role='annotator')[1]}/"
    sent = {"password1": "blue lamp 77 river", "password2": "blue lamp 77 river"}
    replies = [Client().post(path, {**sent, "username": "ben"}) for _ in range(SECRETS.at_once + 1)]
    assert {reply.status_code for reply in replies[:-1]} == {422}
    assert replies[-1].status_code == 429
    assert Client().post(path, {**sent, "username": "noor"}).status_code == 302


def test_past_the_limit_no_reply_tells_a_name_that_is_taken(alice: User, ben: User, project: Project) -> None:
    path = f"/invite/{create_invite(actor=alice, project=project, role='annotator')[1]}/"
    sent = {"password1": "too easy", "password2": "another"}
    for _ in range(SECRETS.at_once + 1):
        Client().post(path, {**sent, "username": "ben"})
    replies = [Client().post(path, {**sent, "username": name}).status_code for name in ("ben", "noor", "")]
    assert replies == [429, 429, 429]
    later(SECRETS.seconds * 2)
    replies = [Client().post(path, {**sent, "username": name}).status_code for name in ("noor", "", "noor", "ben")]
    assert replies == [422] * 4


def test_nothing_is_kept_that_names_who_tried(ben: User) -> None:
    guess(3, name="ben", address="192.0.2.77")
    kept = str(list(Attempts.objects.values_list("key", flat=True)))
    assert "ben" not in kept
    assert "192.0.2" not in kept


def test_what_has_run_out_is_removed(ben: User) -> None:
    guess(5, address="192.0.2.77")
    later(24 * 3600)
    guess(1, name="bea", address="198.51.100.7")
    assert Attempts.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_hundred_at_once_are_no_more_than_in_turn() -> None:
    User.objects.create_user("ben", password=RIGHT)
    replies = concurrently(*[lambda: log_in(Client(), "wrong").status_code] * 40)
    assert replies.count(200) == ADDRESS_AND_ACCOUNT.at_once
    assert replies.count(429) == 40 - ADDRESS_AND_ACCOUNT.at_once
