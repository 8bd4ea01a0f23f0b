"""What people would read in English whatever their language: words in templates and refusals hidden from gettext."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, Token, TokenType

from frontend.translation.update import path_name, python_files, template_files

# Names, units of the field and file formats: the same in every language.
_NAMES = {
    "AC1", "API", "AUC", "CSV", "Cohen", "DeepEval", "ECE", "Enter", "Esc", "Fleiss", "HTML", "JSON", "JSONL",
    "Kendall", "MCC", "PABAK", "PDF", "PPI", "Parquet", "Pearson", "PgDn", "PgUp", "Platt", "Python", "RAGAS", "ROC",
    "Rogan", "SHA", "SHA-256", "Spearman", "TNR", "TPR", "TREC", "Touchstone", "Token", "ZIP",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|[–'’-])+")
# Of what stands in quotes within a template tag, only these are sentences; the others are names of files and fields.
_SENTENCE = re.compile(r"""["']([A-Z][^"']* [^"']*)["']""")
_FORMS_OF_WORDS = re.compile(r"""\|(?:default|yesno|pluralize|default_if_none):["']([^"']*)["']""")
# The ISO form is for machines, and a time of day in figures is the same in every language.
_DATE_FORMAT = re.compile(
    r"""\|(?:date|time):["'](?!(?:\w+_FORMAT|c|Y-m-d|H:i(?::s)?)["'])([^"']*[a-zA-Z][^"']*)["']"""
)
# In _("…") Django doubles percent signs and leaves them so; {% translate "…" as … %} is the way.
_DOUBLED = re.compile(r"""_\((?:"[^"]*%[^"]*"|'[^']*%[^']*')\)""")
# Stands for a template's tag; no letter, and nothing that HTML gives a meaning to.
_TAG = "\ue000"
_READ_ATTRIBUTES = {"data-said", "alt", "aria-label", "aria-description", "placeholder", "title", "label"}
_SILENT = {"code", "kbd", "script", "style", "samp", "path", "math"}
_UNREAD_BLOCKS = ("blocktranslate", "blocktrans", "comment", "verbatim")
_REFUSALS = {
    "Invalid": 1,
    "Conflict": 1,
    "Stale": 1,
    "TooLarge": 1,
    "Http404": 0,
    "PermissionDenied": 0,
    "ValidationError": 0,
}
# What is said to programs and on the command line, as the API's pages and the commands' help are, in English.
_PROGRAMS = (
    "annotate/api/",
    "annotate/projects/read.py",
    "annotate/core/spans.py",
    "annotate/core/texts.py",
    "judges/api/",
    "judges/core/scores_read.py",
    "judges/certificates/apply.py",
)
# So is what begins with a field of the request, or with its place in a file: “filters: …”, f"{where}.options: …".
_FIELD = re.compile(r"^(?:f?['\"])?(?:[a-z_]+|[A-Z][a-z]+(?:-[A-Z][a-z]+)+|\{where\}[\w.{}]*|\{\w+\}): ")


def unmarked() -> list[str]:
    """A line for everything that ought to be in `{% translate %}` or `_()` and is not."""
    found = []
    for path in template_files():
        found += [f"{path_name(path)}: {what}" for what in unmarked_in_template(path.read_text(encoding="utf-8"))]
    for path in python_files():
        if not path_name(path).startswith(_PROGRAMS):
            found += [f"{path_name(path)}:{what}" for what in unmarked_in_python(path.read_text(encoding="utf-8"))]
    return found


def unmarked_in_template(text: str) -> Iterator[str]:
    html: list[str] = []
    inside = None
    for token in Lexer(text).tokenize():
        words = token.contents.split()
        if inside:
            inside = None if token.token_type == TokenType.BLOCK and words[:1] == [f"end{inside}"] else inside
        elif token.token_type == TokenType.TEXT:
            html.append(token.contents)
        elif token.token_type == TokenType.BLOCK and words[0] == "block" and words[1].endswith("_class"):
            inside = "block"
        elif token.token_type == TokenType.BLOCK and words[0] in _UNREAD_BLOCKS:
            inside = words[0]
        else:
            html.append(_TAG)
            yield from _in_tag(token)
    reader = _Reader()
    reader.feed("".join(html))
    reader.close()
    yield from reader.found


def _in_tag(token: Token) -> Iterator[str]:
    if token.token_type == TokenType.COMMENT or token.contents.startswith(("translate ", "trans ")):
        return
    if _DOUBLED.search(token.contents):
        yield f"a percent sign that will be shown twice: {token.contents!r}"
    for pattern, what in (
        (_SENTENCE, "a sentence in a tag"),
        (_FORMS_OF_WORDS, "words in a filter"),
        (_DATE_FORMAT, "a date's form that is not the language's own"),
    ):
        # `_("…")` is how a tag takes a translated text.
        for match in pattern.finditer(re.sub(r"""_\((?:"[^"]*"|'[^']*')\)""", "", token.contents)):
            if pattern is _DATE_FORMAT or _words(match[1]):
                yield f"{what}: {match[1]!r}"


class _Reader(HTMLParser):
    """Collects the words that a page shows or reads out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in _SILENT
        for name, value in attrs:
            if name in _READ_ATTRIBUTES and value and _words(value):
                self.found.append(f"{name}={value!r}")

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in _SILENT

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        shown = " ".join(data.split())
        if not self.silent and _words(shown):
            self.found.append(repr(shown.replace(_TAG, "…")))


def unmarked_in_python(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        name = getattr(getattr(node, "func", None), "id", None)
        if not isinstance(node, ast.Call) or name not in _REFUSALS or len(node.args) <= _REFUSALS[name]:
            continue
        message = node.args[_REFUSALS[name]]
        if _FIELD.match(ast.unparse(message)):
            continue
        if isinstance(message, ast.JoinedStr) or (isinstance(message, ast.Constant) and isinstance(message.value, str)):
            yield f"{node.lineno}: {ast.unparse(message)}"


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word not in _NAMES]
