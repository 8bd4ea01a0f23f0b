"""Reads everything that a person can reach: each route of the URLconf about everything there is, the links and queries
that pages offer, the queries that endpoints take, and what is inside of downloads."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from itertools import product
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from django.test import Client
from django.urls import Resolver404, resolve

from tests.annotate.api.routes import API, PAGES, Route

# As routes write it: <int:number>, (?P<number>[0-9]+).
_PARAMETER = re.compile(r"<\w+:(\w+)>|\(\?P<(\w+)>(?:\[[^\]]*\][^)]*|[^)]*)\)")
_LINK = re.compile(r'(?:href|hx-get)="([^"#]+)')
_FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL)
_FIELD = re.compile(r"<(input|select|textarea)\b([^>]*)>(?:(.*?)</select>)?", re.DOTALL)
_OPTION = re.compile(r'<option\b[^>]*\bvalue="([^"]*)"')
_ATTRIBUTE = re.compile(r'\b(action|method|name|value|type)="([^"]*)"')


@dataclass(frozen=True)
class Told:
    """What a reply says, with its headers. route: as the URLconf has it."""

    url: str
    route: str
    status: int
    text: str


Address = tuple[str, Any]


@dataclass
class Crawl:
    """values: for each parameter of a route all that it could be; of a route, for the parameters in its own way.
    queries: for each parameter of a query its values. Both lack nothing: KeyError names what has none."""

    client: Client
    values: Mapping[str, Iterable[Any]]
    queries: Mapping[str, Iterable[str]]
    without: frozenset[str] = frozenset()
    most: int = 3000
    # Whether each value of a parameter is asked, or each set of parameters once.
    each_value: bool = True
    seen: set[str] = field(default_factory=set)
    # Of each address, the parameters with their values, and the sets of parameters, that it was asked with.
    asked_of: dict[str, set[object]] = field(default_factory=lambda: defaultdict(set))
    # The address that is read, and what is sent to it.
    asked: Address = ("", None)

    def everything(self) -> Iterator[Told]:
        waiting = [url for route in (*PAGES, *API) if route.path not in self.without for url in self._urls(route)]
        while waiting:
            url = waiting.pop()
            # What a query changes it changes about each thing alike.
            kind = f"{_route(url)}?{urlsplit(url).query}" if urlsplit(url).query else url
            if kind in self.seen:
                continue
            self.seen.add(kind)
            if not self._asks_something_new(url):
                continue
            assert len(self.seen) < self.most, f"More than {self.most} addresses, the last of them {url}"
            told, links = self._read(url)
            yield told
            waiting += links

    def _asks_something_new(self, url: str) -> bool:
        """A value that its parameter has not had yet at this address, or parameters that were not asked together. All
        combinations would be each filter with each order and page: the same rows again, under the same names."""
        address = urlsplit(url)
        given = parse_qsl(address.query)
        asked: set[object] = {frozenset(dict(given)), *(given if self.each_value else ())}
        if self.asked_of[address.path] >= asked:
            return False
        self.asked_of[address.path] |= asked
        return True

    def read(self, address: Address) -> Told:
        url, body = self.asked = address
        if body is None:
            return self._read(url)[0]
        reply = self.client.post(url, json.dumps(body), content_type="application/json")
        return Told(
            f"POST {url} {body}", _route(url), reply.status_code, _text(_body(reply)) + str(dict(reply.headers))
        )

    def _urls(self, route: Route) -> list[str]:
        if hasattr(route.view, "params") and "GET" not in route.methods:
            return []
        names = route.parameters
        found = []
        for given in product(*(list(self.values[name]) for name in names)):
            url = route.url(dict(zip(names, given, strict=True)))
            found.append(url)
            found += [
                f"{url}?{urlencode({name: value})}"
                for name in sorted(getattr(route.view, "params", ()))
                for value in self.queries[name]
            ]
        return found

    def _read(self, url: str) -> tuple[Told, list[str]]:
        self.asked = url, None
        reply = self.client.get(url)
        body = _body(reply)
        text = _text(body)
        # A file; all of `close()` would close the database's connection too.
        for close in reply._resource_closers:
            close()
        is_page = reply.headers.get("Content-Type", "").startswith("text/html") and "attachment" not in str(
            reply.headers.get("Content-Disposition", "")
        )
        links = list(self._links(url, text)) if is_page else []
        if reply.status_code in (301, 302):
            links = [urljoin(url, reply["Location"])]
        return Told(url, _route(url), reply.status_code, text + str(dict(reply.headers))), self._wanted(links)

    def _wanted(self, links: Iterable[str]) -> list[str]:
        """Of this project, each query in one order of its parameters."""
        found = []
        for link in links:
            parts = urlsplit(link)
            if parts.netloc or not parts.path.startswith(("/p/", "/api/")) or _route(parts.path) in ("", *self.without):
                continue
            query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
            found.append(parts.path + (f"?{query}" if query else ""))
        return found

    def _links(self, url: str, page: str) -> Iterator[str]:
        for link in _LINK.findall(page):
            yield urljoin(url, unescape(link))
        for attributes, inside in _FORM.findall(page):
            about = dict(_ATTRIBUTE.findall(attributes))
            if about.get("method", "get") == "get":
                yield from _filled_in(urljoin(url, unescape(about.get("action", urlsplit(url).path))), inside)


def _filled_in(action: str, form: str) -> Iterator[str]:
    """As it stands, and with each other choice of each field, one at a time."""
    standing: dict[str, str] = {}
    choices: dict[str, list[str]] = {}
    for kind, attributes, options in _FIELD.findall(form):
        about = dict(_ATTRIBUTE.findall(attributes))
        if "name" not in about or about.get("type") in ("submit", "checkbox"):
            continue
        values = [unescape(one) for one in _OPTION.findall(options)] if kind == "select" else []
        choices[about["name"]] = values
        standing.setdefault(about["name"], values[0] if values else unescape(about.get("value", "")))
    path = urlsplit(action).path
    yield f"{path}?{urlencode(standing)}"
    for name, values in choices.items():
        for value in values:
            yield f"{path}?{urlencode({**standing, name: value})}"


def _route(url: str) -> str:
    return _route_of(urlsplit(url).path)


@lru_cache(maxsize=10_000)
def _route_of(path: str) -> str:
    try:
        return "/" + _PARAMETER.sub(r"<\1\2>", resolve(path).route).replace("^", "").replace("$", "")
    except Resolver404:
        return ""


def _body(reply: Any) -> bytes:
    return b"".join(reply.streaming_content) if reply.streaming else reply.content


def _text(body: bytes) -> str:
    if body[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "\n".join(_text(archive.read(name)) for name in archive.namelist())
    if body[:2] == b"\x1f\x8b":
        return _text(gzip.decompress(body))
    return body.decode(errors="replace")
