"""manage.py retention [--dry-run]"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotate.files.retention import old, remove_half_written, remove_old
from annotate.management.base import OneLineCommand


class Command(OneLineCommand):
    help = (
        "Remove what is of no more use: expired sessions, ended invitations, reset links and API tokens, and files "
        "that were uploaded and are no longer kept. The worker does it every hour."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        if not dry_run:
            remove_half_written()
        found = {name: rows.count() for name, rows in old().items()} if dry_run else remove_old()
        for name, number in found.items():
            self.stdout.write(f"{name}: {number}")
