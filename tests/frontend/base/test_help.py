"""Help pages, and Markdown as they show it."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client

from annotate.models import User
from frontend.base.help import Shown, render_markdown
from tests.clients import as_user
from tests.conftest import ROOT
from tests.scripts import TEXTS

EXPLAINED = re.compile(r'reports/how\.html" with anchor="([^"]+)"')
LINKED = re.compile(r'url "statistics-help" %}#([\w-]+)')


def _anchors(text: str) -> set[str]:
    return set(re.findall(r'<h\d id="([^"]+)"', text))


def test_every_document_is_there_and_its_links_lead_somewhere(rita: User) -> None:
    client = as_user(rita)
    pages = {"/help/" + path.relative_to(ROOT / "docs").with_suffix("").as_posix() + "/" for path in _documents()}
    assert "/help/decisions/0003-the-test-half-is-locked/" in pages
    texts = {page: client.get(page).content.decode() for page in pages}
    docs = ROOT / "docs"
    pages |= {f"/help/{path.relative_to(docs).as_posix()}/" for path in (docs / "examples").rglob("*.*")}
    for page, text in texts.items():
        body = text[text.index("help-text") :]
        for target in re.findall(r'href="([^"]+)"', body):
            path, _, anchor = target.partition("#")
            assert path in ("", *pages) or path.startswith("http"), f"{page} links to {target}"
            if anchor and not path.startswith("http"):
                assert anchor in _anchors(texts[path or page]), f"{page} links to {target}"


def test_a_figure_is_explained_where_its_link_says(rita: User) -> None:
    """Every “Statistics reference” of every template leads to a heading of docs/statistics.md."""
    there = _anchors(as_user(rita).get("/help/statistics/").content.decode())
    templates = list(ROOT.glob("frontend/*/templates/**/*.html"))
    wanted = {
        (path.name, anchor)
        for path in templates
        for pattern in (EXPLAINED, LINKED)
        for anchor in pattern.findall(path.read_text(encoding="utf-8"))
    }
    assert len(wanted) > 25
    assert [(name, anchor) for name, anchor in sorted(wanted) if anchor not in there] == []


def test_the_contents_lead_to_the_sections(rita: User) -> None:
    text = as_user(rita).get("/help/statistics/").content.decode()
    assert '<h1 lang="en">Statistics reference</h1>' in text
    assert '<a href="#the-kappa-paradox">The kappa paradox</a>' in text
    assert set(re.findall(r'<li><a href="#([^"]+)"', text)) <= _anchors(text)


def test_an_example_comes_as_a_file(rita: User) -> None:
    reply = as_user(rita).get("/help/examples/ci_gate.py/")
    assert reply.content == (ROOT / "docs" / "examples" / "ci_gate.py").read_bytes()
    assert reply["Content-Disposition"] == 'attachment; filename="ci_gate.py"'
    assert (reply["Content-Type"], reply["X-Content-Type-Options"]) == ("text/plain; charset=utf-8", "nosniff")


@pytest.mark.parametrize("name", ["nothing", "../README", "statistics.md", "decisions"])
def test_nothing_else_is_shown(name: str, rita: User) -> None:
    assert as_user(rita).get(f"/help/{name}/").status_code == 404


def test_tasks_are_explained_in_the_readers_language(rita: User) -> None:
    client = as_user(rita)
    home = client.get("/").content.decode()
    tasks = re.findall(r'href="(/help/tasks/[^"]+)"', home)
    assert len(tasks) == 5
    for language, title in (("en", "Label samples"), ("zh-hans", "标注样本")):
        client.post("/language/", {"language": language})
        assert f'<h1 lang="{language}">{title}</h1>' in client.get(tasks[0]).content.decode()
    # The same tasks and the same steps in both.
    documents = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "tasks").iterdir()}
    assert len(documents) == 10
    for name, text in documents.items():
        other = documents[name.replace(".zh.md", ".md") if ".zh." in name else name.replace(".md", ".zh.md")]
        assert re.findall(r"^\d\.|^#+|^- ", text, re.MULTILINE) == re.findall(r"^\d\.|^#+|^- ", other, re.MULTILINE), (
            name
        )


def test_one_has_to_be_logged_in() -> None:
    assert Client().get("/help/statistics/")["Location"].startswith("/login/")


def _documents() -> list[Path]:
    return list((ROOT / "docs").rglob("*.md"))


class _Added(HTMLParser):
    """What a browser would do more than show words and follow links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _OF_MARKDOWN:
            self.found.append(tag)
        for name, value in attrs:
            plain = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name not in ("href", "title", "class", "rel", "tabindex", "id") or plain == "planted":
                self.found.append(name)
            if name == "href" and re.match(r"(?!https?:|mailto:)[a-z][a-z0-9+.-]*:", plain):
                self.found.append(plain)


_OF_MARKDOWN = {
    *("p", "a", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "div"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_harmful_comes_through(text: str) -> None:
    for where in ("{}", "Before {} after", "- {}", "[{}](/there/)", "[there]({})", "| a |\n|---|\n| {} |", "# {}"):
        assert _Added(render_markdown(where.format(text))).found == [], where


def test_what_is_harmful_would_be_found() -> None:
    assert len(TEXTS) == len(set(TEXTS)) >= 100
    # The others are harmful in an attribute, a script or Markdown, or once they are decoded.
    assert sum(bool(_Added(text).found) for text in TEXTS) > 80


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("![A *map*](https://elsewhere.example/x.png)", '<a href="https://elsewhere.example/x.png"'),
        ("![](https://elsewhere.example/x.png)", ">https://elsewhere.example/x.png</a>"),
        ("![A map](/p/help/logout/)", ">A map</a>"),
        ("[![A map](//elsewhere.example/x.png)](https://there.example)", ">A map</a>"),
        ("![A map][one]\n\n[one]: https://elsewhere.example/x.png", ">A map</a>"),
        (f"![A map](image:{'b' * 32})", "[Image not found: A map]"),
    ],
)
def test_no_image_is_shown_but_those_given(text: str, html: str) -> None:
    shown = render_markdown(text, {f"image:{'a' * 32}": Shown("/there/", 4, 3)})
    assert html in shown
    assert "<img" not in shown


def test_an_image_is_shown_with_its_words_and_opens_in_full() -> None:
    given = {f"image:{'a' * 32}": Shown("/there/", 4, 3)}
    html = render_markdown(f'![A "map" & \\<b>](image:{"a" * 32})', given)
    assert html.startswith('<p><a href="/there/" class="zoom"')
    assert ('<img src="/there/" alt="A &quot;map&quot; &amp; &lt;b&gt;" width="4" height="3" loading="lazy"') in html
    # Where it stands in a link already, it leads where that leads.
    html = render_markdown(f"[![A map](image:{'a' * 32})](https://there.example)", given)
    assert html.count("<a ") == html.count("<img ") == 1
    assert 'href="https://there.example"' in html


def test_headings_start_at_two_and_links_are_marked() -> None:
    html = render_markdown("# One\n\n###### Six\n\n[there](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<h2>One</h2>" in html
    assert "<h6>Six</h6>" in html
    assert 'rel="nofollow noopener noreferrer"' in html
    assert '<table tabindex="0">' in html


def test_what_is_wider_than_the_window_can_be_scrolled_by_keyboard() -> None:
    html = render_markdown("```py\na < b\n```\n\n    indented\n\n| | b |\n|---|---|\n| 1 | 2 |\n")
    assert html.count('<pre tabindex="0"><code>') == 2
    assert "a &lt; b" in html
    assert "<td></td>\n<th>b</th>" in html
