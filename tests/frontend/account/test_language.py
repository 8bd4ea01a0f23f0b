"""Which language a page is in: the browser's, until the user chooses one."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.template import Context, Template
from django.test import Client
from django.utils import translation

from annotate.core.errors import Invalid
from annotate.models import Project, User
from annotate.projects.accounts import choose_language
from tests.clients import as_user

CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN,zh;q=0.9,en;q=0.5"}


@pytest.mark.parametrize(
    ("wanted", "lang", "words"),
    [("", "en", "Log in"), ("zh-CN", "zh-hans", "登录"), ("zh", "zh-hans", "登录"), ("de,fr;q=0.5", "en", "Log in")],
)
@pytest.mark.django_db
def test_a_page_is_in_the_browsers_language(wanted: str, lang: str, words: str) -> None:
    reply = Client(headers={"accept-language": wanted}).get("/login/")
    assert f'<html lang="{lang}"' in reply.content.decode()
    assert f"<h1>{words}</h1>" in reply.content.decode()
    assert reply["Content-Language"] == lang
    assert "Accept-Language" in reply["Vary"]
    assert "Cookie" in reply["Vary"]


@pytest.mark.django_db
def test_a_chosen_language_stays_and_leads_back() -> None:
    client = Client(**CHINESE)
    reply = client.post("/language/", {"language": "en", "next": "/login/?next=/account/"})
    assert reply.url == "/login/?next=/account/"
    cookie = client.cookies[settings.LANGUAGE_COOKIE_NAME]
    assert (cookie.value, cookie["httponly"], cookie["samesite"]) == ("en", True, "Lax")
    assert cookie["max-age"] > 300 * 24 * 3600
    assert "<h1>Log in</h1>" in client.get("/login/").content.decode()


@pytest.mark.parametrize("sent", [{"language": "xx"}, {"language": "fr"}, {"language": ""}, {}])
def test_no_other_language_can_be_chosen(sent: dict[str, str], ben: User) -> None:
    client = as_user(ben)
    assert client.post("/language/", {**sent, "next": "/login/"}).status_code == 400
    assert settings.LANGUAGE_COOKIE_NAME not in client.cookies
    ben.refresh_from_db()
    assert ben.language == ""
    with pytest.raises(Invalid):
        choose_language(user=ben, language="fr")


def test_a_person_takes_the_language_along(ben: User) -> None:
    as_user(ben).post("/language/", {"language": "zh-hans"})
    ben.refresh_from_db()
    assert ben.language == "zh-hans"
    elsewhere = Client(headers={"accept-language": "en"})
    assert elsewhere.post("/login/", {"username": "ben", "password": "a long password"}).status_code == 302
    assert '<html lang="zh-hans"' in elsewhere.get("/").content.decode()


def test_who_chose_none_keeps_the_browsers(ben: User) -> None:
    client = Client()
    client.post("/login/", {"username": "ben", "password": "a long password"})
    assert settings.LANGUAGE_COOKIE_NAME not in client.cookies


@pytest.mark.django_db
def test_choosing_leads_to_no_other_site_and_takes_a_form_of_ours() -> None:
    assert Client().post("/language/", {"language": "en", "next": "https://evil.example/"}).url == "/"
    assert Client().get("/language/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/language/", {"language": "en"}).status_code == 403


def test_every_page_offers_the_languages_by_their_own_names(project: Project, ben: User) -> None:
    pages = [(Client(), "/login/"), (Client(), "/no-such-page/"), (as_user(ben), "/"), (as_user(ben), "/p/help/")]
    for client, url in pages:
        page = client.get(url).content.decode()
        assert 'value="zh-hans" lang="zh-hans" aria-pressed="false">简体中文</button>' in page, url
        assert 'value="en" lang="en" aria-pressed="true">English</button>' in page, url
        assert f'name="next" value="{url}"' in page, url


def test_after_a_form_that_only_takes_posts_the_way_back_is_home(ben: User) -> None:
    page = as_user(ben).post("/account/tokens/", {"scopes": "read", "days": "90"}).content.decode()
    assert 'name="next" value="/"' in page


def test_dates_are_written_as_the_language_has_them() -> None:
    from datetime import UTC, datetime

    day = Context({"day": datetime(2026, 11, 3, 9, 5, tzinfo=UTC)})
    shown = '{{ day|date:"DATE_FORMAT" }} {{ day|date:"DATETIME_FORMAT" }} {{ day|date:"SHORT_DATE_FORMAT" }}'
    template = Template(shown)
    with translation.override("en"):
        assert template.render(day) == "3 Nov 2026 3 Nov 2026 09:05 3 Nov 2026"
    with translation.override("zh-hans"):
        assert template.render(day) == "2026年11月3日 2026年11月3日 09:05 2026-11-03"


def test_a_date_field_keeps_the_form_that_browsers_take() -> None:
    from datetime import date

    from django import forms

    with translation.override("zh-hans"):
        assert forms.DateInput().format_value(date(2026, 11, 3)) == "2026-11-03"


def test_forms_and_refusals_speak_the_language_too(project: Project, alice: User) -> None:
    client = as_user(alice)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    page = client.post("/p/help/members/", {"username": "nobody", "role": "annotator"}).content.decode()
    assert "未找到有效账号“nobody”。" in page


@pytest.mark.django_db
def test_languages_keep_their_own_names_in_every_language() -> None:
    page = Client(**CHINESE).get("/no-such-page/").content.decode()
    assert ">English</button>" in page
    assert ">简体中文</button>" in page
