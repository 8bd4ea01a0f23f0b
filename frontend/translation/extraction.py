"""Every sentence of the code that can be translated, found without GNU gettext."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from django.utils.translation import templatize

ROOT = Path(__file__).resolve().parent.parent.parent
# Where people's sentences are. `alignment` has none: what it says is frozen into reports.
PACKAGES = ("annotate", "frontend", "judges")

_KEYWORDS = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop"), None),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}


@dataclass(frozen=True, slots=True)
class Message:
    """`plural` only where it has one; `path` is relative to the repository."""

    path: str
    singular: str
    plural: str | None
    context: str | None

    @property
    def id(self) -> str | tuple[str, str]:
        return self.singular if self.plural is None else (self.singular, self.plural)


def template_files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("templates/**/*.html"))


def python_files() -> list[Path]:
    return sorted(
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if path.parent.name != "migrations"
    )


def messages() -> Iterator[Message]:
    """In the order of files, and within a file from top to bottom; one that is used twice comes twice."""
    for path in template_files():
        yield from messages_of_template(path.read_text(encoding="utf-8"), _name(path))
    for path in python_files():
        yield from messages_of_python(path.read_text(encoding="utf-8"), _name(path))


def messages_of_template(text: str, path: str) -> Iterator[Message]:
    # Django writes the calls that stand for the tags among placeholders for all else. Lines begin at the left, so
    # that Python's tokenizer doesn't look for blocks in them.
    calls = "\n".join(line.lstrip() for line in templatize(text).splitlines())
    yield from messages_of_python(calls, path)


def messages_of_python(text: str, path: str) -> Iterator[Message]:
    for _line, ids, _comments, context in extract("python", io.BytesIO(text.encode()), keywords=_KEYWORDS):
        singular, plural = (ids, None) if isinstance(ids, str) else (ids[0], ids[1])
        yield Message(path, singular, plural, context)


def template_catalogue(locale: str | None = None) -> Catalog:
    """All messages, none translated, each with the files it stands in; with the plural forms of the locale."""
    catalogue = Catalog(locale)
    for message in messages():
        catalogue.add(message.id, context=message.context, locations=[(message.path, 0)])
    return catalogue


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
