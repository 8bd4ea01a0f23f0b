from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import what a version retrieved for the questions of a test set: either all rows, or none."
    kind = "run"
    formats = "TREC run (also .gz): question Q0 document rank score tag"
    has_columns = False

    def add_target(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="the version of the system; it is made if it isn't there")

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--set", required=True, help="the test set, such as support or support@1")

    def import_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"set": options["set"], "version": options["version"]}
