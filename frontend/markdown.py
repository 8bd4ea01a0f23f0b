"""Markdown that people wrote, as HTML that is safe to show: no raw HTML, no images, no script links."""

from __future__ import annotations

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def render_markdown(text: str) -> SafeString:
    """The text as HTML. Headings start at h2, because the page has its own h1."""
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        for child in token.children or ():
            _mark_link(child)
    # markdown-it escapes all text and refuses javascript:, vbscript:, file: and data: links.
    return mark_safe(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))  # noqa: S308


def _mark_link(token: Token) -> None:
    if token.type == "link_open":
        token.attrSet("rel", "nofollow noopener noreferrer")
