"""Every route, read from the URLconf, so that a new one is tested from the start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.admindocs.views import simplify_regex
from django.urls import URLPattern, URLResolver, get_resolver

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True)
class Route:
    path: str  # with parameters in angle brackets
    view: Any  # the class, or the function of a page

    def __str__(self) -> str:
        return self.path

    @property
    def parameters(self) -> list[str]:
        return _PARAMETER.findall(self.path)

    @property
    def methods(self) -> list[str]:
        names = ("get", "post", "put", "patch", "delete")
        return [name.upper() for name in names if hasattr(self.view, name)]

    def url(self, values: dict[str, Any]) -> str:
        """`values`: parameter -> value; `batches/number` before `number` for a parameter that follows that word."""

        def value(match: re.Match[str]) -> str:
            name = match[1]
            word = self.path[: match.start()].rstrip("/").rpartition("/")[2]
            for key in (f"{word}/{name}", name):
                if key in values:
                    return str(values[key])
            raise KeyError(f"tests/api: which value is for <{name}> in {self.path}?")

        return _PARAMETER.sub(value, self.path)


def _walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[Route]:
    for entry in patterns:
        text = str(entry.pattern)
        if text.startswith("^"):
            text = simplify_regex(text).lstrip("/")
        if isinstance(entry, URLResolver):
            yield from _walk(entry.url_patterns, prefix + text)
        else:
            view = getattr(entry.callback, "view_class", getattr(entry.callback, "cls", entry.callback))
            yield Route("/" + prefix + text, view)


ALL = list(_walk(get_resolver().url_patterns, ""))
API = [route for route in ALL if route.path.startswith("/api/")]
PAGES = [route for route in ALL if not route.path.startswith(("/api/", "/static/"))]
