"""A configuration's prompt: its variables, what they show of a sample, and how it is filled in for each item.

What stands between double braces is exactly one of the variables' names ({{claim}} is the claim): no attribute, no
expression, no code. Single braces are text like any other. Texts of samples stand between marks that their authors
can't write: they are material, never instructions.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from annotate.core.units import LISTED_KINDS, claims_of, reading_order, unit_text, units_of
from annotate.models import Sample
from judges.kinds.base import Config, Refused
from judges.kinds.llm import answers
from judges.kinds.llm.answers import Answers
from judges.kinds.llm.nearest import nearest_of

_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a prompt: text as it stands, or the name of a variable."""

    text: str
    is_variable: bool = False


def parts_of(prompt: str, known: Collection[str]) -> list[Part]:
    """Raises Refused, listing the variables, for one that isn't in `known`."""
    names = ", ".join(f"{{{{{name}}}}}" for name in known)
    pieces = _pieces(prompt)
    for name in pieces[1::2]:
        if name.strip() not in known:
            raise Refused(
                "prompt",
                _("Unknown variable “%(shown)s”. Must be one of: %(names)s.")
                % {"shown": f"{{{{{name}}}}}"[:_SHOWN_CHARACTERS], "names": names},
            )
    if "{{" in pieces[-1]:
        raise Refused(
            "prompt", _("A variable is opened with {{ but not closed. Variables: %(names)s.") % {"names": names}
        )
    parts = (Part(piece.strip(), is_variable=True) if at % 2 else Part(piece) for at, piece in enumerate(pieces))
    return [part for part in parts if part.text]


def names_between(prompt: str) -> list[str]:
    """The variables of a prompt, each once, in the order in which they come."""
    return list(dict.fromkeys(name.strip() for name in _pieces(prompt)[1::2]))


def _pieces(prompt: str) -> list[str]:
    """Texts, and between them what stands in braces. Found, not matched: a pattern would look for the end of each of
    many open braces."""
    pieces: list[str] = []
    at = 0
    while (begin := prompt.find("{{", at)) >= 0 and (end := prompt.find("}}", begin + 2)) >= 0:
        pieces += [prompt[at:begin], prompt[begin + 2 : end]]
        at = end + 2
    return [*pieces, prompt[at:]]


def sample_names(prompt: str) -> list[str]:
    """Those of its variables that show something of the sample."""
    return [name for name in names_between(prompt) if name not in INSTRUCTIONS]


def filled(parts: Sequence[Part], values: Mapping[str, str]) -> list[Part]:
    """The parts with these variables as text, and adjacent texts as one part."""
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

# Variables that show nothing of the sample: they say what to do, and aren't fenced.
OPTIONS, CRITERION, RULES = "options", "criterion", "rules"
REQUIREMENTS, EXAMPLES = "requirements", "examples"
INSTRUCTIONS = (OPTIONS, CRITERION, RULES, REQUIREMENTS, EXAMPLES)


def subject(unit: str, per: str) -> str:
    """The variable that shows what is judged; without it every unit would be the same question."""
    if unit not in LISTED_KINDS:
        return "answer"
    return _ONE[unit] if per == PER_UNIT else LISTS[unit]


def asked_units(sample: Sample, unit: str) -> list[str]:
    """A sample's units of the kind as a prompt numbers them: claims as they stand in the answer."""
    if unit == "claim":
        return [f"claim:{index}" for index in reading_order(claims_of(sample))]
    return units_of(sample, unit)


def value_of(name: str, sample: Sample, unit: str) -> Shown:
    """unit: the address that is asked about."""
    if name in ("question", "answer", "reference", "answer_b"):
        return getattr(sample, name) or None
    kind = next((kind for kind, listed in LISTS.items() if listed == name), None)
    if kind is None:
        return unit_text(sample, unit)
    return [unit_text(sample, one) for one in asked_units(sample, kind)] or None


def can_be_shown(config: Config, sample: Sample) -> bool:
    """Whether the sample has something for every variable of the prompt; otherwise it can't be asked about."""
    of_sample = (name for name in sample_names(config["prompt"]) if name not in _ONE.values())
    return all(value_of(name, sample, "answer") is not None for name in of_sample)


def example_name(name: str, unit: str) -> str:
    """What a variable is called where an example shows one unit, in place of all that a sample has."""
    return _ONE[unit] if unit in _ONE and name == LISTS[unit] else name


# In hexadecimal digits.
_LENGTH = 16


def code_for(texts: Iterable[str]) -> str:
    """The code of the marks around these texts.

    The same texts have the same code in one installation, so that the same question is the same request and its reply
    can be kept; a repeat of a question differs in its draw, not in its words. No author of a text can know the code: it
    is made with the installation's secret. And none of the texts contains it.
    """
    whole = "\x1f".join(texts)
    code = ""
    while not code or code in whole:
        # A text contains the code, by chance or after a leak: the next one is made of the texts with this one.
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


def known_names(
    unit: str, per: str, *, has_criterion: bool, has_requirements: bool, has_rules: bool = False
) -> list[str]:
    """The variables that a prompt may use, where it asks about units of this kind."""
    names = [*_WHOLE, *LISTS.values()]
    if unit == "sample":
        names.append("answer_b")
    if per == PER_UNIT and unit in _ONE:
        names.append(_ONE[unit])
    names += [OPTIONS, EXAMPLES]
    if has_criterion:
        names.append(CRITERION)
    if has_rules:
        names.append(RULES)
    if has_requirements:
        names.append(REQUIREMENTS)
    return names


class Prompt:
    """A complete configuration's prompt, parsed once.

    task: the text before it first shows something, which is repeated after all of it. shown: the variables that show
    something of the sample. parts: with everything filled in that is the same for every item. examples: what each
    shows, and its value as a reply has it.
    """

    def __init__(self, config: Config) -> None:
        self.shown = sample_names(config["prompt"])
        self.parts = filled(parts_of(config["prompt"], names_between(config["prompt"])), _instructions(config))
        self.task = self.parts[0].text.strip() if self.parts and not self.parts[0].is_variable else ""
        drawn, nearest = config["examples"]["drawn"], config["examples"].get("nearest")
        self.examples = [_as_shown(example) for example in drawn]
        texts = tuple(_words(example["shows"]) for example in drawn)
        self._nearest = nearest_of(texts, nearest) if nearest and drawn else None

    def fill(self, values: Mapping[str, Shown]) -> tuple[str, str]:
        """The text, and the code of its marks. values: of `shown`, none of them None."""
        examples = self.examples
        if self._nearest is not None:
            examples = [examples[place] for place in self._nearest.to(_words(values))]
        shown = [text for shows, _value in examples for text in texts_in(shows.values())]
        code = code_for([*texts_in(values.values()), *shown])
        values = {**values, EXAMPLES: "\n\n".join(_example(place, one, code) for place, one in enumerate(examples, 1))}
        texts = [self._text(part, values, code) if part.is_variable else part.text for part in self.parts]
        return "".join(texts), code

    def _text(self, part: Part, values: Mapping[str, Shown], code: str) -> str:
        if part.text == EXAMPLES:
            return str(values[EXAMPLES])
        return fenced(part.text, values[part.text], code)


def _as_shown(example: Mapping[str, Any]) -> tuple[Mapping[str, Shown], str]:
    """Its texts, with people's reason where they gave one; and its value as a reply has it."""
    reason = {"reason": example["reason"]} if example.get("reason") else {}
    return {**example["shows"], **reason}, _spelled(example["value"])


def _example(number: int, shown: tuple[Mapping[str, Shown], str], code: str) -> str:
    shows, value = shown
    texts = [fenced(name, text, code) for name, text in shows.items()]
    return "\n".join([f"Example {number}", *texts, f"The right value here: {value}"])


def _words(values: Mapping[str, Shown]) -> str:
    return "\n".join(texts_in(values.values()))


def _instructions(config: Config) -> dict[str, str]:
    """The text of the variables that show nothing of a sample; the examples are added with each item's marks."""
    if config["answer_with"] == answers.OPTIONS:
        options = "\n".join(_option(option) for option in config["options"])
    else:
        options = Answers(config).in_words()
    requirements = enumerate(config["requirements"] or (), start=1)
    return {
        OPTIONS: options,
        CRITERION: config["criterion_text"] or "",
        RULES: "\n".join(f"{number}. {text}" for number, text in enumerate(config.get("rules", ()), start=1)),
        REQUIREMENTS: "\n".join(f"{number}. {one['text']}" for number, one in requirements),
    }


def _option(option: Mapping[str, Any]) -> str:
    value, label = option["value"], option["label"]
    text = f"- {_spelled(value)}"
    # A label that only spells the value says nothing.
    if label and label.lower() != str(value).lower():
        text += f" ({label})"
    return f"{text}: {option['help']}" if option["help"] else text


def _spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
