"""What the catalogues must hold, and that what looks for gaps finds them."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from frontend.translation import catalogue
from frontend.translation.unmarked import unmarked, unmarked_in_python, unmarked_in_template
from frontend.translation.update import (
    Message,
    messages,
    messages_of_python,
    messages_of_template,
    missing_as_json,
    problems,
    update_po,
)

HEADER = '# A note to keep.\nmsgid ""\nmsgstr ""\n"Language: zh_Hans\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n'


@pytest.fixture
def locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty catalogue of its own, instead of the real ones."""
    folder = tmp_path / "zh_Hans" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.po").write_text(HEADER + "\n", encoding="utf-8")
    monkeypatch.setattr(catalogue, "LOCALE", tmp_path)
    return folder / "django.po"


@pytest.fixture
def code(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """What the code says, instead of all of it."""
    says = [
        Message("frontend/a.html", "Hello %(name)s", None, None),
        Message("frontend/b.py", "%(n)d unit", "%(n)d units", None),
        Message("frontend/a.html", "Open", None, "state"),
    ]
    monkeypatch.setattr("frontend.translation.update.messages", lambda: iter(says))
    return says


# The real ones


@pytest.mark.parametrize("path", catalogue.po_files(), ids=lambda path: path.parent.parent.name)
def test_everything_is_translated(path: Path) -> None:
    """`python manage.py messages` puts new messages into the file; `--missing` and `--fill` translate them."""
    found = problems(path)
    assert not found, "\n".join(found)


def test_apostrophes_are_typographic() -> None:
    """One spelling, ’, in what people read; a straight one is a quote of code."""
    straight = {text for one in messages() for text in (one.singular, one.plural) if text and re.search(r"\w'\w", text)}
    assert not straight


def test_nothing_that_people_read_is_hidden_from_translators() -> None:
    found = unmarked()
    assert not found, "\n".join(found)


def test_there_is_a_catalogue_for_every_language_but_english() -> None:
    from django.conf import settings
    from django.utils.translation import to_locale

    wanted = {to_locale(code) for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE}
    assert {path.parent.parent.name for path in catalogue.po_files()} == wanted


# Finding messages


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ('{% translate "One" %}', [("One", None, None)]),
        ("{% translate 'One' as one %}", [("One", None, None)]),
        ('{% translate "May" context "month" %}', [("May", None, "month")]),
        ('{% translate "100%" %}', [("100%%", None, None)]),
        ("{% blocktranslate with n=m.n %}Of {{ n }}%{% endblocktranslate %}", [("Of %(n)s%%", None, None)]),
        ("{% blocktranslate trimmed %}\n  One\n  two\n{% endblocktranslate %}", [("One two", None, None)]),
        (
            "{% blocktranslate count n=m %}one{% plural %}{{ n }} of them{% endblocktranslate %}",
            [("one", "%(n)s of them", None)],
        ),
        ('<p>\n    {% include "x" with a=_("Said") %}\n  </p>{{ b|default:_("None") }}', ["Said", "None"]),
        ('{# {% translate "no" %} #}{% comment %}{% translate "no" %}{% endcomment %}', []),
    ],
)
def test_finds_messages_in_templates(template: str, expected: list[tuple[str, str | None, str | None] | str]) -> None:
    found = [
        (message.singular, message.plural, message.context) for message in messages_of_template(template, "a.html")
    ]
    assert found == [(text, None, None) if isinstance(text, str) else text for text in expected]


def test_finds_messages_in_python() -> None:
    source = """
_("a") + gettext_lazy("b" "c") + gettext_noop("d")
ngettext("%(n)d x", "%(n)d xs", n) + pgettext("month", "May")
ngettext_lazy("y", "ys", "n"); print("not this")
"""
    assert [(m.singular, m.plural, m.context) for m in messages_of_python(source, "a.py")] == [
        ("a", None, None),
        ("bc", None, None),
        ("d", None, None),
        ("%(n)d x", "%(n)d xs", None),
        ("May", None, "month"),
        ("y", "ys", None),
    ]


# Finding what is hidden from translators


@pytest.mark.parametrize(
    "template",
    [
        "<p>Some words</p>",
        '<input placeholder="Some words">',
        '<button aria-label="Close">×</button>',
        '{% include "a.html" with text="Some words" %}',
        '{{ value|default:"none" }}',
        '{{ n }} unit{{ n|pluralize:"one,many" }}',
        '{{ day|date:"j M Y" }}',
        '<p data-said="Threshold {n}">{% include "a.html" with text=_("Of 100 %") %}',
        '<tr{% if last %} class="people"{% endif %}><td>Some words</td></tr>',
    ],
)
def test_sees_words_that_are_not_translated(template: str) -> None:
    assert list(unmarked_in_template(template))


@pytest.mark.parametrize(
    "template",
    [
        '{% extends "base/page.html" %}{% block page_class %}page wide{% endblock %}',
        '<p class="lede small">{% translate "Some words" %} {{ n }} · 3 – <code>some.code</code> <kbd>Esc</kbd></p>',
        '<p aria-label="{% translate "Some words" %}">{% blocktranslate %}Some words{% endblocktranslate %}</p>',
        '{% include "a.html" with text=_("Some words") name="some-name" %}{{ value|default:"–" }}',
        '{{ day|date:"DATE_FORMAT" }} JSON {# a remark #}',
    ],
)
def test_leaves_the_rest_alone(template: str) -> None:
    assert list(unmarked_in_template(template)) == []


def test_sees_refusals_that_are_not_translated() -> None:
    source = 'raise Invalid("code", f"No {x}.")\nraise Http404("Gone.")\nraise Conflict("code", _("No."))\nInvalid(x)\n'
    assert list(unmarked_in_python(source)) == ["1: f'No {x}.'", "2: 'Gone.'"]


# The file


@pytest.mark.usefixtures("code")
def test_new_messages_come_in_and_translations_stay(locale: Path) -> None:
    assert update_po(locale).added == 3
    rows = missing_as_json(locale)
    assert [row["id"] for row in rows] == ["Hello %(name)s", "%(n)d unit", "Open"]
    for row, text in zip(rows, ["你好，%(name)s", "%(n)d 个单元", "开放"], strict=True):
        row["text"] = text
    assert update_po(locale, rows).added == 0
    assert problems(locale) == missing_as_json(locale) == []
    before = locale.read_bytes()
    update_po(locale)
    assert locale.read_bytes() == before
    assert before.decode().startswith(HEADER)
    assert "a.html:" not in before.decode()


@pytest.mark.usefixtures("code")
def test_a_language_with_more_forms_gets_a_text_for_each(locale: Path) -> None:
    french = locale.parents[2] / "fr" / "LC_MESSAGES" / "django.po"
    french.parent.mkdir(parents=True)
    french.write_text(HEADER.replace("zh_Hans", "fr").replace("nplurals=1; plural=0", "nplurals=2; plural=(n > 1)"))
    rows = missing_as_json(french)
    assert [row["text"] for row in rows] == ["", ["", ""], ""]
    rows[1]["text"] = ["%(n)d unité", "%(n)d unités"]
    update_po(french, rows)
    assert [row["id"] for row in missing_as_json(french)] == ["Hello %(name)s", "Open"]


def test_a_message_that_gets_a_plural_keeps_its_translation(locale: Path, code: list[Message]) -> None:
    update_po(locale, [{**row, "text": f"“{row['id']}”"} for row in missing_as_json(locale)])
    code[1] = Message("frontend/b.py", "%(n)d unit", None, None)
    code[2] = Message("frontend/a.html", "Open", "Open", "state")
    update_po(locale)
    text = locale.read_text(encoding="utf-8")
    assert 'msgid "%(n)d unit"\nmsgstr "“%(n)d unit”"' in text
    assert 'msgid_plural "Open"\nmsgstr[0] "“Open”"' in text
    assert missing_as_json(locale) == []


def test_messages_that_are_gone_go(locale: Path, code: list[Message]) -> None:
    update_po(locale)
    del code[0]
    change = update_po(locale)
    assert change.removed == ["Hello %(name)s"]
    assert "Hello" not in locale.read_text(encoding="utf-8")


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(
    ("text", "problem"),
    [("你好", "lacks ['%(name)s']"), ("你好 %(name)s {n}", "has ['{n}'] too much"), ("", "is not translated")],
)
def test_says_what_a_translation_puts_in_wrongly(locale: Path, text: str, problem: str) -> None:
    update_po(locale)
    rows = [{**row, "text": text if row["id"].startswith("Hello") else row["id"]} for row in missing_as_json(locale)]
    update_po(locale, rows)
    found = problems(locale)
    assert [problem in line for line in found if "Hello" in line] == [True]
    # Of a plural the singular's number is as good as the plural's.
    assert not [line for line in found if "unit" in line]


@pytest.mark.usefixtures("code")
def test_a_fuzzy_translation_is_none(locale: Path) -> None:
    update_po(locale)
    update_po(locale, [{**row, "text": row["id"]} for row in missing_as_json(locale)])
    text = locale.read_text(encoding="utf-8")
    locale.write_text(text.replace("#: frontend/a.html\n", "#: frontend/a.html\n#, fuzzy\n", 1), encoding="utf-8")
    assert [line.endswith("is not translated") for line in problems(locale)] == [True]
    assert len(missing_as_json(locale)) == 1


# The command


def test_the_command_lists_fills_and_checks(locale: Path, code: list[Message], tmp_path: Path) -> None:
    out = StringIO()
    call_command("messages", stdout=out)
    assert "3 new, 0 gone, 3 not translated." in out.getvalue()
    with pytest.raises(CommandError, match="is not translated"):
        call_command("messages", check=True)
    out = StringIO()
    call_command("messages", missing=True, stdout=out)
    filled = tmp_path / "filled.json"
    filled.write_text(json.dumps([{**row, "text": row["id"]} for row in json.loads(out.getvalue())]))
    call_command("messages", fill=filled, stdout=StringIO())
    assert missing_as_json(locale) == []


def test_the_command_knows_its_languages(locale: Path) -> None:
    with pytest.raises(CommandError, match="xx"):
        call_command("messages", language="xx")
