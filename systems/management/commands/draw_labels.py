"""manage.py draw_labels SLUG NAME --questions N --seed S"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotate.management.base import OneLineCommand
from annotate.projects.read import people_of, project_named
from systems.experiments.draw import draw_labels
from systems.experiments.read import experiment_named


class Command(OneLineCommand):
    help = (
        "Draw questions of an experiment at random, and send the answers of all its versions to them to annotators, in "
        "one batch. Named again, it draws more."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project")
        parser.add_argument("name", help="the experiment")
        parser.add_argument("--questions", required=True, type=int, metavar="N", help="how many more questions")
        parser.add_argument("--seed", required=True, type=int, metavar="S", help="of the order, the same for each draw")
        parser.add_argument(
            "--annotators", nargs="+", metavar="USERNAME", help="who labels; otherwise all active annotators"
        )
        parser.add_argument("--overlap", type=int, metavar="N", help="annotators per answer; 2 where there are so many")
        parser.add_argument("--draft", action="store_true", help="leave the batch as a draft")

    def handle(self, *args: Any, **options: Any) -> None:
        project, named = project_named(options["slug"]), options["annotators"]
        done = draw_labels(
            actor=None,
            experiment=experiment_named(project, options["name"]),
            questions=options["questions"],
            seed=options["seed"],
            annotators=None if named is None else people_of(project, named),
            overlap=options["overlap"],
            opens=not options["draft"],
        )
        self.stdout.write(
            f"Batch {done.batch.number} ({done.batch.status}): {done.samples} answers to {done.questions} of "
            f"{done.population} questions."
        )
