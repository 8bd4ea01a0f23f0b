#!/usr/bin/env python
"""Touchstone's command line. Without DATABASE_URL or REDIS_URL it runs the embedded services while it needs them."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured

from config import embedded

# These never touch the database, so they should not wait for it either.
WITHOUT_SERVICES = {"collectstatic", "compilemessages", "findstatic", "help", "makemessages", "messages", "version"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command in WITHOUT_SERVICES or {"--help", "-h", "--version"} & set(sys.argv[1:]):
        execute_from_command_line(sys.argv)
        return
    try:
        services = embedded.ensure_services()
    except embedded.EmbeddedError as error:
        sys.exit(f"manage.py: {error}")
    with services:
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    try:
        main()
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
