"""The answers that a judge may give: how the model is told of them, and how its replies are read.

Replies are read strictly: an answer is exactly what was asked for, or there is none. There are no defaults, no value is
moved into its bounds, and none is searched for in other text: a number in the text of a sample is no score. Exported
judges read as strictly, by a spelling of their own (judges.exports.python).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotate.core.scales import Value
from annotate.files.problems import RowError
from annotate.files.strict_json import parse_object
from judges.endpoints.calls import Answered
from judges.kinds.base import Config, NoScore, Scored
from judges.models import ScoreStatus

OPTIONS, NUMBER, REQUIREMENTS = "options", "number", "requirements"

REASON, VALUE, MET = "reason", "value", "met"


class NoAnswer(NoScore):
    """What the model wrote is no answer; there is no value then."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, ScoreStatus.PARSE_ERROR)


class Answers:
    """Of one configuration."""

    def __init__(self, config: Config) -> None:
        self._kind: str = config["answer_with"]
        self._levels: list[Value] = [option["value"] for option in config["options"] or ()]
        self._low, self._high, self._whole = config["min"], config["max"], config["whole"]
        self.requirements: Sequence[Mapping[str, Any]] = config["requirements"] or ()
        self._number = "a whole number" if self._whole else "a number"
        # What each option counts as, where it isn't a criterion's.
        self._scores: list[float | None] = [option.get("score") for option in config["options"] or ()]
        self._only_whole = all(type(level) is int for level in self._levels)
        # What the value is called in the reply.
        self.name = MET if self._kind == REQUIREMENTS else VALUE
        # Of the object that holds one answer, in the order in which the model writes them.
        self.fields = [REASON, self.name] if config["rationale"] else [self.name]

    def in_words(self) -> str:
        if self._kind == REQUIREMENTS:
            return "true or false"
        if self._kind == OPTIONS:
            return "one of " + ", ".join(json.dumps(level, ensure_ascii=False) for level in self._levels)
        return f"{self._number} from {_plain(self._low)} to {_plain(self._high)}"

    def schema(self) -> dict[str, Any]:
        """Of the object that holds one answer."""
        properties = {REASON: {"type": "string"}, self.name: self._value_schema()}
        return object_schema({name: properties[name] for name in self.fields})

    def _value_schema(self) -> dict[str, Any]:
        if self._kind == REQUIREMENTS:
            return {"type": "boolean"}
        if self._kind == NUMBER:
            return {"type": "integer" if self._whole else "number", "minimum": self._low, "maximum": self._high}
        kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
        types = {kinds[type(level)] for level in self._levels}
        return {**({"type": types.pop()} if len(types) == 1 else {}), "enum": list(self._levels)}

    def read(self, node: Any) -> tuple[Value, str]:
        """The value and the reason in an object. Raises NoAnswer: nothing is converted or moved into its bounds.

        An option that counts as a number is that number, and is named in the reason.
        """
        if not isinstance(node, dict):
            raise NoAnswer("An answer is not an object.")
        if node.keys() != set(self.fields):
            raise NoAnswer(f"The answer's fields are not {' and '.join(self.fields)}.")
        reason = node.get(REASON, "")
        if not isinstance(reason, str):
            raise NoAnswer("The reason is not a text.")
        reason = reason.strip()
        if self._kind != OPTIONS:
            return self._value(node[self.name]), reason
        for level, number in zip(self._levels, self._scores, strict=True):
            if self._is_level(node[self.name], level):
                if number is None:
                    return level, reason
                return number, f"{level}: {reason}".strip() if isinstance(level, str) else reason
        raise NoAnswer("The value is none of the options.")

    def _is_level(self, value: Any, level: Value) -> bool:
        """2 is not "2", and 1 is not true; 2.0 is 2 unless all levels are whole numbers."""
        is_exact = isinstance(level, bool | str) or self._only_whole
        return type(value) in ((type(level),) if is_exact else (int, float)) and value == level

    def _value(self, value: Any) -> Value:
        if self._kind == REQUIREMENTS:
            if not isinstance(value, bool):
                raise NoAnswer("Whether a requirement is met is neither true nor false.")
            return value
        if type(value) not in (int, float) or (self._whole and type(value) is not int):
            raise NoAnswer(f"The value is not {self._number}.")
        if not math.isfinite(value) or not self._low <= value <= self._high:
            raise NoAnswer("The value lies outside the scale.")
        return float(value)


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(number)


# Many models write JSON in a block of code: one block and nothing beside it is accepted.
_BLOCK = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n")
_BLOCK_END = "```"
_BLANKS = " \t\r\n"

_NOT_JSON = "The reply is not one JSON object and nothing else."
_PROBLEMS = {
    "duplicate_key": "A field comes twice in the reply.",
    "number": "A number in the reply is not finite or is too large.",
    "not_object": "The reply is JSON, but not an object.",
    "depth": "The reply is nested too deeply.",
    "nul": "The reply holds a NUL character.",
    "surrogate": "The reply holds half of a character.",
}

# The value and the reason for one thing that was asked about, or why there is none.
Said = tuple[Value, str] | NoAnswer


def object_in(reply: Answered) -> dict[str, Any]:
    """The JSON object that the reply is, alone or as the only block of code.

    Raises NoScore: the model refused, was cut off, wrote nothing, or wrote something else.
    """
    if reply.refusal:
        raise NoScore("The model refused.", ScoreStatus.REFUSED)
    if reply.finish_reason == "content_filter":
        raise NoScore("A filter of the server held the reply back.", ScoreStatus.REFUSED)
    if reply.finish_reason == "length":
        raise NoScore("The reply was cut off at the most tokens it may have.", ScoreStatus.TRUNCATED)
    text = (reply.text or "").strip(_BLANKS)
    if not text:
        raise NoAnswer("The reply is empty.")
    block = _BLOCK.match(text)
    if block and text.endswith(_BLOCK_END, block.end()):
        text = text[block.end() : -len(_BLOCK_END)].strip(_BLANKS)
    try:
        return parse_object(text.encode())
    except UnicodeEncodeError:
        raise NoAnswer(_PROBLEMS["surrogate"]) from None
    except RowError as error:
        raise NoAnswer(_PROBLEMS.get(error.code, _NOT_JSON)) from None


def read_numbered(reply: Answered, answers: Answers, count: int) -> list[Said]:
    """The answers about `count` things, under their numbers from "1".

    One that is missing or malformed fails alone. Raises NoScore where `object_in` does, and when a number is none of
    theirs: the model counted differently, and then it is unknown which answer is about which.
    """
    node = object_in(reply)
    numbers = [str(number) for number in range(1, count + 1)]
    if not node.keys() <= set(numbers):
        raise NoAnswer("The reply is about something that was not asked about.")
    said: list[Said] = []
    for number in numbers:
        try:
            said.append(answers.read(node[number]) if number in node else NoAnswer("The reply leaves it out."))
        except NoAnswer as why:
            said.append(why)
    return said


def scored(unit: str, dimension: str, said: Said) -> Scored:
    """Options that are numbers are scored as numbers; others are labels."""
    if isinstance(said, NoAnswer):
        return said.scored(unit, dimension)
    value, reason = said
    if isinstance(value, bool | str):
        return Scored(unit, dimension, label=value, rationale=reason)
    return Scored(unit, dimension, number=float(value), rationale=reason)
