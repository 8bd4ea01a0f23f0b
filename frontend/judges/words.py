"""What judges are made of, in words: what they measure, their configuration, and what changed in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.text_tables import number
from annotate.projects.read import criterion_names
from frontend.judges.kinds.registry import choice_words
from judges.models import JudgeVersion
from judges.versions.read import Difference

# Fields of configurations, by the last name of their path, in the order in which they are shown.
_FIELDS = {
    "endpoint": gettext_lazy("Endpoint"),
    "model": gettext_lazy("Model"),
    "embedding_model": gettext_lazy("Embedding model"),
    "folder": gettext_lazy("Model folder"),
    "criterion": gettext_lazy("Criterion"),
    "dimension": gettext_lazy("Name of the measure"),
    "unit": gettext_lazy("Applies to"),
    "measure": gettext_lazy("Measure"),
    "metric": gettext_lazy("Metric"),
    "against": gettext_lazy("Compared with"),
    "share": gettext_lazy("Share"),
    "contexts": gettext_lazy("Several contexts"),
    "unspaced": gettext_lazy("Languages written without spaces"),
    "similar": gettext_lazy("Word similarity"),
    "per": gettext_lazy("Units per request"),
    "answer_with": gettext_lazy("Answer format"),
    "min": gettext_lazy("Lowest number"),
    "max": gettext_lazy("Highest number"),
    "whole": gettext_lazy("Whole numbers only"),
    "rationale": gettext_lazy("Rationale"),
    "temperature": gettext_lazy("Temperature"),
    "max_tokens": gettext_lazy("Maximum output tokens"),
    "seed": gettext_lazy("Random seed"),
    "structured": gettext_lazy("Sends a JSON schema"),
    "confidence": gettext_lazy("Confidence"),
    "ragas_version": gettext_lazy("RAGAS version"),
    "pooling": gettext_lazy("Text vector"),
    "mode": gettext_lazy("Noise from"),
    "normalised": gettext_lazy("Divided by the sum of the weights"),
    "prompt": gettext_lazy("Prompt"),
    "options": gettext_lazy("Options"),
    "requirements": gettext_lazy("Requirements"),
    "rules": gettext_lazy("Rules"),
    "criterion_text": gettext_lazy("Criterion text"),
    "examples": gettext_lazy("Examples"),
    "look": gettext_lazy("Test evaluation"),
    "agreement": gettext_lazy("Agreement with annotators"),
    "dear_share": gettext_lazy("Share that needs the second judge"),
    "members": gettext_lazy("Members"),
    "fit": gettext_lazy("Fitted on"),
    "judge": gettext_lazy("Judge"),
    "version": gettext_lazy("Version"),
    "weight": gettext_lazy("Weight"),
    "direction": gettext_lazy("Direction"),
    "value": gettext_lazy("Value"),
    "label": gettext_lazy("Name"),
    "help": gettext_lazy("Help"),
    "text": gettext_lazy("Text"),
    "count": gettext_lazy("Number"),
}
_ORDER = {name: place for place, name in enumerate(_FIELDS)}
# Under these are examples that were drawn from verdicts: who may still have to label those samples must not see them.
# What is told as a whole, although it consists of many parts.
_WHOLE = ("examples", "fit")
# A version's measures tell these.
_TOLD_ELSEWHERE = ("dimension", "unit")
# A longer text stands on lines of its own.
LONG = 80


def config_facts(version: JudgeVersion, *, hidden: Collection[str]) -> list[dict[str, Any]]:
    """The configuration, field by field, without what it has nothing for; of hidden fields (judges.versions.read) only
    the number. is_long: of a text that keeps its lines."""
    endpoint = version.endpoint
    facts: list[dict[str, Any]] = [] if endpoint is None else [{"name": _FIELDS["endpoint"], "value": endpoint.name}]
    config, names = version.config, criterion_names(version.judge.project_id)
    for name in sorted(config, key=lambda name: (_ORDER.get(name, len(_ORDER)), name)):
        if name in _TOLD_ELSEWHERE:
            continue
        words = _field_words(name, config[name], names, is_hidden=name in hidden)
        if words:
            is_long = "\n" in words or len(words) > LONG
            facts.append({"name": field_name(name), "value": words, "is_long": is_long})
    return facts


def _field_words(name: str, value: Any, names: Mapping[str, str], *, is_hidden: bool = False) -> str:
    """A field at the top of a configuration; "" when it has nothing. names: of criteria, by their keys."""
    if value in (None, "", [], {}):
        return ""
    if name == "examples":
        return _examples_words(value, is_hidden=is_hidden)
    if name == "fit":
        return _("%(units)s units of %(samples)s samples in the dev set") % {
            "units": value["units"],
            "samples": value["samples"],
        }
    if (chosen := choice_words(name, value)) is not None:
        return chosen
    if name == "criterion":
        return names.get(value, value)
    if name == "members":
        return "\n".join(_member_line(one, names) for one in value)
    if name == "rules":
        if is_hidden:
            return _("%(n)d, hidden until you label the samples that they come from") % {"n": len(value)}
        return "\n".join(value)
    if name in _LINES:
        return "\n".join(_LINES[name](one) for one in value)
    if isinstance(value, Mapping | list) and not all(isinstance(one, str | int | float) for one in value):
        return "\n".join(f"{path}: {value_words(leaf)}" for path, leaf in _leaves(value))
    return value_words(value)


def _examples_words(examples: Mapping[str, Any], *, is_hidden: bool) -> str:
    if not examples["count"]:
        return ""
    if is_hidden:
        return _("%(n)d from the dev set; hidden because you may still have to label these samples") % {
            "n": examples["count"]
        }
    return "\n".join(f"{one['sample']}, {one['unit']}: {value_words(one['value'])}" for one in examples["drawn"])


def _option_line(option: Mapping[str, Any]) -> str:
    value, label = value_words(option["value"]), option.get("label", "")
    named = f"{value} ({label})" if label and label.lower() != value.lower() else value
    return f"{named}: {option['help']}" if option.get("help") else named


def _member_line(member: Mapping[str, Any], names: Mapping[str, str]) -> str:
    named = f"{member['judge']} ({member['version']}): {names.get(member['dimension'], member['dimension'])}"
    if "sure" in member:
        return f"{named}, {_decides(member)}"
    if "weight" not in member:
        return named
    flipped = " " + _("reversed") if member.get("direction") == "flipped" else ""
    return f"{number(member['weight'])} × {named}{flipped}"


def _decides(member: Mapping[str, Any]) -> str:
    """Where one of the two judges of a cascade decides."""
    if member["sure"] is None:
        return _("decides nothing")
    if member["by_confidence"]:
        return _("decides from a confidence of %(confidence)s on") % {"confidence": number(member["sure"])}
    if member["threshold"] is None or not member["sure"]:
        return _("decides all that it answers")
    given = {"distance": number(member["sure"]), "threshold": number(member["threshold"])}
    return _("decides at least %(distance)s from the threshold %(threshold)s") % given


# Lists that have a line for each of their members.
_LINES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "options": _option_line,
    "requirements": lambda one: f"{one['weight']:g} × {one['text']}",
}


def difference_rows(
    older: JudgeVersion, newer: JudgeVersion, differences: Iterable[Difference]
) -> list[dict[str, Any]]:
    """In the order in which a configuration is shown, the prompt first; what consists of many parts in one row.
    before, after: None where it isn't there; lines: of long texts."""
    rows: dict[str, dict[str, Any]] = {}
    names = criterion_names(newer.judge.project_id)
    for difference in differences:
        path = difference.field.removeprefix("config.")
        top = path.split(".")[0]
        if top in _WHOLE:
            was, now = (_field_words(top, one.config.get(top), names) for one in (older, newer))
            rows[top] = {"name": field_name(top), "before": was, "after": now}
            continue
        before, after = (
            None
            if value is None
            else choice_words(path, value) or _of_criterion(path, value, names) or value_words(value)
            for value in (difference.older, difference.newer)
        )
        is_long = any("\n" in text or len(text) > LONG for text in (before, after) if text)
        lines = difference.lines if is_long else ()
        rows[path] = {"name": field_name(path), "before": before, "after": after, "lines": lines}

    def place(path: str) -> tuple[bool, int, str]:
        return path != "prompt", _ORDER.get(path.split(".", maxsplit=1)[0], len(_ORDER)), path

    return [rows[path] for path in sorted(rows, key=place)]


def _of_criterion(path: str, value: Any, names: Mapping[str, str]) -> str | None:
    return names.get(value) if path.rpartition(".")[2] in ("criterion", "dimension") else None


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
        return number(value)
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
