"""manage.py remind"""

from __future__ import annotations

from typing import Any

from annotate.management.base import OneLineCommand
from annotate.tasks.mail import send_reminders


class Command(OneLineCommand):
    help = "Email all annotators with tasks left in batches due tomorrow. Run daily by cron (docs/settings.md)."

    def handle(self, *args: Any, **options: Any) -> None:
        sent = send_reminders()
        self.stdout.write("1 email sent." if sent == 1 else f"{sent} emails sent.")
