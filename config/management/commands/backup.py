"""manage.py backup FILE"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from annotate.management.base import OneLineCommand
from config.backup.write import write_backup
from judges.models import Endpoint
from judges.models.judge import KeySource


class Command(OneLineCommand):
    help = "Write the database and the stored files into one new file, while people work (docs/operations.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write, such as backup.tar; it must not exist yet")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        manifest, seal = write_backup(file)
        rows = sum(table["rows"] for table in manifest["tables"].values())
        self.stdout.write(
            f"{file}: {file.stat().st_size:,} bytes; rows: {rows:,}; files: {len(manifest['files']):,}; sha256 of the "
            f"content: {seal}"
        )
        if manifest["missing"]:
            self.stderr.write(f"Not in it, because they are no longer stored: {', '.join(manifest['missing'])}")
        self.stdout.write(_NOT_IN_IT.format(secret_key=_secret_key(), stored=_stored(), named=", ".join(_named())))


_NOT_IN_IT = """Not in it; keep these elsewhere:
- SECRET_KEY ({secret_key}): without it authenticator apps are not accepted, only recovery codes,
  and the names of deleted accounts are not recognised.
- JUDGE_SECRET_KEYS, or where that is not set SECRET_KEY: without them the keys that are stored with endpoints
  can't be read, and are entered again (now: {stored}).
- The environment, or the file .env: all other settings, and the keys that endpoints name (now: {named}).
Sessions are not in it either: people log in again."""


def _secret_key() -> str:
    return "in the environment" if os.environ.get("SECRET_KEY", "").strip() else str(settings.DATA_DIR / "secret_key")


def _stored() -> int:
    return Endpoint.objects.filter(key_source=KeySource.STORED).count()


def _named() -> list[str]:
    named = Endpoint.objects.filter(key_source=KeySource.ENVIRONMENT)
    return sorted(set(named.values_list("key_variable", flat=True))) or ["none"]
