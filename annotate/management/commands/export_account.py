"""manage.py export_account USERNAME FILE"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.core.blindness import SYSTEM
from annotate.management.base import OneLineCommand, private
from annotate.members.personal_data import written
from annotate.models import User


class Command(OneLineCommand):
    help = "Write everything that is held about a person into a new JSON file (docs/personal-data.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("file", type=Path, help="a new file")

    def handle(self, *args: Any, username: str, file: Path, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"Account “{username}” not found.")
        try:
            with open(file, "x", encoding="utf-8", opener=private) as opened:
                opened.writelines(written(user, reader=SYSTEM))
        except OSError as error:
            raise CommandError(f"Cannot write {file}: {error.strerror}.") from None
        self.stdout.write(f"{file}: all data about {username}.")
