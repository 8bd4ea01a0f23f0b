"""The form of a reply: how the model is told of it, as words and as a JSON schema."""

from __future__ import annotations

from typing import Any

from judges.kinds.llm.answers import MET, REASON, Answers, object_schema

_OPENING = "Reply with exactly one JSON object and nothing else:"
_WHY = "- reason: why, in one to three sentences. Quote the words that decide it."


def one_form(answers: Answers) -> tuple[str, dict[str, Any]]:
    """Of a reply about one thing."""
    lines = [f"{_OPENING} {_shape(answers)}", *_fields(answers)]
    return "\n".join(lines), answers.schema()


def numbered_form(answers: Answers, noun: str, count: int) -> tuple[str, dict[str, Any]]:
    """Of a reply about several things, each under its number. noun: what they are called."""
    shape = _shape(answers)
    written = f'{{"1": {shape}}}' if count == 1 else f'{{"1": {shape}, …, "{count}": {shape}}}'
    lines = [
        f"{_OPENING} {written}",
        f"It has one field for each {noun}, under the {noun}'s number, from 1 to {count}: all of them, and no other.",
        *_fields(answers),
    ]
    one = answers.schema()
    return "\n".join(lines), object_schema({str(number): one for number in range(1, count + 1)})


def _shape(answers: Answers) -> str:
    return "{" + ", ".join(f'"{name}": …' for name in answers.fields) + "}"


def _fields(answers: Answers) -> list[str]:
    what = "whether the requirement is met, " if answers.name == MET else ""
    value = f"- {answers.name}: {what}{answers.in_words()}."
    return [_WHY, value] if REASON in answers.fields else [value]
