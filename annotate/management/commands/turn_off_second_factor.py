"""manage.py turn_off_second_factor USERNAME"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import OneLineCommand
from annotate.models import User
from annotate.projects.second_factor import turn_off


class Command(OneLineCommand):
    help = (
        "Turn two-factor authentication of an account off, for its owner who has neither the app nor a recovery code."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"Account “{username}” not found.")
        if not turn_off(user=user, actor=None):
            raise CommandError(f"Two-factor authentication of {username} is not on.")
        self.stdout.write(f"Two-factor authentication of {username} is off.")
