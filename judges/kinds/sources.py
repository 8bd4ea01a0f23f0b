"""What the text of a unit can be held against, for every kind that compares two texts."""

from __future__ import annotations

from annotate.models import Sample
from judges.kinds.fields import Fields

# How each reads in a sentence.
SOURCES = {
    "contexts": "the contexts",
    "question": "the question",
    "answer": "the answer",
    "reference": "the reference answer",
}
_OWN = {"context": "contexts", "answer": "answer"}


def against_field(fields: Fields, unit: str, default: str) -> str:
    """The field that names one; not the text that the unit is of itself. unit: its kind."""
    return fields.choice("against", [name for name in SOURCES if name != _OWN.get(unit)], default=default)


def source_texts(sample: Sample, name: str) -> list[str]:
    """One for each context, one of any other."""
    if name == "contexts":
        return [context["text"] for context in sample.contexts]
    return [getattr(sample, name) or ""]


def has_source(sample: Sample, name: str) -> bool:
    """Whether the sample has such a text at all. An empty question is there, and fails; a reference that nobody gave
    and contexts that were not retrieved are not there."""
    if name == "contexts":
        return bool(sample.contexts)
    return name != "reference" or sample.reference is not None
