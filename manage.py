#!/usr/bin/env python
"""Touchstone's command line. Without DATABASE_URL or REDIS_URL it runs the embedded services, for a minute longer
than it needs them, and makes the tables in the embedded database."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, execute_from_command_line
from django.db import OperationalError

from config import embedded, env

# These never touch the database, so they should not wait for it either.
WITHOUT_SERVICES = {"collectstatic", "compilemessages", "findstatic", "help", "makemessages", "messages", "version"}
# These work with whatever tables are there.
WITHOUT_TABLES = {
    "backup", "check", "dbshell", "diffsettings", "inspectdb", "makemigrations", "migrate", "optimizemigration",
    "restore", "showmigrations", "spectacular", "sqlflush", "sqlmigrate", "sqlsequencereset", "squashmigrations",
}  # fmt: skip

# Of these 1 is an answer; what kept them from being asked is another exit code.
NOT_ASKED = {"gate": 2, "gate_systems": 3}


def asks_for_help(arguments: list[str]) -> bool:
    """A `--version` behind the command may be the command's own."""
    return bool({"--help", "-h"} & set(arguments)) or arguments[:1] == ["--version"]


def main(command: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if command in WITHOUT_SERVICES or asks_for_help(sys.argv[1:]):
        execute_from_command_line(sys.argv)
        return
    linger = env.number("EMBEDDED_LINGER_SECONDS", 60, low=0, high=86_400)
    with embedded.ensure_services(linger=linger):
        if command not in WITHOUT_TABLES:
            from config.tables import ensure_tables

            ensure_tables()
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    asked = sys.argv[1] if len(sys.argv) > 1 else "help"
    try:
        main(asked)
    except (CommandError, ImproperlyConfigured, OperationalError, embedded.EmbeddedError) as error:
        print(f"manage.py: {error}", file=sys.stderr)
        sys.exit(NOT_ASKED.get(asked, 1))
