"""manage.py remind"""

from __future__ import annotations

from typing import Any

from annotate.mail import send_reminders
from annotate.management.base import OneLineCommand


class Command(OneLineCommand):
    help = (
        "Mails everybody who has tasks left in a batch that is due tomorrow. For cron, once a day (docs/settings.md)."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        sent = send_reminders()
        self.stdout.write("One mail sent." if sent == 1 else f"{sent} mails sent.")
