"""manage.py create_experiment SLUG NAME --file experiment.json"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.base import OneLineCommand, described_in
from annotate.projects.read import project_named
from systems.experiments.write import create_experiment


class Command(OneLineCommand):
    help = (
        "Create an experiment from an experiment.json (docs/formats.md), before its figures are shown. Named again "
        "with other metrics or another rule, these are its next rule."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project")
        parser.add_argument("name", help="the experiment: a-z, 0-9, - and _")
        parser.add_argument("--file", required=True, type=Path, help="experiment.json")

    def handle(self, *args: Any, **options: Any) -> None:
        said = described_in(options["file"])
        done = create_experiment(actor=None, project=project_named(options["slug"]), name=options["name"], said=said)
        rule = done.rule
        decides = f"rule {rule.number}: {rule.primary} decides, {rule.labels_before} answers were labelled before"
        if done.is_new:
            self.stdout.write(f"Created experiment {done.experiment.name}; {decides}.")
        elif done.is_changed:
            after = ", and after figures had been made" if rule.after_figures else ""
            self.stdout.write(f"Changed the rule of {done.experiment.name}; {decides}{after}.")
        else:
            self.stdout.write(f"Nothing has changed: {done.experiment.name} has {decides}.")
