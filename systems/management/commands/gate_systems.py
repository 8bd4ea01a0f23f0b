"""manage.py gate_systems SLUG NAME --file gate.yaml"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from annotate.tasks.mail import public_url
from systems.api.gate_serializers import SystemsGate
from systems.experiments.figures import freeze_figures
from systems.experiments.gate import Gate, held_to
from systems.experiments.gate_file import read_gate
from systems.experiments.gate_formats import gate_junit, gate_markdown, gate_text
from systems.experiments.read import experiment_named

# A pipeline must tell "no" and "nobody can tell" from what never was asked.
NOT_ASKED = 3


class Command(OneLineCommand):
    help = (
        "Hold a version of an experiment to the conditions of a file (docs/ci.md). Exit code 0: it passes; 1: it "
        "fails; 2: nobody can tell yet; 3: the question or the server is at fault."
    )
    refused = NOT_ASKED
    misused = NOT_ASKED

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("name", help="the experiment")
        parser.add_argument("--file", type=Path, required=True, metavar="gate.yaml", help="the conditions")
        parser.add_argument("--format", choices=["text", "json", "junit", "markdown"], default="text")

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError:
            raise
        except Exception as error:
            # Else it would end with 1, and be taken for a version that fails.
            raise CommandError(f"{type(error).__name__}: {error}", returncode=NOT_ASKED) from error

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.", returncode=NOT_ASKED) from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{path}: expected UTF-8.", returncode=NOT_ASKED) from error
        conditions = read_gate(text, str(path))
        experiment = experiment_named(project_named(options["slug"]), options["name"])
        found = held_to(freeze_figures(experiment=experiment).result, conditions)
        self.stdout.write(
            _rendered(found, options["format"], public_url("experiment", options["slug"], found.experiment))
        )
        if found.outcome != "pass":
            raise CommandError(found.sentence, returncode=found.exit_code)
        if options["format"] == "text":
            self.stdout.write(found.sentence)


def _rendered(found: Gate, form: str, url: str) -> str:
    if form == "json":
        return json.dumps(SystemsGate.show(found), ensure_ascii=False, indent=1, allow_nan=False)
    if form == "junit":
        return gate_junit(found)
    return gate_markdown(found, url) if form == "markdown" else gate_text(found)
