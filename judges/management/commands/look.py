"""manage.py look SLUG --criterion KEY --judge NAME"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotate.management.base import OneLineCommand
from annotate.projects.read import criterion_named, project_named
from judges.certificates.decision_read import decision_sentence
from judges.certificates.write import issue_certificate, look_at_test


class Command(OneLineCommand):
    help = "Evaluate a judge on the test set. Every evaluation is counted and widens later intervals."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--dimension", metavar="NAME", help="which measure, if the judge has several")
        parser.add_argument("--certify", action="store_true", help="issue a certificate for this evaluation")

    def handle(self, *args: Any, **options: Any) -> None:
        criterion = criterion_named(project_named(options["slug"]), options["criterion"])
        look = look_at_test(criterion=criterion, judge_name=options["judge"], dimension=options["dimension"])
        certificate = issue_certificate(look=look) if options["certify"] else None
        self.stdout.write(
            f"Test evaluation {look.number} of “{look.judge.name}” on “{criterion.key}”: "
            f"{decision_sentence(look.result['decision'])}"
        )
        if certificate is not None:
            self.stdout.write(f"Certificate {certificate.number}.")
