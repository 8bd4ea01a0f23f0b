"""manage.py delete_account USERNAME [--confirm USERNAME]"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import OneLineCommand
from annotate.members.account_deletion import consequences, delete_account, require_deletable
from annotate.models import User


class Command(OneLineCommand):
    help = (
        "Delete an account for good: name, mail, password, second factor, tokens and preferences go, open tasks are "
        "reassigned, and what the person said stays under a pseudonym. Without --confirm it only says what stays."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--confirm", metavar="USERNAME", help="the user name again")

    def handle(self, *args: Any, username: str, confirm: str | None, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"Account “{username}” not found.")
        require_deletable(user)
        left = consequences(user)
        self.stdout.write(
            f"Stay under a pseudonym: {left.labels} labels, {left.decisions} decisions, {left.messages} messages, "
            f"{left.entries} entries of the audit log. Open tasks to reassign: {left.open_tasks}.\n"
            "Stay as they are: released files, reports made before, backups, and the name where the audit log has it "
            "in words (docs/personal-data.md)."
        )
        if confirm is None:
            self.stdout.write(f"Nothing was deleted. This can't be undone: add --confirm {username}.")
            return
        self.stdout.write(f"Deleted. The pseudonym is {delete_account(actor=None, user=user, confirm=confirm)}.")
