"""A key shown in a control is for the eye; a screen reader learns it as its shortcut, and not in its name."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.conftest import ROOT

TEMPLATES = sorted(ROOT.glob("frontend/*/templates/**/*.html"))
WITH_KEYS = [path for path in TEMPLATES if re.search("<kbd|key_hint", path.read_text("utf-8"))]
NAMED = {"a", "button", "summary", "label"}


class _Keys(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inside: list[tuple[str, dict[str, str | None]]] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in NAMED:
            self.inside.append((tag, given))
        if tag != "kbd" or not self.inside:
            return
        control, named = self.inside[-1]
        if given.get("aria-hidden") != "true":
            self.found.append(f"line {self.getpos()[0]}: a key in the name of <{control}>")
        if control != "label" and "aria-keyshortcuts" not in named:
            self.found.append(f"line {self.getpos()[0]}: <{control}> shows a key and doesn't tell it")

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1][0] == tag:
            self.inside.pop()


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted(ROOT.glob("frontend/*/templates/**/*.html"))
        if re.search("<kbd|key_hint", path.read_text("utf-8"))
    ],
    ids=lambda path: path.name,
)
def test_keys_are_no_part_of_names(path: Path) -> None:
    keys = _Keys()
    # What the tags of frontend.templatetags.hotkeys write.
    text = re.sub(r'{% shortcut keys ("\w+") %}', r" aria-keyshortcuts=\1", path.read_text(encoding="utf-8"))
    keys.feed(re.sub(r'{% key_hint keys "(\w+)"[^%]*%}', r'<kbd aria-hidden="true">\1</kbd>', text))
    assert not keys.found
