"""manage.py align SLUG --criterion KEY"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import OneLineCommand
from annotate.models import Criterion
from annotate.projects.read import criterion_named, project_named
from frontend.reports.file import report_html
from frontend.reports.text_table import judge_table
from judges.reports.evidence import align
from judges.reports.read import Labels
from judges.reports.write import build_report


class Command(OneLineCommand):
    help = "Agreement of each judge with human labels on a criterion (docs/statistics.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument("--judge", metavar="NAME", help="this judge only")
        parser.add_argument(
            "--labels",
            choices=["settled", "all"],
            default="settled",
            help="compare judges with resolved units (the default), or with all labelled units",
        )
        parser.add_argument("--format", choices=["json", "table", "markdown", "html"], default="table")
        parser.add_argument("--out", type=Path, metavar="FILE", help="write to a file instead of the terminal")

    def handle(self, *args: Any, **options: Any) -> None:
        criterion = criterion_named(project_named(options["slug"]), options["criterion"])
        text = _rendered(criterion, options["judge"], options["format"], options["labels"])
        path: Path | None = options["out"]
        if path is None:
            self.stdout.write(text)
            return
        try:
            path.write_text(text.removesuffix("\n") + "\n", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.") from error
        self.stdout.write(f"Wrote {path}.")


def _rendered(criterion: Criterion, judge_name: str | None, form: str, labels: Labels) -> str:
    if form == "html":
        return report_html(build_report(criterion=criterion, judge_name=judge_name, labels=labels))
    found = align(criterion, judge_name, settled_only=labels == "settled")
    if form == "json":
        return json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False)
    return judge_table(found, markdown=form == "markdown")
