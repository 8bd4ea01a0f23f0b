"""manage.py diagnose SLUG --version NAME"""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.http import Http404

from annotate.core.blindness import SYSTEM
from annotate.core.text_tables import in_words, interval, text_table
from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from systems.api.diagnosis import found_by
from systems.api.diagnosis_serializers import BY, DiagnosedResponse, Diagnosis

SCHEMA = 1


class Command(OneLineCommand):
    help = "At which stage the responses of a version failed, by resolved units (docs/statistics.md)."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django has a --version of its own.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--version", required=True, metavar="NAME", help="the version of the system")
        parser.add_argument("--set", default="", metavar="NAME", help="this test set only, such as support@1")
        parser.add_argument("--by", choices=BY, default=BY[0], help="whose word it goes by; judges' is not corrected")
        parser.add_argument("--format", choices=["json", "table"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        asked = {name: options[name] for name in ("version", "set", "by")}
        try:
            found = found_by(project_named(options["slug"]), asked, reader=SYSTEM)
        except Http404 as error:
            raise CommandError(str(error)) from error
        shown = {
            "schema": SCHEMA,
            "version": options["version"],
            "set": options["set"] or None,
            **Diagnosis.show(found),
        }
        if options["format"] == "json":
            shown["per_response"] = [DiagnosedResponse.show(row) for row in found.rows]
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=1, allow_nan=False))
        else:
            self.stdout.write(as_table(shown))


def as_table(shown: dict[str, Any]) -> str:
    parts = [
        text_table(["stage", "responses", "share [95% interval]"], [_stage(one) for one in shown["whole"]["stages"]])
    ]
    figures = {
        f"{group} {name}".replace("_", " "): estimate
        for group in ("abstention", "triad", "noise_sensitivity")
        for name, estimate in (shown[group] or {}).items()
    }
    if shown["failure"] is not None:
        figures["kappa with failure labels"] = shown["failure"]["kappa"]
    if figures:
        head = ["figure", "value [95% interval]", "n", "groups", "note"]
        rows = [[name, interval(e), e["n"], e["clusters"], in_words(e["reason"])] for name, e in figures.items()]
        parts.append(text_table(head, rows))
    if shown["judges"]:
        head = ["by the judge", "question", "may"]
        rows = [[one["judge"], one["question"], one["decision"] or "not evaluated"] for one in shown["judges"]]
        parts.append(text_table(head, rows))
    return "\n\n".join(parts)


def _stage(one: dict[str, Any]) -> list[object]:
    name = (one["stage"] or "undecided").replace("_", " ")
    return [name, one["count"], "not corrected" if one["share"] is None else interval(one["share"])]
