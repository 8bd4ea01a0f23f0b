"""Reading replies, strictly: an answer is what was asked for, to the letter, or there is none.

No default, nothing put within bounds, nothing looked for in other words: a number that somebody else wrote into a text
is no score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotate.core.scales import Value
from annotate.files.problems import RowError
from annotate.files.strict_json import parse_object
from judges.endpoints.calls import Answered
from judges.kinds.base import Scored
from judges.kinds.llm.answers import Answers, NoAnswer
from judges.models import ScoreStatus

# Many models put what they write as JSON into a block of code: one block and nothing beside it is taken.
_BLOCK = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(.*)\n?[ \t]*```", re.DOTALL)
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

Failure = tuple[ScoreStatus, str]
# Of one thing that was asked about: its value and why, or why there is none.
Said = tuple[Value, str] | NoAnswer


def failure_of(reply: Answered) -> Failure | None:
    """Why the reply can't be read at all: the model refused, was cut off, or said nothing."""
    if reply.refusal:
        return ScoreStatus.REFUSED, "The model refused."
    if reply.finish_reason == "content_filter":
        return ScoreStatus.REFUSED, "A filter of the server held the reply back."
    if reply.finish_reason == "length":
        return ScoreStatus.TRUNCATED, "The reply was cut off at the most tokens it may have."
    if reply.text is None or not reply.text.strip(_BLANKS):
        return ScoreStatus.PARSE_ERROR, "The reply is empty."
    return None


def one_object(text: str) -> dict[str, Any]:
    """The JSON object that the text is, alone or as the only block of code. Raises NoAnswer."""
    text = text.strip(_BLANKS)
    block = _BLOCK.fullmatch(text)
    try:
        return parse_object((block[1] if block else text).strip(_BLANKS).encode())
    except UnicodeEncodeError:
        raise NoAnswer(_PROBLEMS["surrogate"]) from None
    except RowError as error:
        raise NoAnswer(_PROBLEMS.get(error.code, _NOT_JSON)) from None


def read_one(reply: Answered, answers: Answers) -> tuple[Value, str]:
    """Raises NoAnswer."""
    return answers.read(one_object(reply.text or ""))


def read_numbered(reply: Answered, answers: Answers, count: int) -> list[Said]:
    """The answers about `count` things, under their numbers from "1".

    One that is missing or malformed fails alone. Raises NoAnswer when a number is none of theirs: the model counted
    otherwise, and then no answer is known to be about what it is filed under.
    """
    node = one_object(reply.text or "")
    numbers = [str(number) for number in range(1, count + 1)]
    if not node.keys() <= set(numbers):
        raise NoAnswer("The reply is about something that was not asked about.")
    return [_one_of(node, number, answers) for number in numbers]


def _one_of(node: Mapping[str, Any], number: str, answers: Answers) -> Said:
    if number not in node:
        return NoAnswer("The reply leaves it out.")
    try:
        return answers.read(node[number])
    except NoAnswer as why:
        return why


def scored(unit: str, dimension: str, said: Said) -> Scored:
    """Options that are numbers are numbers to whoever reckons with them; others are labels."""
    if isinstance(said, NoAnswer):
        return Scored(unit, dimension, ScoreStatus.PARSE_ERROR, detail=said.detail)
    value, reason = said
    if isinstance(value, bool | str):
        return Scored(unit, dimension, label=value, rationale=reason)
    return Scored(unit, dimension, number=float(value), rationale=reason)


def failed(units: Sequence[str], dimension: str, failure: Failure) -> list[Scored]:
    status, detail = failure
    return [Scored(unit, dimension, status, detail=detail) for unit in units]
