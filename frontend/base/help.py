"""What the figures mean: our own documents, in the application, so that a link from a figure always leads somewhere.

Markdown that people wrote, as HTML that is safe to show: no raw HTML, no script links, and no images but the
project's own (decision 48).
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _code(renderer: object, tokens: list[Token], place: int, options: object, env: object) -> str:
    # What may be wider than the window scrolls, so the keyboard must reach it.
    return f'<pre tabindex="0"><code>{escapeHtml(tokens[place].content)}</code></pre>\n'


_MARKDOWN.add_render_rule("fence", _code)
_MARKDOWN.add_render_rule("code_block", _code)


@dataclass(frozen=True, slots=True)
class Shown:
    """An image that a text may show."""

    address: str
    width: int
    height: int


def render_markdown(text: str, images: Mapping[str, Shown] = MappingProxyType({})) -> SafeString:
    """The text as HTML. Headings start at h2, because the page has its own h1.

    images: those that are shown, by what the text names them. Of any other the words are shown: where they lead to a
    place elsewhere as a link, so that no reader's browser asks there for anything before it is clicked.
    """
    tokens = _parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        if token.children:
            token.children = list(_with_images(token.children, images))
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "nofollow noopener noreferrer")
    # markdown-it escapes all text and refuses javascript:, vbscript:, file: and data: links.
    return mark_safe(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))  # noqa: S308


def _with_images(inline: Sequence[Token], images: Mapping[str, Shown]) -> Iterator[Token]:
    """The pieces of a paragraph; each of its images is a link to itself, which base/image-zoom.js opens on the page."""
    in_link = False
    for piece in inline:
        if piece.type != "image":
            in_link = piece.type == "link_open" or (in_link and piece.type != "link_close")
            yield piece
            continue
        source = str(piece.attrGet("src"))
        image = images.get(source)
        if image is not None:
            piece.attrs |= {"src": image.address, "width": image.width, "height": image.height, "loading": "lazy"}
            shown = [piece]
        elif source.startswith("image:"):
            shown = [_words(_("[Image not found: %(words)s]") % {"words": piece.content})]
        else:
            shown = piece.children or [_words(source)]
        if in_link or (image is None and source.startswith("image:")):
            yield from shown
        else:
            link = {"href": image.address if image else source}
            link |= {"class": "zoom", "title": _("Enlarge"), "data-close": _("Close")} if image else {}
            yield Token("link_open", "a", 1, attrs=dict(link))
            yield from shown
            yield Token("link_close", "a", -1)


def _words(text: str) -> Token:
    return Token("text", "", 0, content=text)


def render_document(text: str, link: Callable[[str], str]) -> dict[str, Any]:
    """One of our own documents: its first heading is the title, every other heading can be linked to by its words, as
    on the sites that show Markdown. `link` says where a link within the documents leads. The sections are
    the headings of the second rank."""
    tokens = _parse(text)
    title, sections, taken = "", [], Counter[str]()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            words = tokens[place + 1].content.replace("`", "")
            if token.tag == "h1":
                title = words
                continue
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
            taken[anchor] += 1
            anchor += f"-{taken[anchor] - 1}" if taken[anchor] > 1 else ""
            token.attrSet("id", anchor)
            if token.tag == "h2":
                sections.append({"title": words, "anchor": anchor})
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", link(str(child.attrGet("href"))))
    titles = [place for place, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h1"]
    body = [token for place, token in enumerate(tokens) if not any(at <= place <= at + 2 for at in titles)]
    html = mark_safe(_MARKDOWN.renderer.render(body, _MARKDOWN.options, {}))  # noqa: S308
    return {"title": title, "sections": sections, "html": html}


def _parse(text: str) -> list[Token]:
    """The text's tokens, with tables that the keyboard can scroll and without headings of columns that say nothing."""
    tokens = _MARKDOWN.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "table_open":
            token.attrSet("tabindex", "0")
        if token.type == "th_open" and not tokens[place + 1].content:
            token.tag = tokens[place + 2].tag = "td"
    return tokens


_DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


@require_safe
@login_required
def document(request: HttpRequest, name: str = "statistics") -> HttpResponse:
    """A document as a page; what a document offers to be run, as a file."""
    if name in _examples():
        file_name = posixpath.basename(name)
        return HttpResponse(
            (_DOCS / name).read_bytes(),
            content_type="text/plain; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{file_name}"'},
        )
    if name not in _names():
        raise Http404(_("Help page not found."))
    # Task pages are there in Chinese too, the references in English only.
    language = get_language() or "en"
    translated = f"{name}.{language.partition('-')[0]}"
    shown, lang = (translated, language) if translated in _names() else (name, "en")
    return render(request, "base/help.html", {"document": _read(shown), "document_language": lang})


@cache
def _names() -> frozenset[str]:
    """Of every document: its path below docs/, without the ending."""
    return frozenset(path.relative_to(_DOCS).with_suffix("").as_posix() for path in _DOCS.rglob("*.md"))


@cache
def _examples() -> frozenset[str]:
    found = [*_DOCS.glob("examples/*.py"), *_DOCS.glob("examples/import/*.*")]
    return frozenset(path.relative_to(_DOCS).as_posix() for path in found)


@cache
def _read(name: str) -> dict[str, Any]:
    def link(target: str) -> str:
        """Documents link to each other as files do; here they do so as pages."""
        path, _hash, anchor = target.partition("#")
        other = posixpath.normpath(posixpath.join(posixpath.dirname(name), path.removesuffix(".md")))
        if not path or other not in _names() | _examples():
            return target
        return reverse("help", args=[other]) + (f"#{anchor}" if anchor else "")

    return render_document((_DOCS / f"{name}.md").read_text(encoding="utf-8"), link)
