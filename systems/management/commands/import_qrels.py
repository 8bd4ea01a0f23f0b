from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import how relevant documents are to the questions of a test set: either all rows, or none."
    kind = "qrels"
    formats = "TREC qrels (also .gz): question 0 document grade"
    has_columns = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--set", required=True, help="the test set, such as support or support@1")
        parser.add_argument(
            "--replace", action="store_true", help="take the place of all judgements imported for the set's questions"
        )

    def import_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"set": options["set"], "replace": options["replace"]}
