"""Icons: a sprite of what templates name, and the tag that shows one."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from django.contrib.staticfiles import finders
from django.template import Context, Template

from annotate.models import Project, User
from config.icons import named_icons, sprite
from tests.clients import as_user

SYMBOL = "{http://www.w3.org/2000/svg}symbol"


def test_the_sprite_has_what_templates_name_and_nothing_else() -> None:
    drawn = ET.fromstring(Path(str(finders.find("base/icons.svg"))).read_text())
    assert [symbol.tag for symbol in drawn] == [SYMBOL] * len(drawn)
    assert {symbol.get("id") for symbol in drawn} == set(named_icons()) > {"plus", "check"}
    assert all(len(symbol) and symbol.get("viewBox") == "0 0 16 16" for symbol in drawn)


def test_a_name_that_is_not_there_is_named_with_its_template() -> None:
    with pytest.raises(RuntimeError, match=r"home\.html names the icon pluss, which"):
        sprite({"plus": Path("other.html"), "pluss": Path("a/home.html")})


def test_beside_a_word_it_is_hidden_and_alone_it_is_read_out() -> None:
    beside, alone = (
        Template(text).render(Context({"word": 'a "b"'}))
        for text in ('{% icon "plus" %}', '{% icon "plus" label=word %}')
    )
    assert 'aria-hidden="true"' in beside
    assert 'role="img" aria-label="a &quot;b&quot;"' in alone
    for text in (beside, alone):
        assert re.search(r'<use href="[^"]*/base/icons[^"]*\.svg#plus"/>', text)


def test_the_collected_sprite_is_what_pages_name(collected_static: Path) -> None:
    assert [path.name for path in collected_static.glob("base/icons.*.svg")]


def test_the_labelling_page_asks_for_no_sprite(project: Project, alice: User) -> None:
    """It makes three requests: the page, its script and its style sheet."""
    client = as_user(alice)
    assert "icons.svg" in client.get(f"/p/{project.slug}/samples/").content.decode()
    page = client.get(f"/p/{project.slug}/label/")
    assert page.status_code == 200
    assert "icons.svg" not in page.content.decode()
