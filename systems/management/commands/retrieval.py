"""manage.py retrieval SLUG --set SET --version V --k 5"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.http import Http404

from annotate.core.blindness import SYSTEM
from annotate.core.text_tables import in_words, interval, text_table
from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from systems.retrieval.figures_read import DEFAULT_K, depth_of, retrieval_of

_CUT = ("P", "R", "Success", "nDCG", "Judged")


class Command(OneLineCommand):
    help = "How well a version retrieves on a frozen test set (docs/statistics.md)."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Ours takes the place of Django's own --version.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--set", required=True, help="support@1, or support for its latest number")
        parser.add_argument("--version", required=True, dest="of", metavar="VERSION")
        parser.add_argument("--k", type=int, default=DEFAULT_K, help="how many documents count (default: %(default)s)")
        parser.add_argument("--rel", type=int, help="the grade from which a document is relevant")
        parser.add_argument("--format", choices=["json", "table"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = retrieval_of(
                project_named(options["slug"]),
                in_set=options["set"],
                version=options["of"],
                depth=depth_of(options["k"], options["rel"]),
                reader=SYSTEM,
            )
        except Http404 as error:
            raise CommandError(str(error)) from error
        if options["format"] == "json":
            self.stdout.write(json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False))
        else:
            self.stdout.write(as_table(found))


def as_table(found: dict[str, Any]) -> str:
    counts = ", ".join(
        f"{found[name]} {words}"
        for name, words in (
            ("undefined", "without a relevant document"),
            ("failed", "failed requests"),
            ("not_asked", "not asked"),
            ("without_ids", "responses whose contexts have no ids"),
            ("contradicted", "judgements contradicted by annotators"),
        )
        if found[name]
    )
    head = f"{found['version']} on {found['set']}: {found['questions']} questions{', ' if counts else ''}{counts}"
    estimates = text_table(
        ["measure", "mean [95% interval]", "questions", "groups", "note"],
        [
            [
                f"{name}@{found['k']}" if name in _CUT else name,
                interval(estimate),
                estimate["n"],
                estimate["clusters"],
                in_words(estimate["reason"]),
            ]
            for name, estimate in found["metrics"].items()
        ],
    )
    return f"{head}\n\n{estimates}"
