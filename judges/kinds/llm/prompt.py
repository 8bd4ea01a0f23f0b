"""A configuration's prompt, taken apart once, and filled in for each item."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotate.models import Sample
from judges.kinds.base import Config
from judges.kinds.llm import answers
from judges.kinds.llm.answers import Answers
from judges.kinds.llm.fences import code_for, fenced, texts_in
from judges.kinds.llm.template import Part, filled, names_in, parts_of
from judges.kinds.llm.variables import (
    CRITERION,
    EXAMPLES,
    INSTRUCTIONS,
    OPTIONS,
    REQUIREMENTS,
    Shown,
    shown_names,
    values_of,
)


def known_names(unit: str, per: str, *, has_criterion: bool, has_requirements: bool) -> list[str]:
    """The variables that a prompt may use."""
    names = shown_names(unit, per)
    names += [OPTIONS, EXAMPLES]
    if has_criterion:
        names.append(CRITERION)
    if has_requirements:
        names.append(REQUIREMENTS)
    return names


class Prompt:
    """task: what the prompt says before it first shows something, which is said once more after all of it.
    shown: the variables that show something of the sample."""

    def __init__(self, config: Config) -> None:
        known = known_names(
            config["unit"],
            config["per"],
            has_criterion=config["criterion"] is not None,
            has_requirements=config["requirements"] is not None,
        )
        parts = parts_of(config["prompt"], known)
        self.shown = [name for name in names_in(parts) if name not in INSTRUCTIONS]
        self._parts = filled(parts, _instructions(config))
        self.task = self._parts[0].text.strip() if self._parts and not self._parts[0].is_variable else ""
        self._examples = [(example["shows"], _spelled(example["value"])) for example in config["examples"]["drawn"]]
        self._example_texts = texts_in(value for shows, _ in self._examples for value in shows.values())
        self.characters = sum(len(part.text) for part in self._parts) + sum(map(len, self._example_texts))

    def values(self, sample: Sample, unit: str) -> Mapping[str, Shown]:
        return values_of(self.shown, sample, unit)

    def fill(self, values: Mapping[str, Shown]) -> tuple[str, str]:
        """The text, and the code of its marks. values: of `shown`, none of them None."""
        code = code_for([*texts_in(values.values()), *self._example_texts])
        texts = [self._text(part, values, code) if part.is_variable else part.text for part in self._parts]
        return "".join(texts), code

    def _text(self, part: Part, values: Mapping[str, Shown], code: str) -> str:
        if part.text == EXAMPLES:
            return "\n\n".join(self._example(place, code) for place in range(len(self._examples)))
        return fenced(part.text, values[part.text], code)

    def _example(self, place: int, code: str) -> str:
        shows, value = self._examples[place]
        texts = [fenced(name, text, code) for name, text in shows.items()]
        return "\n".join([f"Example {place + 1}", *texts, f"The right value here: {value}"])


def _instructions(config: Config) -> dict[str, str]:
    """What the variables say that show nothing of a sample; the examples are added with each item's marks."""
    said = {OPTIONS: _options(config), CRITERION: config["criterion_text"] or ""}
    requirements = config["requirements"] or ()
    said[REQUIREMENTS] = "\n".join(f"{place}. {one['text']}" for place, one in enumerate(requirements, start=1))
    return said


def _options(config: Config) -> str:
    if config["answer_with"] != answers.OPTIONS:
        return Answers(config).in_words()
    return "\n".join(_option(option) for option in config["options"])


def _option(option: Mapping[str, Any]) -> str:
    value, label = option["value"], option["label"]
    text = f"- {_spelled(value)}"
    # A label that only spells the value says nothing.
    if label and label.lower() != str(value).lower():
        text += f" ({label})"
    return f"{text}: {option['help']}" if option["help"] else text


def _spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
