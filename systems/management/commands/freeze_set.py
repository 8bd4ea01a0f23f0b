from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.http import Http404

from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from systems.questions.write import freeze_set


class Command(OneLineCommand):
    help = "Freeze the draft of a test set under its next number. Unchanged, it stays what it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project")
        parser.add_argument("set", help="the test set, without a number")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = freeze_set(actor=None, project=project_named(options["slug"]), name=options["set"])
        except Http404 as error:
            raise CommandError(str(error)) from error
        frozen = done.frozen
        what = f"{frozen.manifest['set']}, {frozen.manifest['questions']} questions, SHA-256 {frozen.sha256}"
        self.stdout.write(f"Frozen: {what}." if done.is_new else f"Nothing has changed: still {what}.")
