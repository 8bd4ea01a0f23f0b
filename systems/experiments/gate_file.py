"""What a version must show before it is shipped, as a file says it (docs/ci.md): read strictly, or refused in a
sentence that names the file, the place in it, and what was expected there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import yaml
from yaml.composer import ComposerError

from annotate.core.errors import Invalid

MOST_CHARACTERS = 50_000
# Of a bar or a margin. It also refuses .inf, .nan, and what no float holds.
_MOST = 1e15
# Of a whole number that is quoted: Python writes out no more than 4,300 digits.
_MOST_BITS = 10_000
_MERGE = "tag:yaml.org,2002:merge"

Versus = Literal["bar", "baseline"]
By = Literal["lower", "point"]


@dataclass(frozen=True, slots=True)
class Condition:
    """versus: what the candidate's level is held to, a bar or the baseline's level. limit: the bar, or by how much it
    may be worse than the baseline. by: the end of the interval that is less good, or the figure itself."""

    metric: str
    versus: Versus
    limit: float
    by: By
    min_labelled: int
    required: bool


@dataclass(frozen=True, slots=True)
class GateFile:
    """name: of the file, for what is said about it."""

    name: str
    candidate: str
    baseline: str
    conditions: tuple[Condition, ...]

    def refused(self, place: str, expected: str, found: object) -> Invalid:
        return _refused(self.name, place, expected, found)


def read_gate(text: str, name: str) -> GateFile:
    """Raises Invalid for all that is not as docs/ci.md has it."""
    top = _Keys(name, "", _loaded(text, name))
    top.require("version", "candidate", "baseline", "conditions", optional=())
    top.take("version", "1", lambda value: type(value) is int and value == 1)
    candidate, baseline = top.text("candidate"), top.text("baseline")
    if candidate == baseline:
        raise _refused(name, "candidate", "another version than the baseline", candidate)
    listed = top.take("conditions", "a list with a condition", lambda value: isinstance(value, list) and bool(value))
    conditions = tuple(_condition(_Keys(name, f"conditions[{n}]", one)) for n, one in enumerate(listed, start=1))
    if not any(one.required for one in conditions):
        raise _refused(name, "conditions", "at least one that is required", None)
    return GateFile(name, candidate, baseline, conditions)


def _condition(keys: _Keys) -> Condition:
    versus: Versus = keys.word("versus", ("bar", "baseline"))
    limit = "bar" if versus == "bar" else "margin"
    keys.require("metric", "versus", limit, optional=("by", "min_labelled", "required"))
    return Condition(
        metric=keys.text("metric"),
        versus=versus,
        limit=keys.number(limit, low=-math.inf if limit == "bar" else 0.0),
        by=keys.word("by", ("lower", "point"), "lower"),
        min_labelled=keys.take(
            "min_labelled", "a whole number from 0", lambda value: type(value) is int and value >= 0, 0
        ),
        required=keys.take("required", "true or false", lambda value: isinstance(value, bool), True),
    )


class _Keys:
    """A mapping of the file, and where it stands there."""

    def __init__(self, name: str, place: str, found: object) -> None:
        if not isinstance(found, dict):
            raise _refused(name, place, "keys with their values", found)
        self._name, self._place, self._found = name, place, found

    def require(self, *names: str, optional: tuple[str, ...]) -> None:
        """All of the names, of the optional ones any, and no other."""
        known = (*names, *optional)
        for key in self._found:
            if key not in known:
                raise _refused(self._name, self._place, f"only {', '.join(known)}", key)
        for key in names:
            self._given(key)

    def take(self, key: str, expected: str, is_right: Callable[[Any], bool], default: Any = None) -> Any:
        """default: for a key that may be left out."""
        value = self._found.get(key, default) if default is not None else self._given(key)
        if not is_right(value):
            raise _refused(self._name, self._at(key), expected, value)
        return value

    def text(self, key: str) -> str:
        """Names that look like numbers need quotes."""
        found: str = self.take(key, "a text (in quotes if it looks like a number)", _is_text)
        return found

    def word(self, key: str, words: tuple[str, ...], default: str | None = None) -> Any:
        return self.take(key, " or ".join(words), lambda value: value in words, default)

    def number(self, key: str, low: float) -> float:
        expected = "a number" if low == -math.inf else f"a number from {low:g}"
        return float(self.take(key, expected, lambda value: _is_number(value) and value >= low))

    def _given(self, key: str) -> Any:
        if key not in self._found:
            raise _refused(self._name, self._at(key), "a value", None)
        return self._found[key]

    def _at(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key


class _Plain(yaml.SafeLoader):
    """What the file says stands where it says it: without tags, anchors and aliases, of which a few lines could also
    make billions."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None) or getattr(event, "anchor", None):
            raise ComposerError(None, None, "without tags, anchors and aliases", event.start_mark)
        return super().compose_node(parent, index)


def _loaded(text: str, name: str) -> object:
    if len(text) > MOST_CHARACTERS:
        raise Invalid("bad_gate", f"{name}: expected at most {MOST_CHARACTERS:,} characters, not {len(text):,}.")
    try:
        _require_each_key_once(yaml.compose(text, Loader=_Plain), name)
        return yaml.safe_load(text)
    # ValueError: a date or a number that is none; RecursionError: brackets within brackets.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise Invalid("bad_gate", f"{name}: {place}expected YAML, {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "not brackets within brackets"
    return str(getattr(error, "problem", None) or error).partition("\n")[0]


def _require_each_key_once(node: yaml.Node | None, name: str) -> None:
    """Of two with the same name YAML would take the last; and of what is merged into others, what these lack."""
    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            _require_each_key_once(one, name)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.tag == _MERGE:
                raise Invalid("bad_gate", f"{name}: line {line}: expected no “{key.value}”.")
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise Invalid("bad_gate", f"{name}: line {line}: expected “{key.value}” only once.")
                seen.add(key.value)
            _require_each_key_once(value, name)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST


def _refused(name: str, place: str, expected: str, found: object) -> Invalid:
    said = f"{place}: expected {expected}" if place else f"expected {expected}"
    return Invalid("bad_gate", f"{name}: {said}, not {_spelt(found)}.")


def _spelt(found: object) -> str:
    """As the file has it, and a list or an object in a word."""
    if isinstance(found, str):
        return f"“{found[:80]}”"
    if isinstance(found, Mapping):
        return "an object"
    if isinstance(found, list):
        return "a list" if found else "an empty list"
    if found is None:
        return "nothing"
    if isinstance(found, int) and found.bit_length() > _MOST_BITS:
        return "so large a number"
    return str(found).lower() if isinstance(found, bool) else str(found)[:80]
