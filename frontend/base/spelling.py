"""How pages spell values that come as they are kept. Every template has these filters (config.settings)."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.translation import gettext as _

from annotate.core.text_tables import number

register = template.Library()


@register.filter
def rounded(value: Any) -> Any:
    """A number with decimals, rounded; any other value as it is."""
    return number(value) if isinstance(value, float) else value


@register.filter
def metadata_key(key: str) -> str:
    """What samples have of themselves among their metadata has a name; any other key is as its file has it."""
    return _("Pipeline version") if key == "pipeline_version" else key
