"""manage.py remind"""

from __future__ import annotations

from typing import Any

from annotate.management.base import OneLineCommand
from annotate.tasks.mail import send_reminders


class Command(OneLineCommand):
    help = (
        "Mails everybody who has tasks left in a batch that is due tomorrow. For cron, once a day (docs/settings.md)."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        sent = send_reminders()
        self.stdout.write("One mail sent." if sent == 1 else f"{sent} mails sent.")
