"""manage.py draw_labels SLUG NAME --questions N --seed S"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotate.management.base import OneLineCommand
from annotate.projects.read import people_of, project_named
from systems.experiments.pairs import draw_batch
from systems.experiments.read import experiment_named


class Command(OneLineCommand):
    help = (
        "Draw questions of an experiment at random, and send the answers of all its versions to them to annotators, in "
        "one batch; or, with --beside, pairs of answers, of which they say which is better. Named again, it draws more."
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
        parser.add_argument(
            "--beside", default="", metavar="VERSION", help="ask instead which answer is better, its or the baseline’s"
        )
        parser.add_argument("--both-orders", action="store_true", help="each pair of answers twice, also exchanged")
        parser.add_argument("--single-labels", action="store_true", help="the label of one annotator resolves a unit")
        parser.add_argument("--draft", action="store_true", help="leave the batch as a draft")

    def handle(self, *args: Any, **options: Any) -> None:
        project, named = project_named(options["slug"]), options["annotators"]
        done = draw_batch(
            actor=None,
            experiment=experiment_named(project, options["name"]),
            questions=options["questions"],
            seed=options["seed"],
            annotators=None if named is None else people_of(project, named),
            overlap=options["overlap"],
            single_labels=options["single_labels"],
            opens=not options["draft"],
            beside=options["beside"],
            both_orders=options["both_orders"],
        )
        what = "pairs of answers" if options["beside"] else "answers"
        self.stdout.write(
            f"Batch {done.batch.number} ({done.batch.status}): {done.samples} {what} to {done.questions} of "
            f"{done.population} questions."
        )
