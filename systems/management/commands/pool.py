"""manage.py pool SLUG SET --versions V1 V2 --k 10 --seed S"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.http import Http404

from annotate.management.base import OneLineCommand
from annotate.projects.read import people_of, project_named
from systems.responses.read import version_named
from systems.retrieval.figures_read import DEFAULT_K, frozen_named
from systems.retrieval.pool import pool


class Command(OneLineCommand):
    help = (
        "Pool the documents that versions retrieved for the questions of a test set: one batch, in which people say "
        "which passages are relevant without knowing who retrieved them. Named again, it takes only what is new."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project")
        parser.add_argument("set", help="support@1, or support for its latest number")
        parser.add_argument("--versions", required=True, nargs="+", metavar="VERSION", help="whose documents")
        parser.add_argument("--k", type=int, default=DEFAULT_K, help="the first K documents (default: %(default)s)")
        parser.add_argument("--seed", type=int, metavar="S", help="of the order of passages; drawn if left out")
        parser.add_argument("--batch", default="", metavar="NAME", help="what the batch is called")
        parser.add_argument(
            "--annotators", nargs="+", metavar="USERNAME", help="who labels; otherwise all active annotators"
        )
        parser.add_argument("--overlap", type=int, metavar="N", help="annotators per sample; 2 where there are so many")
        parser.add_argument("--open", action="store_true", help="open the batch at once; otherwise it is a draft")

    def handle(self, *args: Any, **options: Any) -> None:
        project, named = project_named(options["slug"]), options["annotators"]
        try:
            frozen = frozen_named(project, options["set"])
            versions = [version_named(project, name) for name in dict.fromkeys(options["versions"])]
        except Http404 as error:
            raise CommandError(str(error)) from error
        done = pool(
            actor=None,
            frozen=frozen,
            versions=versions,
            k=options["k"],
            seed=options["seed"],
            name=options["batch"],
            annotators=None if named is None else people_of(project, named),
            overlap=options["overlap"],
            opens=options["open"],
        )
        left_out = "".join(
            f" {count} {words}."
            for count, words in (
                (done.known, "passages were pooled or judged before"),
                (done.without_text, "documents have no text in this project and can't be judged"),
                (done.without_ids, "responses have contexts without ids"),
            )
            if count
        )
        self.stdout.write(
            f"Batch {done.batch.number} ({done.batch.status}): {done.passages} passages for {done.questions} questions."
            f"{left_out}"
        )
