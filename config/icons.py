"""One SVG sprite of the icons that templates name, made when static files are collected
(docs/decisions/0044-icons.md)."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

SPRITE = "base/icons.svg"
_NAMED = re.compile(r'{% icon "([^"]+)"')
_DRAWING = re.compile(r"<svg [^>]*>(.*)</svg>", re.DOTALL)


def named_icons() -> dict[str, Path]:
    """The icons that templates name, each with one of these templates."""
    templates = sorted((settings.BASE_DIR / "frontend").rglob("*.html"))
    return {name: path for path in templates for name in _NAMED.findall(path.read_text(encoding="utf-8"))}


def sprite(icons: dict[str, Path]) -> str:
    """A symbol for each, out of Heroicons' drawings for 16 pixels. Raises RuntimeError for a name that isn't there."""
    try:
        package = files("heroicons")
    except ModuleNotFoundError as error:
        why = "Install what it takes: pip install --requirement requirements-static.txt"
        raise RuntimeError(f"The icons could not be put together. {why}") from error
    with (package / "heroicons.zip").open("rb") as file, ZipFile(file) as drawings:
        there = set(drawings.namelist())
        symbols = []
        for name, template in sorted(icons.items()):
            if f"micro/{name}.svg" not in there:
                raise RuntimeError(f"{template.name} names the icon {name}, which Heroicons doesn't have.")
            (drawing,) = _DRAWING.findall(drawings.read(f"micro/{name}.svg").decode())
            symbols.append(
                f'<symbol id="{name}" viewBox="0 0 16 16">{"".join(map(str.strip, drawing.splitlines()))}</symbol>'
            )
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>\n'


class IconsFinder(BaseFinder):
    """Gives Django the sprite beside the files of the rooms."""

    def __init__(self) -> None:
        self._folder = settings.DATA_DIR / "icons"
        self._storage = FileSystemStorage(location=self._folder)

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != SPRITE:
            return []
        self._make()
        found = str(self._folder / SPRITE)
        return [found] if find_all else found

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, Storage]]:
        self._make()
        yield SPRITE, self._storage

    def _make(self) -> None:
        target = self._folder / SPRITE
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(sprite(named_icons()), encoding="utf-8")
