"""manage.py rotate_endpoint_keys"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import OneLineCommand
from judges.endpoints.write import rotate_stored_keys


class Command(OneLineCommand):
    help = "Re-encrypt the stored endpoint keys with the newest of JUDGE_SECRET_KEYS (docs/settings.md)."

    def handle(self, *args: Any, **options: Any) -> None:
        done, unreadable = rotate_stored_keys()
        self.stdout.write(f"Re-encrypted stored keys: {done}.")
        if unreadable:
            names = ", ".join(f"{endpoint.name} of {endpoint.project.slug}" for endpoint in unreadable)
            raise CommandError(f"Can’t be decrypted with any key of this installation. Enter them again: {names}.")
