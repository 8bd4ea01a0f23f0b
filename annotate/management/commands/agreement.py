"""manage.py agreement SLUG --criterion KEY"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from annotate.core.blindness import SYSTEM
from annotate.core.text_tables import figure, in_words, interval, text_table
from annotate.management.base import OneLineCommand
from annotate.projects.read import criterion_named, project_named
from annotate.verdicts.evidence_read import agreement


class Command(OneLineCommand):
    help = "Inter-annotator agreement on a criterion (docs/statistics.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument("--format", choices=["json", "table"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        found = agreement(criterion_named(project_named(options["slug"]), options["criterion"]), reader=SYSTEM)
        if options["format"] == "json":
            self.stdout.write(json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False))
        else:
            self.stdout.write(as_table(found))


def as_table(found: dict[str, Any]) -> str:
    head = (
        f"{found['criterion']} version {found['version']} ({found['scale']}): {found['ratings']} ratings of "
        f"{found['units']} units by {len(found['raters'])} raters"
    )
    estimates = text_table(
        ["statistic", "value [95% interval]", "n", "clusters", "note"],
        [
            [name, interval(estimate), estimate["n"], estimate["clusters"], in_words(estimate["reason"])]
            for name, estimate in found["estimates"].items()
        ],
    )
    pairs = text_table(
        ["pair", "common units", "kappa [95% interval]", "linear", "quadratic"],
        [
            [
                f"{pair['a']} – {pair['b']}",
                pair["n"],
                interval({"value": pair["kappa"], "low": pair["low"], "high": pair["high"]}),
                figure(pair["linear"]),
                figure(pair["quadratic"]),
            ]
            for pair in found["pairs"]
        ],
    )
    return "\n\n".join([head, estimates, pairs] if found["pairs"] else [head, estimates])
