"""manage.py restore FILE"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.base import OneLineCommand
from config.backup.restore import restore_backup


class Command(OneLineCommand):
    help = "Fill an empty installation from a file that `backup` wrote: all of it, or nothing (docs/operations.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="what `manage.py backup` wrote")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        manifest = restore_backup(file)
        rows = sum(table["rows"] for table in manifest["tables"].values())
        self.stdout.write(
            f"{file} is restored; rows: {rows:,}; files: {len(manifest['files']):,}. `manage.py rotate_endpoint_keys` "
            "names the endpoints whose stored key can't be read here."
        )
