"""manage.py declare_draw SLUG --criterion KEY --how all|random|column|unknown [--population N] [--column KEY]"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotate.batches.declared_draws import declare_draw
from annotate.batches.draws_read import how_labelled
from annotate.management.base import OneLineCommand
from annotate.models.batch import HowDeclared
from annotate.projects.read import criterion_named, people_of, project_named


class Command(OneLineCommand):
    help = "Declare how samples with imported labels were selected (docs/statistics.md, How labels came)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument("--how", required=True, choices=HowDeclared.values)
        parser.add_argument("--population", type=int, metavar="N", help="random: size of the population")
        parser.add_argument("--column", default="", metavar="KEY", help="column: metadata key with the probabilities")
        parser.add_argument("--by", metavar="USERNAME", help="who declares it; certificates name them")

    def handle(
        self,
        *args: Any,
        slug: str,
        criterion: str,
        how: str,
        population: int | None,
        column: str,
        by: str | None,
        **options: Any,
    ) -> None:
        project = project_named(slug)
        asked = criterion_named(project, criterion)
        actor = None if by is None else people_of(project, [by])[0]
        declare_draw(criterion=asked, how=how, population=population, column=column, actor=actor)
        found = how_labelled(asked)
        self.stdout.write(
            f"{asked.key}: {found.known} labelled samples have a known chance, {found.chosen} count in no guarantee."
        )
