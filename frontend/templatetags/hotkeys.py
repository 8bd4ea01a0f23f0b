"""A button says which key presses it: to screen readers, and in a <kbd>. Both say nothing where no key does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

Keys = Mapping[str, Sequence[str]]


@register.simple_tag
def shortcut(keys: Keys, action: str) -> SafeString | str:
    """The attribute of the control, with the space before it."""
    key = _first(keys, action)
    return format_html(' aria-keyshortcuts="{}"', key) if key else ""


@register.simple_tag
def key_hint(keys: Keys, action: str, *, scripted: bool = True) -> SafeString | str:
    """scripted: hidden until the page's script has bound the keys ([data-hint]). False: nothing works without it."""
    key = _first(keys, action)
    if not key:
        return ""
    hint = '<kbd data-hint hidden aria-hidden="true">{}</kbd>' if scripted else '<kbd aria-hidden="true">{}</kbd>'
    return format_html(hint, key)


def _first(keys: Keys, action: str) -> str:
    return next(iter(keys.get(action, ())), "")
