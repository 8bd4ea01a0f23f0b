"""manage.py reproduce SLUG NUMBER"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.http import Http404

from annotate.core.blindness import SYSTEM
from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from judges.reports.read import one_report
from judges.reports.reproduction import reproduce

_SHOWN = 20


class Command(OneLineCommand):
    help = "Recompute a frozen report from its stored data and check that every figure is the same."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("number", type=int, help="the report's number")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = one_report(project_named(options["slug"]), options["number"], reader=SYSTEM)
            found = reproduce(report)
        except Http404 as error:
            raise CommandError(str(error)) from error
        if found:
            self.stderr.write("\n".join(found[:_SHOWN]))
            places = "1 place" if len(found) == 1 else f"{len(found)} places"
            raise CommandError(f"Report {report.number} differs in {places} (stored, now).")
        self.stdout.write(f"Report {report.number} on “{report.criterion.key}”: every figure is the same.")
