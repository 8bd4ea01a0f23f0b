"""manage.py create_judge SLUG --file judge.json"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotate.management.base import OneLineCommand, described_in
from annotate.projects.read import project_named
from judges.core.scores_read import current_version
from judges.versions.specs import Made, judge_from_spec


class Command(OneLineCommand):
    help = "Create a judge from a judge.json, or the next version of an existing one (docs/judges.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--file", required=True, type=Path, help="judge.json")

    def handle(self, *args: Any, **options: Any) -> None:
        spec = described_in(options["file"])
        self.stdout.write(_said(judge_from_spec(project=project_named(options["slug"]), spec=spec)))


def _said(made: Made) -> str:
    version = made.version
    judge = version.judge
    if made.is_new_judge:
        return f"Created judge “{judge.name}” ({judge.kind}), version {version.label}, in use."
    if made.is_new_version:
        return f"“{judge.name}” is there already: made its version {version.label}, in use."
    current = current_version(judge)
    if current is not None and current != version:
        return (
            f"That is version {version.label} of “{judge.name}” already, and version {current.label} is in use. Drop "
            "what came later to go back to it."
        )
    return f"That is version {version.label} of “{judge.name}” already, in use. Nothing to make."
