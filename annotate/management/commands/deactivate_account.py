"""manage.py deactivate_account USERNAME"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import OneLineCommand
from annotate.members.write import deactivate_account
from annotate.models import User


class Command(OneLineCommand):
    help = (
        "Deactivate an account: it can no longer log in, its memberships end, and its open tasks are reassigned to "
        "the other annotators of their batches. Its labels and its name are kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"Account “{username}” not found.")
        moved = deactivate_account(user=user)
        self.stdout.write(f"{username} deactivated.")
        for slug, tasks in moved.items():
            self.stdout.write(f"{slug}: membership ended, {tasks} open tasks reassigned.")
