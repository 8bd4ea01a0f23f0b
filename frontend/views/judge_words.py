"""What judges are made of, in words: their kinds, what they measure, their configuration, and what changed in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.models.project import UnitKind
from judges.models import JudgeVersion
from judges.selectors.judges_page import Measured
from judges.selectors.versions import Difference, Line

# Fields of configurations, by the last name of their path.
_FIELDS = {
    "endpoint": gettext_lazy("Endpoint"),
    "model": gettext_lazy("Model"),
    "criterion": gettext_lazy("Criterion"),
    "dimension": gettext_lazy("Its own name for what it measures"),
    "unit": gettext_lazy("Asked about each"),
    "measure": gettext_lazy("Measure"),
    "against": gettext_lazy("Held against"),
    "share": gettext_lazy("Share"),
    "contexts": gettext_lazy("Several contexts"),
    "unspaced": gettext_lazy("Scripts without blanks"),
    "similar": gettext_lazy("Likeness of words"),
    "prompt": gettext_lazy("Prompt"),
    "template": gettext_lazy("Prompt"),
    "system": gettext_lazy("System message"),
    "temperature": gettext_lazy("Temperature"),
    "max_tokens": gettext_lazy("Most tokens of a reply"),
    "seed": gettext_lazy("Seed"),
    "examples": gettext_lazy("Examples"),
    "members": gettext_lazy("Members"),
    "weight": gettext_lazy("Weight"),
    "judge": gettext_lazy("Judge"),
    "version": gettext_lazy("Version"),
}
# Under these lie examples that were drawn from verdicts: whoever may still have to label those samples must not see
# them.
_EXAMPLES = ("examples",)
# A longer text stands on lines of its own.
LONG = 80


@dataclass(frozen=True, slots=True)
class Fact:
    """A field of a configuration. is_long: a text that keeps its lines."""

    name: str
    value: str
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A field that two versions have differently. before, after: None where it isn't there; lines: of long texts."""

    name: str
    before: str | None
    after: str | None
    lines: Sequence[Line] = ()


def measured_words(measured: Measured) -> dict[str, str]:
    return {"dimension": measured.dimension, "unit": str(UnitKind(measured.unit).label)}


def config_facts(version: JudgeVersion, *, with_examples: bool) -> list[Fact]:
    """The configuration, field by field. Without the examples only their number is told."""
    facts = []
    if version.endpoint is not None:
        facts.append(Fact(str(_FIELDS["endpoint"]), version.endpoint.name))
    for path, value in _leaves(version.config):
        if is_example(path) and not with_examples:
            continue
        words = value_words(value)
        facts.append(Fact(field_name(path), words, "\n" in words or len(words) > LONG))
    hidden = 0 if with_examples else sum(len(value) for value in _example_lists(version.config))
    if hidden:
        facts.append(Fact(str(_FIELDS["examples"]), _("%(n)d, drawn from dev; admins see them") % {"n": hidden}))
    return facts


def shown_differences(differences: Iterable[Difference], *, with_examples: bool) -> list[Difference]:
    return [one for one in differences if with_examples or not is_example(one.field.removeprefix("config."))]


def difference_rows(differences: Iterable[Difference]) -> list[DifferenceRow]:
    rows = []
    for one in differences:
        before, after = (None if value is None else value_words(value) for value in (one.older, one.newer))
        is_long = any("\n" in text or len(text) > LONG for text in (before, after) if text)
        name = field_name(one.field.removeprefix("config."))
        rows.append(DifferenceRow(name, before, after, one.lines if is_long else ()))
    return rows


def is_example(path: str) -> bool:
    return any(part in _EXAMPLES for part in path.split("."))


def field_name(path: str) -> str:
    """A field as people call it: "Members 1: Weight"; one that has no name here by its path."""
    parts = path.split(".")
    if parts[-1] not in _FIELDS:
        return path
    name = str(_FIELDS[parts[-1]])
    if len(parts) >= 3 and parts[-2].isdigit():
        above = str(_FIELDS.get(parts[-3], parts[-3]))
        return f"{above} {int(parts[-2]) + 1}: {name}"
    return name


def value_words(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None:
        return _("none")
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(value_words(one) for one in value) or _("none")
    return str(value)


def _leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping):
        for key, child in node.items():
            yield from _leaves(child, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list) and any(isinstance(child, Mapping | list) for child in node):
        for index, child in enumerate(node):
            yield from _leaves(child, f"{path}.{index}")
    else:
        yield path, node


def _example_lists(node: Any) -> Iterator[list[Any]]:
    if isinstance(node, Mapping):
        for key, child in node.items():
            if key in _EXAMPLES and isinstance(child, list):
                yield child
            else:
                yield from _example_lists(child)
