"""What the import commands share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import CommandError, CommandParser

from annotate.files.import_jobs import import_file
from annotate.files.problems import Problem
from annotate.management.base import OneLineCommand
from annotate.models.transfer import ImportStatus
from annotate.projects.read import project_named


class ImportCommand(OneLineCommand):
    """One line on stdout when all is in; else one line per error on stderr, nothing written, exit code 1."""

    kind: ClassVar[str]
    # Of files whose columns have names.
    formats: ClassVar[str] = "JSONL, JSON, CSV (each also .gz) or Parquet"
    has_columns: ClassVar[bool] = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project")
        self.add_target(parser)
        parser.add_argument("file", type=Path, help=self.formats)
        if self.has_columns:
            parser.add_argument(
                "--map",
                action="append",
                default=[],
                metavar="COLUMN=FIELD",
                help="map a column to a field, metadata or ignore; may be repeated",
            )

    def add_target(self, parser: CommandParser) -> None:
        """For commands that name more than the project before the file."""

    def import_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the import, of the command's own."""
        return {}

    def handle(self, *args: Any, slug: str, file: Path, **options: Any) -> None:
        project = project_named(slug)
        if file.is_dir():
            raise CommandError(f"{file} is a folder. Give a file name.")
        if not file.is_file():
            raise CommandError(
                f"{file} is a pipe or a device. Give a file name." if file.exists() else f"File {file} not found."
            )
        job = import_file(
            project=project,
            user=None,
            kind=self.kind,
            path=file,
            mapping=_mapping(options.get("map", [])),
            options=self.import_options(options),
        )
        if job.status != ImportStatus.DONE:
            for problem in job.errors:
                self.stderr.write(_as_line(problem))
            raise CommandError(f"{file}: {job.error_count} error(s). Nothing was imported.")
        counts = ", ".join(f"{name} {value}" for name, value in job.result.items())
        self.stdout.write(f"{file.name}: {counts}")


def _mapping(pairs: list[str]) -> dict[str, str]:
    mapping = {}
    for pair in pairs:
        column, equals, field = pair.rpartition("=")
        if not equals or not column:
            raise CommandError(f"--map {pair}: must be COLUMN=FIELD.")
        mapping[column] = field
    return mapping


def _as_line(problem: Problem) -> str:
    where = [f"{name} {problem[name]}" for name in ("row", "line", "field") if problem[name] is not None]
    excerpt = f" [{problem['excerpt']}]" if problem["excerpt"] else ""
    return f"{', '.join(where) or 'file'}: {problem['code']}: {problem['message']}{excerpt}"
