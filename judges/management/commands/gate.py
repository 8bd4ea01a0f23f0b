"""manage.py gate SLUG --criterion KEY --judge NAME"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.core.blindness import SYSTEM
from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from judges.api.certificates_serializers import Gate, of_gate
from judges.certificates.gate import gate, gate_markdown

# Exit codes: a pipeline must tell "no" from "the question makes no sense".
FAILED, NOT_ASKED = 1, 2


class Command(OneLineCommand):
    help = (
        "Check a judge's certificate against a minimum kappa. Exit code 0: passed; 1: failed; 2: project, criterion or "
        "judge not found, or the minimum is invalid."
    )
    refused = NOT_ASKED

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--dimension", metavar="NAME", help="which measure, if the judge is certified for several")
        parser.add_argument(
            "--min-kappa",
            type=float,
            metavar="NUMBER",
            help="minimum for kappa's lower bound, above the declared one",
        )
        parser.add_argument("--format", choices=["text", "json", "markdown"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        found = gate(
            project=project_named(options["slug"]),
            criterion_key=options["criterion"],
            judge_name=options["judge"],
            dimension=options["dimension"],
            min_kappa=options["min_kappa"],
        )
        if options["format"] == "json":
            self.stdout.write(
                json.dumps(Gate.show(of_gate(found, reader=SYSTEM)), ensure_ascii=False, indent=1, allow_nan=False)
            )
        elif options["format"] == "markdown":
            self.stdout.write(gate_markdown(found))
        elif found.passed:
            self.stdout.write(found.sentence)
        if not found.passed:
            raise CommandError(found.sentence, returncode=FAILED)
