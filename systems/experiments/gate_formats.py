"""The gate as text for a terminal, as Markdown for a pull request, and as JUnit XML for what shows tests."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from annotate.core.text_tables import UNDEFINED, markdown_table
from systems.experiments.gate import IN_WORDS, Gate, Held
from systems.experiments.spelling import interval_in

# What XML 1.0 cannot hold.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKS = {"pass": "✅", "fail": "❌", "cannot_tell": "❔"}


def gate_text(found: Gate) -> str:
    """A line for each condition; the sentence of the whole is not among them."""
    width = max(len(_outcome(one)) for one in found.conditions)
    return "\n".join(f"{_outcome(one):<{width}}  {one.sentence}" for one in found.conditions)


def gate_markdown(found: Gate, url: str) -> str:
    """url: of the experiment's page."""
    head = [
        "metric", found.baseline, found.candidate, "corrected difference", "condition",
        "labelled of each", "result",
    ]  # fmt: skip
    rows = [
        [
            one.title,
            *(interval_in(level, one.unit) for level in one.levels),
            interval_in(one.difference, one.unit, signed=True),
            f"{one.limit} ({'figure' if one.condition.by == 'point' else 'interval'})",
            UNDEFINED if one.labelled is None else one.labelled,
            f"{_MARKS[one.outcome]} {_outcome(one)}",
        ]
        for one in found.conditions
    ]
    notes = [f"- {one.sentence}{_needed(one)}" for one in found.conditions if one.outcome != "pass"]
    asked = f" on {found.set}" if found.set else ""
    outcome = f"{_MARKS[found.outcome]} {IN_WORDS[found.outcome].capitalize()}"
    parts = [
        f"**{outcome}:** {found.candidate} against {found.baseline}{asked}",
        markdown_table(head, rows),
        "\n".join(notes),
        found.caveat,
        f"People’s labels, and judges where people’s labels correct them. [Experiment {found.experiment}]({url})",
    ]
    return "\n\n".join(part for part in parts if part)


def gate_junit(found: Gate) -> str:
    """A test for each condition: one that fails is a failure, one that cannot be told an error. What is not required is
    skipped where it is not met, so that it fails nothing."""
    required = [one for one in found.conditions if one.condition.required]
    counts = {
        "tests": len(found.conditions),
        "failures": sum(one.outcome == "fail" for one in required),
        "errors": sum(one.outcome == "cannot_tell" for one in required),
        "skipped": sum(one.outcome != "pass" and not one.condition.required for one in found.conditions),
    }
    name = _storable(f"{found.experiment}: {found.candidate} against {found.baseline}")
    suite = ET.Element("testsuite", {"name": name, **{key: str(n) for key, n in counts.items()}})
    if found.caveat:
        properties = ET.SubElement(suite, "properties")
        ET.SubElement(properties, "property", {"name": "level", "value": found.caveat})
    for one in found.conditions:
        case = ET.SubElement(
            suite, "testcase", {"classname": found.experiment, "name": _storable(f"{one.title} {one.limit}")}
        )
        if one.outcome == "pass":
            ET.SubElement(case, "system-out").text = _storable(one.sentence)
        else:
            kind = ("failure" if one.outcome == "fail" else "error") if one.condition.required else "skipped"
            ET.SubElement(case, kind, {"message": _storable(one.sentence), "type": one.code})
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode")


def _outcome(one: Held) -> str:
    said = IN_WORDS[one.outcome]
    return said if one.condition.required or one.outcome == "pass" else f"{said} (not required)"


def _needed(one: Held) -> str:
    """What it would take to tell how far the versions are apart."""
    labels, questions = one.needed["labels"], one.needed["questions"]
    if questions is None:
        return "" if labels is None else f" With about {labels:,} questions labelled it could be told."
    of_them = "" if labels is None else f", {labels:,} of them labelled"
    return f" With about {questions:,} questions{of_them}, it could be told."


def _storable(text: str) -> str:
    return _NOT_IN_XML.sub("�", text)
