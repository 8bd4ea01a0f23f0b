"""A configuration's prompt, taken apart once, and filled in for each item.

Texts of samples stand between marks that their authors can't write: they are material, never instructions.

What a prompt can show of a sample, by the names that stand for it in the prompt.

Prompts with variables: {{claim}} stands for the claim, and for nothing else.

What stands between double braces is one of the names that there are, to the letter: no attribute, no expression, no
code. Single braces are text like any other.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from annotate.core.units import LISTED_KINDS, reading_order, unit_text, units_of
from annotate.models import Sample
from judges.kinds.base import Config, Refused
from judges.kinds.llm import answers
from judges.kinds.llm.answers import Answers

_BETWEEN = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a prompt: text as it stands, or the name of a variable."""

    text: str
    is_variable: bool = False


def parts_of(prompt: str, known: Collection[str], field: str = "prompt") -> list[Part]:
    """Raises Refused, naming those that there are, for a variable that isn't one of `known`."""
    names = ", ".join(f"{{{{{name}}}}}" for name in known)
    parts: list[Part] = []
    at = 0
    for match in _BETWEEN.finditer(prompt):
        name = match[1].strip()
        if name not in known:
            raise Refused(
                field,
                _("“%(shown)s” is no variable. Those that there are here: %(names)s.")
                % {"shown": match[0][:_SHOWN_CHARACTERS], "names": names},
            )
        parts += [Part(prompt[at : match.start()]), Part(name, is_variable=True)]
        at = match.end()
    rest = prompt[at:]
    if "{{" in rest:
        raise Refused(
            field, _("A variable is opened by {{ and never closed. Variables here: %(names)s.") % {"names": names}
        )
    parts.append(Part(rest))
    return [part for part in parts if part.text]


def names_in(parts: Sequence[Part]) -> list[str]:
    """The variables of a prompt, each once, in the order in which they come."""
    return list(dict.fromkeys(part.text for part in parts if part.is_variable))


def names_between(prompt: str) -> list[str]:
    """Those of a prompt that was taken."""
    return list(dict.fromkeys(match[1].strip() for match in _BETWEEN.finditer(prompt)))


def filled(parts: Sequence[Part], values: Mapping[str, str]) -> list[Part]:
    """With these variables as text, and text beside text as one part."""
    done: list[Part] = []
    for part in parts:
        now = Part(values[part.text]) if part.is_variable and part.text in values else part
        if done and not now.is_variable and not done[-1].is_variable:
            done[-1] = Part(done[-1].text + now.text)
        else:
            done.append(now)
    return done


# A text, or the numbered members of a list; None: the sample has none.
Shown = str | Sequence[str] | None

PER_UNIT, PER_SAMPLE = "unit", "sample"

# Kind of unit -> the variable that shows the one that is asked about.
_ONE = {"claim": "claim", "context": "context", "fact": "key_fact", "entity": "entity"}
# And the one that shows all that a sample has.
LISTS = {"claim": "claims", "context": "contexts", "fact": "key_facts", "entity": "entities"}
# Of a list, what one of its members is called.
MEMBER = {"claims": "claim", "contexts": "context", "key_facts": "key_fact", "entities": "entity"}
_WHOLE = ("question", "answer", "reference")

# What isn't the sample's: it says what to do, and isn't fenced.
OPTIONS, CRITERION, REQUIREMENTS, EXAMPLES = "options", "criterion", "requirements", "examples"
INSTRUCTIONS = (OPTIONS, CRITERION, REQUIREMENTS, EXAMPLES)


def shown_names(unit: str, per: str) -> list[str]:
    """The variables that show something of the sample, where it is asked about units of this kind."""
    names = [*_WHOLE, *LISTS.values()]
    if unit == "sample":
        names.append("answer_b")
    if per == PER_UNIT and unit in _ONE:
        names.append(_ONE[unit])
    return names


def subject(unit: str, per: str) -> str:
    """The variable that shows what is judged; without it every unit would be the same question."""
    if unit not in LISTED_KINDS:
        return "answer"
    return _ONE[unit] if per == PER_UNIT else LISTS[unit]


def asked_units(sample: Sample, unit: str) -> list[str]:
    """A sample's units of the kind as a prompt numbers them: claims as they stand in the answer."""
    if unit == "claim":
        return [f"claim:{index}" for index in reading_order(sample.claims)]
    return units_of(sample, unit)


def value_of(name: str, sample: Sample, unit: str) -> Shown:
    """unit: the address that is asked about."""
    if name in ("question", "answer"):
        return str(getattr(sample, name))
    if name in ("reference", "answer_b"):
        return getattr(sample, name) or None
    kind = next((kind for kind, listed in LISTS.items() if listed == name), None)
    if kind is None:
        return unit_text(sample, unit)
    return [unit_text(sample, one) for one in asked_units(sample, kind)] or None


def values_of(names: Sequence[str], sample: Sample, unit: str) -> Mapping[str, Shown]:
    return {name: value_of(name, sample, unit) for name in names}


def lacks(config: Config, sample: Sample) -> str | None:
    """The first variable of the prompt that a sample has nothing for, so that it can't be asked about."""
    names = [name for name in names_between(config["prompt"]) if name not in INSTRUCTIONS]
    of_sample = [name for name in names if name not in _ONE.values()]
    return next((name for name in of_sample if value_of(name, sample, "answer") is None), None)


def example_name(name: str, unit: str) -> str:
    """What a variable is called where an example of one unit is shown: one of all that a sample has."""
    return _ONE[unit] if unit in _ONE and name == LISTS[unit] else name


# In hexadecimal digits.
_LENGTH = 16


def code_for(texts: Iterable[str]) -> str:
    """The code of the marks around these texts.

    The same for the same texts in one installation, so that the same question is the same request and its reply can be
    kept; a repeat of a question is told apart by its draw, not by other words. Nobody who writes a text can know it: it
    is made with the installation's secret. And none of the texts has it.
    """
    whole = "\x1f".join(texts)
    code = ""
    while not code or code in whole:
        # What could only be by chance or by a leak: the code of the text with the code.
        code = hmac.digest(
            _secret(settings.SECRET_KEY), (code + whole).encode("utf-8", "surrogatepass"), "sha256"
        ).hex()[:_LENGTH]
    return code


def fenced(name: str, value: Shown, code: str) -> str:
    """A text between its marks; the members of a list each between marks of their own, numbered from one."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _between(name, value, code)
    member = MEMBER[name]
    return "\n".join(_between(f"{member}-{number}", text, code) for number, text in enumerate(value, start=1))


def texts_in(values: Iterable[Shown]) -> list[str]:
    texts: list[str] = []
    for value in values:
        texts += [] if value is None else [value] if isinstance(value, str) else value
    return texts


def _between(name: str, text: str, code: str) -> str:
    return f"<{name}-{code}>\n{text}\n</{name}-{code}>"


@cache
def _secret(key: str) -> bytes:
    return hmac.digest(key.encode(), b"judges.kinds.llm.prompt", "sha256")


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
