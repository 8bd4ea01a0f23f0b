"""What a target's reply says, by JSON pointers (RFC 6901). It says it as it is described, or it is a failure with the
reason; nothing is guessed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from judges.endpoints.keys import SHOWN_FROM
from judges.endpoints.reading import LONGEST_RAW
from judges.endpoints.redaction import SHOWN, Redaction
from systems.models import SystemVersion

# Of the reply; and of each context, whose pointers begin there.
OF_REPLY = (
    "answer", "contexts", "abstained", "latency_ms", "first_token_ms", "input_tokens", "output_tokens", "cost",
)  # fmt: skip
OF_CONTEXT = ("context_text", "context_id", "context_score")
_AMOUNTS = ("latency_ms", "first_token_ms", "cost")
_TOKENS = ("input_tokens", "output_tokens")
_LARGEST = 10**12
_MOST_TOKENS = 2**31 - 1
_MAX_POINTER = 500
_MAX_DEPTH = 100
# A key of digits alone has no fewer of them.
_SMALLEST_KEY = 10 ** (SHOWN_FROM - 1)
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_MISSING = object()


class NoAnswer(Exception):
    """The reply is no answer; `detail`: why, in our words."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Mapped:
    """answer: None where the target has none, and only retrieves. contexts: [{"text", "id", "score"}], without what the
    reply doesn't say. measures: those that it says."""

    answer: str | None
    contexts: list[dict[str, Any]]
    abstained: bool | None
    measures: dict[str, float | int]

    def with_cost(self, version: SystemVersion) -> Mapped:
        """By the version's price, where the reply says no cost but how many tokens it took."""
        price, measures = version.price, self.measures
        if "cost" in measures or not {"input", "output"} <= price.keys() or not set(_TOKENS) <= measures.keys():
            return self
        cost = (measures["input_tokens"] * price["input"] + measures["output_tokens"] * price["output"]) / 1_000_000
        return Mapped(self.answer, self.contexts, self.abstained, {**measures, "cost": cost})


def check_pointers(said: Any) -> dict[str, str]:
    """{what: pointer}. Raises Invalid."""
    if not isinstance(said, dict):
        raise _bad(_("Reply: must be an object of JSON pointers."))
    for name, pointer in said.items():
        if name not in (*OF_REPLY, *OF_CONTEXT):
            known = ", ".join((*OF_REPLY, *OF_CONTEXT))
            raise _bad(_("Reply: “%(name)s” is not known. Known: %(known)s.") % {"name": name[:80], "known": known})
        if not isinstance(pointer, str) or len(pointer) > _MAX_POINTER or not _is_pointer(pointer):
            raise _bad(
                _("Reply: %(name)s must be a JSON pointer, such as /data/answer, or empty for the whole.")
                % {"name": name},
                name,
            )
    if "answer" not in said and "contexts" not in said:
        raise _bad(_("Reply: say where the answer stands, or the contexts."), "answer")
    if "contexts" not in said and set(OF_CONTEXT) & said.keys():
        raise _bad(_("Reply: say where the contexts stand."), "contexts")
    return said


def _is_pointer(text: str) -> bool:
    return text.isprintable() and re.fullmatch(r"(/([^~/]|~[01])*)*", text) is not None


def read_body(body: bytes, redact: Redaction) -> tuple[str, str]:
    """The reply's text as it is kept, without the endpoint's key; and why it can't be read, empty where it can."""
    try:
        clean = _cleaned(_parsed(body), redact.of_many(), _MAX_DEPTH)
    except NoAnswer as refusal:
        whole = body.decode("utf-8", "replace").replace("\x00", "\ufffd")
        # Of a body that is cut off first, the beginning of a key could be left.
        return redact.unread(whole)[:LONGEST_RAW], refusal.detail
    # Not as it came: of two fields of one name only the last was looked through.
    return orjson.dumps(clean).decode(), ""


def _parsed(body: bytes) -> Any:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise NoAnswer(_("The reply is not UTF-8 (byte %(n)d).") % {"n": error.start + 1}) from None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if not body.strip():
            raise NoAnswer(_("The reply is empty.")) from None
        if body.lstrip()[:1] == b"<":
            raise NoAnswer(_("The reply is HTML or XML, not JSON.")) from None
        if _is_json_but_for_constants(body):
            raise NoAnswer(_("The reply has NaN or Infinity, which is not JSON.")) from None
        raise NoAnswer(_("The reply is not JSON, or only half of it (%(where)s).") % {"where": error}) from None


def _is_json_but_for_constants(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _cleaned(node: Any, redact: Callable[[str], str], depth: int) -> Any:
    """PostgreSQL has no NUL: a replacement character shows that something was there."""
    if not depth:
        raise NoAnswer(_("The reply is nested more than %(n)d levels deep.") % {"n": _MAX_DEPTH})
    if isinstance(node, str):
        return redact(node.replace("\x00", "\ufffd"))
    if isinstance(node, list):
        return [_cleaned(child, redact, depth - 1) for child in node]
    if isinstance(node, dict):
        return {redact(key): _cleaned(child, redact, depth - 1) for key, child in node.items()}
    if isinstance(node, int) and abs(node) >= _SMALLEST_KEY and redact(str(node)) != str(node):
        return SHOWN
    return node


def mapped(text: str, pointers: dict[str, str]) -> Mapped:
    """text: as `read_body` returned it, of a reply that can be read. Raises NoAnswer."""
    tree = orjson.loads(text)
    answer = _words(tree, pointers, "answer") if "answer" in pointers else None
    contexts = _contexts(tree, pointers) if "contexts" in pointers else []
    measures: dict[str, float | int] = {}
    for name in (*_AMOUNTS, *_TOKENS):
        value = _measure(tree, pointers, name)
        if value is not None:
            measures[name] = value
    return Mapped(answer, contexts, _abstained(tree, pointers), measures)


def found_at(tree: Any, pointer: str) -> Any:
    """_MISSING where nothing stands there."""
    for written in pointer.split("/")[1:]:
        step = written.replace("~1", "/").replace("~0", "~")
        if isinstance(tree, dict) and step in tree:
            tree = tree[step]
        elif isinstance(tree, list) and _INDEX.fullmatch(step) and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            return _MISSING
    return tree


def _required(tree: Any, pointers: dict[str, str], name: str, where: str = "") -> Any:
    value = found_at(tree, pointers[name])
    if value is _MISSING:
        raise NoAnswer(
            _("The reply has nothing at %(pointer)s, where %(what)s should be.")
            % {"pointer": _spelt(where, pointers[name]), "what": name}
        )
    return value


def _wrong(where: str, pointer: str, name: str, wanted: str) -> NoAnswer:
    return NoAnswer(
        _("The reply has no %(wanted)s at %(pointer)s, where %(what)s should be.")
        % {"wanted": wanted, "pointer": _spelt(where, pointer), "what": name}
    )


def _spelt(where: str, pointer: str) -> str:
    return f"{where}{pointer}" or "/"


def _words(tree: Any, pointers: dict[str, str], name: str, where: str = "") -> str:
    value = _required(tree, pointers, name, where)
    if not isinstance(value, str):
        raise _wrong(where, pointers[name], name, _("text"))
    if not value.strip():
        raise NoAnswer(
            _("The reply has an empty text at %(pointer)s, where %(what)s should be.")
            % {"pointer": _spelt(where, pointers[name]), "what": name}
        )
    return value


def _contexts(tree: Any, pointers: dict[str, str]) -> list[dict[str, Any]]:
    found = _required(tree, pointers, "contexts")
    if not isinstance(found, list):
        raise _wrong("", pointers["contexts"], "contexts", _("list"))
    return [_context(one, pointers, f"{pointers['contexts']}/{index}") for index, one in enumerate(found)]


def _context(tree: Any, pointers: dict[str, str], where: str) -> dict[str, Any]:
    """Where its pointer isn't given, the context itself is the text."""
    named = {"context_text": "", **pointers}
    context: dict[str, Any] = {"text": _words(tree, named, "context_text", where)}
    if "context_id" in pointers:
        identity = _required(tree, pointers, "context_id", where)
        if isinstance(identity, bool) or not isinstance(identity, str | int):
            raise _wrong(where, pointers["context_id"], "context_id", _("text"))
        context["id"] = str(identity)
    if "context_score" in pointers:
        score = _required(tree, pointers, "context_score", where)
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise _wrong(where, pointers["context_score"], "context_score", _("finite number"))
        context["score"] = float(score)
    return context


def _abstained(tree: Any, pointers: dict[str, str]) -> bool | None:
    value = found_at(tree, pointers["abstained"]) if "abstained" in pointers else None
    if value is None or value is _MISSING or "answer" not in pointers:
        return None
    if not isinstance(value, bool):
        raise _wrong("", pointers["abstained"], "abstained", _("true or false"))
    return value


def _measure(tree: Any, pointers: dict[str, str], name: str) -> float | int | None:
    """None where the reply doesn't say it: not each of them has to."""
    value = found_at(tree, pointers[name]) if name in pointers else None
    if value is None or value is _MISSING:
        return None
    is_whole, most = name in _TOKENS, _MOST_TOKENS if name in _TOKENS else _LARGEST
    if isinstance(value, bool) or not isinstance(value, int if is_whole else int | float) or not 0 <= value <= most:
        wanted = _("whole number from 0") if is_whole else _("number from 0")
        raise _wrong("", pointers[name], name, wanted)
    return value


def _bad(message: str, name: str = "") -> Invalid:
    return Invalid("bad_reply", message, field=f"reply.{name}" if name else "reply")
