"""Every sentence of the code that can be translated, found without GNU gettext; and catalogues, brought up to the code
and checked against it."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.extract import extract
from babel.messages.pofile import write_po
from django.utils.translation import templatize

from frontend.translation.catalogue import is_translated, read_catalogue

ROOT = Path(__file__).resolve().parent.parent.parent
# Where people's sentences are. `alignment` has none: what it says is frozen into reports.
PACKAGES = ("annotate", "frontend", "judges", "systems")

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
        yield from messages_of_template(path.read_text(encoding="utf-8"), path_name(path))
    for path in python_files():
        yield from messages_of_python(path.read_text(encoding="utf-8"), path_name(path))


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


def path_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True, slots=True)
class Change:
    added: int
    removed: list[str]


def update_po(path: Path, translations: Iterable[Mapping[str, Any]] = ()) -> Change:
    """Rewrites the .po file: messages in the order of the code, those that are gone left out, the header as it stands.

    `translations` are those of `missing_as_json` with their "text" filled in.
    """
    header = path.read_text(encoding="utf-8").split("\n\n", 1)[0]
    old, new = read_catalogue(path), template_catalogue(path.parent.parent.name)
    texts = {(row["id"], row["plural"], row["context"]): row["text"] for row in translations if any(row["text"])}
    added = 0
    for entry in new:
        if not entry.id:
            continue
        before = old.get(entry.id, context=entry.context)
        text = texts.get((*forms(entry), entry.context))
        if text is not None:
            entry.string = tuple(text) if isinstance(text, list) else text if isinstance(entry.id, str) else (text,)
        elif before is not None:
            entry.string = _kept(before.string, entry, old.num_plurals)
            entry.flags |= before.flags & {"fuzzy"}
            entry.user_comments = before.user_comments
        added += before is None
    path.write_text(f"{header}\n\n{_as_po(new)}", encoding="utf-8")
    gone = [forms(entry)[0] for entry in old if entry.id and new.get(entry.id, context=entry.context) is None]
    return Change(added, gone)


def missing_as_json(path: Path) -> list[dict[str, Any]]:
    """The messages without a translation, in the form in which `update_po` takes them back."""
    old = read_catalogue(path)
    rows = []
    for entry in template_catalogue():
        known = old.get(entry.id, context=entry.context) if entry.id else None
        if not entry.id or (known is not None and is_translated(known)):
            continue
        singular, plural = forms(entry)
        files = sorted({file for file, _line in entry.locations})
        text = [""] * old.num_plurals if plural is not None and old.num_plurals > 1 else ""
        rows.append({"id": singular, "plural": plural, "context": entry.context, "files": files, "text": text})
    return rows


def _kept(text: Any, entry: Entry, plurals: int) -> Any:
    """The translation there was, also where the message got a plural since, or lost it."""
    if isinstance(entry.id, str):
        return text if isinstance(text, str) else text[0]
    if isinstance(text, str):
        return (text,) if plurals == 1 else ("",) * plurals
    return text


def _as_po(catalogue: Catalog) -> str:
    file = BytesIO()
    # Without line numbers, and a line for each text: then a change of the code changes little here.
    write_po(file, catalogue, omit_header=True, include_lineno=False, width=0)
    return file.getvalue().decode()


def forms(entry: Entry) -> tuple[str, str | None]:
    """Singular and plural in English; no plural for what has none."""
    return (entry.id, None) if isinstance(entry.id, str) else (entry.id[0], entry.id[1])


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
