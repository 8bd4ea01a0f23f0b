"""Whether a catalogue says all that the code says, with the same words put in."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from babel.messages.catalog import Message as Entry

from frontend.translation.catalogue import is_translated, read_catalogue
from frontend.translation.extraction import template_catalogue
from frontend.translation.update import forms

# %(name)s and %d, {name} of the browser's texts, and tags with what they carry.
_PLACEHOLDERS = re.compile(r"%\(\w+\)[a-z]|%[sd]|%%|\{\w*\}|</?[a-zA-Z][^>]*>")


def problems(path: Path) -> list[str]:
    """A line for every message of the code without a translation, or with one that puts in other words."""
    catalogue = read_catalogue(path)
    language = path.parent.parent.name
    found = []
    for entry in template_catalogue():
        if not entry.id:
            continue
        known = catalogue.get(entry.id, context=entry.context)
        where = f"{language}: {entry.locations[0][0]}: {forms(entry)[0]!r}"
        if known is None or not is_translated(known):
            found.append(f"{where} is not translated")
        else:
            found += [f"{where}: {text!r} {what}" for text in _texts(known) if (what := _difference(entry, text))]
    return found


def _difference(entry: Entry, text: str) -> str:
    """What is put in there and not here, or the other way round; nothing when they are alike.

    A plural form may leave out a number that the singular spells out as a word, so what counts is the plural's.
    """
    wanted = [Counter(_PLACEHOLDERS.findall(form)) for form in forms(entry) if form is not None]
    has = Counter(_PLACEHOLDERS.findall(text))
    if has in wanted:
        return ""
    lacks, more = wanted[-1] - has, has - wanted[-1]
    return f"lacks {list(lacks.elements())}, has {list(more.elements())} too much"


def _texts(entry: Entry) -> tuple[str, ...]:
    return entry.string if isinstance(entry.string, tuple) else (str(entry.string),)
