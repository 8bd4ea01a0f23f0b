"""What a prompt can show of a sample, by the names that stand for it in the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotate.core.units import LISTED_KINDS, reading_order, unit_text, units_of
from annotate.models import Sample
from judges.kinds.base import Config
from judges.kinds.llm.template import names_between

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
