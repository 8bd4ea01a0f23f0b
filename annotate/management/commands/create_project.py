"""manage.py create_project SLUG --file project.json"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import OneLineCommand, described_in
from annotate.models import User
from annotate.models.project import Role
from annotate.projects.write import create_project


class Command(OneLineCommand):
    help = "Create a project with its criteria from a project.json (docs/formats.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name: a-z, 0-9, - and _")
        parser.add_argument("--file", required=True, type=Path, help="project.json")
        parser.add_argument("--admin", metavar="USERNAME", help="an account that becomes the project's admin")

    def handle(self, *args: Any, **options: Any) -> None:
        spec = described_in(options["file"])
        admin = None
        if options["admin"]:
            admin = User.objects.filter(username=options["admin"], is_active=True).first()
            if admin is None:
                raise CommandError(f"No active account “{options['admin']}”.")
        project = create_project(slug=options["slug"], spec=spec, created_by=admin)
        self.stdout.write(f"Created project {project.slug} with {project.criteria.count()} criteria.")
        if admin is None:
            self.stdout.write(
                f"No members yet. Add one: manage.py add_member {project.slug} USERNAME --role {Role.ADMIN.value}"
            )
