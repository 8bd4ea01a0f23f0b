"""Icons: `{% icon "plus" %}` beside a word, `{% icon "trash" label=word %}` in its place. Every template has the tag
(config.settings); the drawings are in one sprite (config.icons)."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """Decoration beside a word, which is not read out; with a label, what is read out."""
    address = f"{static('base/icons.svg')}#{name}"
    if label:
        return format_html('<svg class="icon" role="img" aria-label="{}"><use href="{}"/></svg>', label, address)
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}"/></svg>', address)
