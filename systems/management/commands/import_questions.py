from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import questions into the draft of a test set: either all rows, or none."
    kind = "questions"

    def add_target(self, parser: CommandParser) -> None:
        parser.add_argument("set", help="the test set; it is made if it isn't there")

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--replace", action="store_true", help="questions that the file does not have leave the set's draft"
        )

    def import_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"set": options["set"], "replace": options["replace"]}
