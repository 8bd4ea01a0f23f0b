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
        "Closes an account: nobody logs in with it any more, its memberships end, and its open tasks are handed on to "
        "the other annotators of their batches. What was said with it stays and keeps the name."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no account “{username}”.")
        moved = deactivate_account(user=user)
        self.stdout.write(f"{username} is deactivated.")
        for slug, tasks in moved.items():
            self.stdout.write(f"{slug}: membership ended, {tasks} open tasks handed on.")
