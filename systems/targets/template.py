"""What is sent to a target: its path, headers and body, in which {{places}} stand for what is asked.

A text of the body that is nothing but a place becomes the value itself, a list or a number too; within a longer text it
becomes the value's text. In a path values are percent-encoded. Headers have one place, {{key}}, which is filled where
they are sent (judges.endpoints.transport).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.texts import check_json
from judges.endpoints.keys import KEY_PLACE
from systems.models import Method, Question, QuestionRevision, SystemVersion

_PLACE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_CONFIGURED = "configuration."
PLACES = ("question", "question_id", "repeat", "turns", "messages", "version", "configuration")
# With one of these the question is sent.
_QUESTIONS = {"question", "messages"}
_MAX_PATH = 500
_MAX_HEADERS = 20
_MAX_VALUE = 1_000
_MAX_BODY = 100_000
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# What HTTP itself says of a request.
_RESERVED = {
    "host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding", "user-agent",
    "accept", "expect", "te", "trailer", "upgrade",
}  # fmt: skip
# Headers of such names hold secrets.
_SECRET = re.compile(r"auth|cookie|key|token|secret|password|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sent:
    """path: behind that of the base URL. content: JSON; empty where there is no body."""

    path: str
    content: bytes


def values_of(revision: QuestionRevision, repeat: int, version: SystemVersion) -> dict[str, Any]:
    """What each place stands for. Turns and messages are [{"role", "content"}], as most servers take them."""
    turns = [{"role": turn["role"], "content": turn["text"]} for turn in revision.earlier_turns]
    return {
        "question": revision.text,
        "question_id": revision.question.external_id,
        "repeat": repeat,
        "turns": turns,
        "messages": [*turns, {"role": "user", "content": revision.text}],
        "version": version.name,
        "configuration": version.configuration,
        **{f"{_CONFIGURED}{key}": value for key, value in version.configuration.items()},
    }


def filled(path: str, body: Any, values: Mapping[str, Any]) -> Sent:
    """Raises Invalid where the version's configuration lacks a key that a place names."""
    sent_path = _PLACE.sub(lambda found: quote(_text(_value(found[1], values)), safe=""), path)
    if body is None:
        return Sent(sent_path, b"")
    sent = json.dumps(_filled(body, values), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Sent(sent_path, sent.encode())


def check_configuration(path: str, body: Any, version: SystemVersion) -> None:
    """Whether the version has all that is sent of its configuration. Raises Invalid."""
    question = Question(external_id="")
    filled(path, body, values_of(QuestionRevision(question=question, text=""), 0, version))


def _filled(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, str):
        whole = _PLACE.fullmatch(node)
        if whole is not None:
            return _value(whole[1], values)
        return _PLACE.sub(lambda found: _text(_value(found[1], values)), node)
    if isinstance(node, list):
        return [_filled(child, values) for child in node]
    if isinstance(node, dict):
        return {key: _filled(child, values) for key, child in node.items()}
    return node


def _value(place: str, values: Mapping[str, Any]) -> Any:
    if place not in values:
        raise Invalid(
            "no_configuration",
            _("The configuration of “%(version)s” has no “%(key)s”, which the target sends.")
            % {"version": values["version"], "key": place.removeprefix(_CONFIGURED)},
        )
    return values[place]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# What may be stored


def check_path(path: Any) -> str:
    """Raises Invalid."""
    if not isinstance(path, str) or len(path) > _MAX_PATH:
        raise _bad("path", _("Path: must be a text of at most %(most)d characters.") % {"most": _MAX_PATH})
    path = path.strip()
    bare = _PLACE.sub("x", path)
    steps = bare.partition("?")[0].split("/")
    if path and (not path.startswith("/") or "//" in bare.partition("?")[0] or {".", ".."} & set(steps)):
        raise _bad("path", _("Path: must begin with “/” and have no empty or dot segments."))
    if not re.fullmatch(r"[\x21-\x7e]*", bare) or re.search(r"[#\\<>\"`{}|^]", bare):
        raise _bad("path", _("Path: must not contain spaces, “#” or invalid characters. Percent-encode them."))
    _check_places("path", path)
    return path


def check_headers(headers: Any) -> dict[str, str]:
    """Raises Invalid."""
    refused = _bad("headers", _("Headers: must be at most %(most)d names with a text each.") % {"most": _MAX_HEADERS})
    if not isinstance(headers, dict) or len(headers) > _MAX_HEADERS:
        raise refused
    for name, value in headers.items():
        if not isinstance(value, str) or len(value) > _MAX_VALUE or not re.fullmatch(r"[\x20-\x7e]+", value):
            raise refused
        if not _HEADER.fullmatch(name):
            raise _bad("headers", _("Headers: “%(name)s” is not a valid name.") % {"name": name[:80]})
        if name.lower() in _RESERVED:
            raise _bad("headers", _("Headers: “%(name)s” is set for each request.") % {"name": name})
        if _SECRET.search(name) and KEY_PLACE not in value:
            raise _bad(
                "headers",
                _("Headers: store the secret of “%(name)s” as the endpoint’s key, and write {{key}} here.")
                % {"name": name},
            )
        if "{{" in value.replace(KEY_PLACE, ""):
            raise _bad("headers", _("Headers: the only place is {{key}}."))
    if len({name.lower() for name in headers}) < len(headers):
        raise _bad("headers", _("Headers: each name once."))
    return headers


def check_body(body: Any) -> Any:
    """Raises Invalid."""
    try:
        check_json(body)
    except Invalid as refusal:
        raise _bad("body", _("Body: %(problem)s") % {"problem": refusal.message}) from None
    if len(json.dumps(body)) > _MAX_BODY:
        raise _bad("body", _("Body: must be at most %(most)s characters.") % {"most": f"{_MAX_BODY:,}"})
    for text in _texts(body):
        _check_places("body", text)
    return body


def check_asks(method: str, path: str, body: Any) -> None:
    """Whether the question is sent at all. Raises Invalid."""
    if method == Method.GET and body is not None:
        raise _bad("body", _("Body: a GET request has none. Put the question into the path, or choose POST."))
    places = {found[1] for text in [path, *_texts(body)] for found in _PLACE.finditer(text)}
    if not places & _QUESTIONS:
        raise _bad(
            "path" if method == Method.GET else "body",
            _("The question is not sent. Write {{question}} or {{messages}} into the body, or one into the path."),
        )


def _check_places(field: str, text: str) -> None:
    for found in _PLACE.finditer(text):
        if found[1] not in PLACES and not (found[1].startswith(_CONFIGURED) and len(found[1]) > len(_CONFIGURED)):
            raise _bad(
                field,
                _("“{{%(place)s}}” is no place. Known: %(known)s.")
                % {"place": found[1][:80], "known": ", ".join([*PLACES, f"{_CONFIGURED}…"])},
            )


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _texts(child)


def _bad(field: str, message: str) -> Invalid:
    return Invalid(f"bad_{field}", message, field=field)
