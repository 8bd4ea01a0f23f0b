"""manage.py experiment SLUG NAME --format json|table|markdown|html [--out FILE]"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotate.management.base import OneLineCommand
from annotate.models import Project
from annotate.projects.read import project_named
from annotate.tasks.mail import public_url
from frontend.systems.experiment_file import experiment_html
from frontend.systems.experiment_text import experiment_markdown
from systems.experiments.figures import freeze_figures
from systems.experiments.read import experiment_named
from systems.experiments.tables import experiment_table


class Command(OneLineCommand):
    help = "Print an experiment's figures, which are worked out anew and frozen if what they rest on has changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project")
        parser.add_argument("name", help="the experiment")
        parser.add_argument("--format", choices=["json", "table", "markdown", "html"], default="table")
        parser.add_argument("--out", type=Path, metavar="FILE", help="write to this file")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["slug"])
        result = freeze_figures(experiment=experiment_named(project, options["name"])).result
        text = _rendered(result, project, options["format"])
        if options["out"] is None:
            self.stdout.write(text)
            return
        try:
            options["out"].write_text(text.removesuffix("\n") + "\n", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}.") from error


def _rendered(result: Mapping[str, Any], project: Project, form: str) -> str:
    if form == "json":
        return json.dumps(result, ensure_ascii=False, indent=1, allow_nan=False)
    if form == "markdown":
        return experiment_markdown(result, public_url("experiment", project.slug, result["experiment"]))
    return experiment_html(result, project) if form == "html" else experiment_table(result)
