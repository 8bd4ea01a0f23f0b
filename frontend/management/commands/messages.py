"""`manage.py messages`: bring the translations' files in step with the code, and show what is not translated yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from frontend.translation.catalogue import LOCALE, compile_catalogues, po_files
from frontend.translation.unmarked import unmarked
from frontend.translation.update import missing_as_json, problems, update_po


class Command(BaseCommand):
    help = (
        "Bring frontend/locale in step with the code. With --missing it changes nothing and prints the messages "
        "without a translation as JSON; fill in each “text” and give the file back with --fill."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--language", default="zh_Hans", help="A folder of frontend/locale (zh_Hans).")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--missing", action="store_true", help="Print what is not translated, as JSON.")
        what.add_argument("--fill", type=Path, metavar="FILE", help="Put in the translations of this JSON file.")
        what.add_argument("--check", action="store_true", help="Print every problem; fail when there is one.")

    def handle(self, *args: Any, **options: Any) -> None:
        path = LOCALE / options["language"] / "LC_MESSAGES" / "django.po"
        if not path.exists():
            raise CommandError(f"{path} not found.")
        if options["missing"]:
            rows = missing_as_json(path)
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1))
        elif options["check"]:
            found = [*unmarked(), *(problem for file in po_files() for problem in problems(file))]
            if found:
                raise CommandError("\n".join(found))
        else:
            given = json.loads(options["fill"].read_text(encoding="utf-8")) if options["fill"] else ()
            change = update_po(path, given)
            compile_catalogues()
            for text in change.removed:
                self.stdout.write(f"no longer in the code: {text}")
            left = len(missing_as_json(path))
            self.stdout.write(f"{change.added} new, {len(change.removed)} gone, {left} not translated.")
