"""manage.py judge_mistakes SLUG --criterion KEY --judge NAME"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from annotate.core.blindness import SYSTEM
from annotate.core.text_tables import figure, in_words, text_table
from annotate.management.base import OneLineCommand
from annotate.projects.read import criterion_named, project_named
from judges.reports.mistakes import mistakes

EXAMPLES = 3
_ADVICE = {
    "teach_judge": "teach the judge",
    "clarify_guideline": "clarify the guideline",
    "relabel": "relabel",
    None: "",
}


class Command(OneLineCommand):
    help = "What a judge gets wrong on the dev set, in words (docs/judges.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--dimension", metavar="NAME", help="which measure, if the judge has several")
        parser.add_argument("--format", choices=["json", "table"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        criterion = criterion_named(project_named(options["slug"]), options["criterion"])
        found = mistakes(criterion, options["judge"], options["dimension"], reader=SYSTEM)
        if options["format"] == "json":
            self.stdout.write(json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False))
        else:
            self.stdout.write(as_table(found))


def as_table(found: dict[str, Any]) -> str:
    if found["reason"] is not None:
        return f"“{found['judge']}” can't be compared: {in_words(found['reason'])}"
    kappa = figure(found["kappa"]["value"])
    head = (
        f"“{found['judge']}” version {found['version']} is wrong on {found['wrong']} of {found['units']} units of the "
        f"dev set; kappa {kappa}."
    )
    parts = [head]
    for way in found["directions"]:
        said = [_said(way[side]) for side in ("people", "judge")]
        rows = [_row(group) for group in (*way["groups"], way["rest"]) if group["units"]]
        parts += [
            f"People: {said[0]}, judge: {said[1]} ({way['wrong']} units)",
            text_table(["words", "units", "kappa without", "people differ", "advice", "examples"], rows),
        ]
    if found["slices"]:
        rows = [[one["key"], one["value"], *_shares(one)] for one in found["slices"]]
        parts += ["Wrong more often than elsewhere", text_table(["metadata", "value", "wrong", "elsewhere"], rows)]
    return "\n\n".join(parts)


def _shares(one: dict[str, Any]) -> list[str]:
    return [f"{one['wrong']} of {one['units']}", f"{one['wrong_elsewhere']} of {one['elsewhere']}"]


def _said(value: Any) -> str:
    return {True: "pass", False: "fail"}[value] if isinstance(value, bool) else str(value)


def _row(group: dict[str, Any]) -> list[Any]:
    advice = _ADVICE[group["advice"]]
    return [
        " · ".join(group["terms"]) or "no group",
        group["units"],
        figure(group["kappa_without"]["value"]),
        f"{group['split']} of {group['several']}",
        advice if group["is_known"] or group["advice"] != "teach_judge" else f"{advice} (few second opinions)",
        ", ".join(f"{one['sample']} {one['unit']}" for one in group["listed"][:EXAMPLES]),
    ]
