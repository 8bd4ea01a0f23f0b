"""How pages spell values that come as they are kept. Every template has these filters (config.settings)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotate.core.text_tables import number
from annotate.core.walking import Counted
from frontend.base.word_changes import Kind, word_changes

register = template.Library()


@register.filter
def rounded(value: Any) -> Any:
    """A number with decimals, rounded; a selection as its options; any other value as it is."""
    if isinstance(value, list):
        return selection(str(rounded(one)) for one in value)
    return number(value) if isinstance(value, float) else value


@register.filter
def so_many(counted: Counted) -> str:
    """A number that may have been counted up to a limit: `10,000+`."""
    return f"{intcomma(counted.number)}{'' if counted.is_all else '+'}"


def selection(words: Iterable[str]) -> str:
    """What was chosen of a multi-select criterion, in words."""
    return ", ".join(words) or _("None of these")


@register.filter
def changed_from(after: str, before: str) -> SafeString:
    """The text with what was changed of another: words that went struck out, words that came underlined."""
    return _all_but(None, before, after)


@register.filter
def gone_in(before: str, after: str) -> SafeString:
    """The text with the words marked that another one, beside it, does not have."""
    return _all_but("ins", before, after)


@register.filter
def new_since(after: str, before: str) -> SafeString:
    """The text with the words marked that another one, beside it, did not have."""
    return _all_but("del", before, after)


def _all_but(left_out: Kind | None, before: str, after: str) -> SafeString:
    changes = word_changes(before, after)
    return format_html_join("", "{}", ((_marked(kind, words),) for kind, words in changes if kind != left_out))


def _marked(kind: Kind, words: str) -> SafeString:
    if kind == "same":
        return conditional_escape(words)
    # What a screen reader doesn't say of the elements.
    said = _("removed:") if kind == "del" else _("added:")
    mark = "<{0}><span class='visually-hidden'>{1} </span>{2}</{0}>"
    return format_html(mark, kind, said, words)


@register.filter
def metadata_key(key: str) -> str:
    """What samples have of themselves among their metadata has a name; any other key is as its file has it."""
    return _("Pipeline version") if key == "pipeline_version" else key
